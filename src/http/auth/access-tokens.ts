import { createHash, randomBytes } from 'node:crypto'
import { UsageError } from '../../base/errors.ts'
import { noteAction } from '../../core/database/actions.ts'
import { transaction } from '../../core/database/pool.ts'
import type { Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as tokens from '../../core/database/statements/tokens.ts'
import type { Columns } from '../../schemas/columns.ts'

/** The rights of a token. Each includes those before it. */
export const RIGHTS = ['read', 'operate', 'admin'] as const
export type Right = (typeof RIGHTS)[number]

/** A stored token, by its hash. */
export type AccessToken = RowOf<typeof tokens.read>

export const TOKEN_COLUMNS: Columns<AccessToken> = [
  ['name', ({ name }) => name, 'id'],
  ['rights', ({ rights }) => rights],
  ['added', ({ createdAt }) => createdAt, 'nowrap'],
  ['added by', ({ createdBy }) => createdBy, 'id'],
  ['last used (hour)', ({ lastUsedAt }) => lastUsedAt ?? 'never', 'nowrap'],
]

/** The prefix of every token, which secret scanners recognize. */
export const TOKEN_PREFIX = 'collab_sync_'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/**
 * Adds a token of 256 random bits.
 * @returns the token; only its hash is stored
 * @throws UsageError for an invalid name, or one that is in use
 */
export async function addAccessToken(
  database: Database,
  name: string,
  rights: Right,
  by: string,
): Promise<string> {
  if (!NAME.test(name))
    throw new UsageError(
      `The name of a token must be 1 to 64 letters, digits and . _ -, and begin with a letter or digit, not ${JSON.stringify(name)}.`,
    )
  const token = `${TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`
  await transaction(database, async (client) => {
    if ((await tokens.add.run(client, { name, rights, hash: hashOf(token), by })) === 0)
      throw new UsageError(
        `The token ${name} exists already: remove it first, or choose another name.`,
      )
    await noteAction(client, by, 'token_added', { target: `${name} (${rights})` })
  })
  return token
}

/** Revokes a token and the sessions that began with it. @throws UsageError if there is none of that name */
export async function removeAccessToken(
  database: Database,
  name: string,
  by: string,
): Promise<void> {
  await transaction(database, async (client) => {
    if ((await tokens.remove.run(client, { name })) === 0)
      throw new UsageError(`There is no token ${JSON.stringify(name)}.`)
    await noteAction(client, by, 'token_removed', { target: name })
  })
}

/** SHA-256. A slow hash has no benefit for 256 random bits. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
