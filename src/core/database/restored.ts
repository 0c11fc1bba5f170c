import type { Client } from './pool.ts'
import * as refresh from './statements/refresh.ts'
import * as restored from './statements/restored.ts'

/**
 * Resets stored transaction numbers that this server has not reached. Only a dump of a server with higher numbers contains
 * them. Without such rows, it writes nothing and reads a few blocks. Must be a transaction of its own, because the
 * transaction number of an earlier write in it may not be below those of a snapshot either.
 */
export async function resetRestored(client: Client): Promise<void> {
  // Many million restored changes take longer than the limit of a session.
  await client.query('set local statement_timeout = 0')
  // Another starting worker waits, and no worker copies the number of a pass meanwhile.
  await refresh.lockPlanning.run(client)
  for (const statement of Object.values(restored)) await statement.run(client)
}
