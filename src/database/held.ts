import type { Client, Database } from './pool.ts'
import type { ScopeKind } from './scopes.ts'
import type { RowOf } from './statement.ts'
import * as held from './statements/held.ts'

/** A listing that waits for a person, as a report tells of it: with the first few users that it lacked. */
export type HeldReport = Omit<RowOf<typeof held.open>, 'listings'>

/**
 * Listings that wait for a person, the oldest first.
 * @param runId those that this run last saw; null for all
 * @returns up to `limit` of them, and how many there are
 */
export async function readHeld(
  database: Database,
  runId: string | null,
  limit: number,
): Promise<{ listings: number; first: HeldReport[] }> {
  const rows = await held.open.all(database, { runId, limit })
  let listings = 0
  const first = rows.map(({ listings: inAll, ...listing }) => {
    listings = inAll
    return listing
  })
  return { listings, first }
}

/** Closes what is held of listings of one kind. */
export async function resolveHeld(
  client: Client,
  kind: ScopeKind,
  scopeKeys: readonly number[],
  resolution: 'accepted' | 'repeated' | 'recovered',
): Promise<void> {
  if (scopeKeys.length > 0) await held.resolve.run(client, { kind, scopeKeys, resolution })
}
