import type { Client } from './pool.ts'
import * as locks from './statements/locks.ts'

/**
 * Waits for a lock, and holds it until the caller's transaction ends.
 * @param name `catalog`: change the catalog; `hints`: create a run for a hint; `refresh`: plan continuous refresh; `users`:
 *   write users of an organization
 * @param organizationKey for `users`
 */
export async function lock(
  client: Client,
  ...[name, organizationKey = 0]: ['catalog' | 'hints' | 'refresh'] | ['users', number]
): Promise<void> {
  await locks.take.run(client, { name, organizationKey })
}
