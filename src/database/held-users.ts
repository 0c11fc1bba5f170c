import type { Database } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as pages from './statements/pages.ts'

/** Users of a held listing, some of them by name. */
export interface HeldUsers {
  /** Whom the answer lacked; they leave when it is accepted. */
  readonly missing: SomeUsers
  /** Who was in the answer too. */
  readonly staying: SomeUsers
}

export interface SomeUsers {
  readonly inAll: number
  readonly first: readonly { readonly userId: string; readonly name: string | null }[]
}

/**
 * Who is in held listings now.
 * @param limit users named, of those missing and of those staying
 * @returns by held id
 */
export async function readHeldUsers(
  database: Database,
  heldIds: readonly number[],
  limit: number,
): Promise<Map<number, HeldUsers>> {
  const rows = await pages.heldUsers.all(database, { heldIds, limit })
  return new Map(
    heldIds.map((heldId) => {
      const ofListing = rows.filter((row) => row.heldId === heldId)
      return [
        heldId,
        {
          missing: someUsers(ofListing.filter((row) => row.isMissing)),
          staying: someUsers(ofListing.filter((row) => !row.isMissing)),
        },
      ]
    }),
  )
}

function someUsers(rows: readonly RowOf<typeof pages.heldUsers>[]): SomeUsers {
  return {
    inAll: rows[0]?.inAll ?? 0,
    first: rows.map(({ userId, name }) => ({ userId, name })),
  }
}
