import type { WaitingListing } from './held-pages.ts'
import type { Database } from './pool.ts'
import { inCamelCase } from './run-reports.ts'
import { sql } from './sql.ts'

/** How much waits for a person; never more than the most that was asked for. */
export interface Waiting {
  readonly held: number
  /** Rejected records that were not stored after all. */
  readonly rejected: number
}

/** A held listing, without its users. */
export type HeldSummary = Omit<WaitingListing, 'at' | 'firstMissingUserIds' | 'repeats'>

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

/** @param max counts no further, so that it costs no long scan */
export async function countWaiting(database: Database, max: number): Promise<Waiting> {
  const { rows } = await database.query<Waiting>(sql('pages/waiting'), [max])
  return rows[0] as Waiting
}

/** @returns null where nothing of that id waits any more */
export async function readHeldSummary(
  database: Database,
  heldId: number,
): Promise<HeldSummary | null> {
  const { rows } = await database.query(sql('pages/held'), [heldId])
  const row = rows[0]
  if (row === undefined) return null
  return inCamelCase<HeldSummary>(row)
}

/**
 * Who is in held listings now.
 * @param maxOfEach users told by name, of those missing and of those staying
 * @returns by held id
 */
export async function readHeldUsers(
  database: Database,
  heldIds: readonly number[],
  maxOfEach: number,
): Promise<Map<number, HeldUsers>> {
  const { rows } = await database.query(sql('pages/held-users'), [heldIds, maxOfEach])
  return new Map(
    heldIds.map((heldId) => {
      const ofListing = rows.filter((row) => row.held_id === heldId)
      return [
        heldId,
        {
          missing: someUsers(ofListing.filter((row) => row.is_missing)),
          staying: someUsers(ofListing.filter((row) => !row.is_missing)),
        },
      ]
    }),
  )
}

function someUsers(rows: readonly { user_id: string; name: string | null; in_all: number }[]) {
  return {
    inAll: rows[0]?.in_all ?? 0,
    first: rows.map((row) => ({ userId: row.user_id, name: row.name })),
  }
}
