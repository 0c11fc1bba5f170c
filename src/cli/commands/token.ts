import { addAccessToken, removeAccessToken, TOKEN_COLUMNS } from '../../http/auth/access-tokens.ts'
import type { Right } from '../../http/auth/access-tokens.ts'
import * as tokens from '../../core/database/statements/tokens.ts'
import { processUser } from '../../base/process-user.ts'
import { note, print, printJson } from '../output.ts'
import { table } from '../table.ts'
import { withTables } from '../with-store.ts'

/** `collab-sync token add NAME --rights R`: prints a new token once. */
export async function tokenAdd(
  name: string,
  { rights, json }: { rights: Right; json?: boolean },
): Promise<number> {
  return withTables({ name: 'token', creates: true }, async ({ database }) => {
    const token = await addAccessToken(database, name, rights, processUser())
    if (json) return printJson({ name, rights, token })
    print(token)
    note(`Token ${name} (${rights}) is valid within one second. It cannot be shown again.`)
  })
}

/** `collab-sync token list`. */
export async function tokenList({ json }: { json?: boolean }): Promise<number> {
  return withTables({ name: 'token' }, async ({ database }) => {
    const read = await tokens.read.all(database)
    const added = read.map(({ name, rights, createdAt, createdBy, lastUsedAt }) => ({
      name,
      rights,
      createdAt,
      createdBy,
      lastUsedAt,
    }))
    if (json) return printJson({ tokens: added })
    if (added.length === 0)
      return print('There are no tokens. Add one with: collab-sync token add NAME --rights RIGHTS')
    print(table(TOKEN_COLUMNS, read))
  })
}

/** `collab-sync token remove NAME`. */
export async function tokenRemove(name: string, { json }: { json?: boolean }): Promise<number> {
  return withTables({ name: 'token' }, async ({ database }) => {
    await removeAccessToken(database, name, processUser())
    if (json) printJson({ name, removed: true })
    else print(`Token ${name} was revoked and stops working within one second.`)
  })
}
