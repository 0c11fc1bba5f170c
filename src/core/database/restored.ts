import { lock } from './locks.ts'
import type { Client } from './pool.ts'
import * as restored from './statements/restored.ts'

/**
 * Resets stored transaction numbers that this server has not reached, which only a restored dump contains. If there are
 * none, nothing is written. Call it before any other write of the transaction: rows that the transaction itself has
 * written may have such a number too.
 */
export async function resetRestored(client: Client): Promise<void> {
  // Many million restored changes take longer than the limit of a session.
  await client.query('set local statement_timeout = 0')
  // Another starting worker waits, and no worker copies the number of a pass meanwhile.
  await lock(client, 'refresh')
  await restored.reset.run(client)
}
