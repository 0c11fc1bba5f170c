import { readUsers } from '../database/users.ts'
import type { StoredUser, UserRow } from '../database/users.ts'
import type { Client } from '../database/pool.ts'
import * as users from '../database/statements/users.ts'
import type { Committing } from './committing.ts'
import { rowsToPut } from './user-rows.ts'
import type { UserCandidates } from './user-rows.ts'

/** Another transaction writes users of the organization: nothing is written yet, and the commit is tried again soon. */
export class OrganizationBusyError extends Error {
  override name = 'OrganizationBusyError'
}

/** What is stored of the candidates, and those of them to write. */
export interface UsersToPut {
  readonly stored: ReadonlyMap<string, StoredUser>
  readonly rows: readonly UserRow[]
}

/**
 * Finds the users to write. Workers that load an organization for the first time all meet the same new users: they
 * write them one after the other. Once everybody is known there is nothing to take turns for.
 * @throws OrganizationBusyError where it is another's turn, and the commit yields
 */
export async function usersToPut(
  client: Client,
  committing: Committing,
  organizationKey: number,
  candidates: UserCandidates,
): Promise<UsersToPut> {
  const userIds = [...candidates.keys()]
  const stored = await readUsers(client, organizationKey, userIds)
  const rows = rowsToPut(candidates, stored)
  if (rows.length === 0 || committing.yields !== true) return { stored, rows }
  const { taken } = await users.takeTurn.one(client, { organizationKey })
  if (!taken) throw new OrganizationBusyError()
  // Whoever had the turn before may have written some of them.
  const nowStored = await readUsers(client, organizationKey, userIds)
  return { stored: nowStored, rows: rowsToPut(candidates, nowStored) }
}
