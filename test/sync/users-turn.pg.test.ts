import { afterAll, beforeAll, expect, test } from 'vitest'
import { userTexts } from '../helpers/columns.ts'
import { noCounts } from '../../src/documents/counts.ts'
import { transaction } from '../../src/database/pool.ts'
import * as users from '../../src/database/statements/users.ts'
import { putUsers, USER_SOURCES } from '../../src/database/users.ts'
import type { UserRow } from '../../src/database/users.ts'
import { RulesKeeper } from '../../src/privacy/rules.ts'
import type { Rules } from '../../src/privacy/rules.ts'
import { OrganizationBusyError, usersToPut } from '../../src/sync/commit/users.ts'
import type { Committing } from '../../src/sync/context.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

let database: TestDatabase
let organizationKey: number
let rules: Rules
beforeAll(async () => {
  database = await createTestDatabase()
  const { rows } = await database.pool.query(
    `insert into collab_store.organizations (organization_id) values ('acme') returning organization_key`,
  )
  organizationKey = rows[0].organization_key
  rules = await new RulesKeeper(database.pool, { email: 'keep', raw: 'keep' }).now()
})
afterAll(() => database.drop())

test('a commit with a new user yields to the one that is writing users of the organization, and then finds them written', async () => {
  const candidates = new Map([['ann', ANN]])
  const find = (yields: boolean) =>
    transaction(database.pool, (client) =>
      usersToPut(client, committing(yields), organizationKey, candidates),
    )
  await transaction(database.pool, async (other) => {
    expect(await users.takeTurn.one(other, { organizationKey })).toEqual({ taken: true })
    await putUsers(other, organizationKey, [ANN], new Date(), NOWHERE)
    await expect(find(true)).rejects.toThrow(OrganizationBusyError)
    expect((await find(false)).rows).toEqual([ANN])
  })
  const found = await find(true)
  expect(found.rows).toEqual([])
  expect([...found.stored.keys()]).toEqual(['ann'])
})

test('organizations do not wait for each other, and known users need no turn', async () => {
  await transaction(database.pool, async (other) => {
    expect(await users.takeTurn.one(other, { organizationKey })).toEqual({ taken: true })
    await transaction(database.pool, async (client) => {
      const another = { organizationKey: organizationKey + 1 }
      expect(await users.takeTurn.one(client, another)).toEqual({ taken: true })
      const known = new Map([['ann', ANN]])
      expect((await usersToPut(client, committing(true), organizationKey, known)).rows).toEqual([])
    })
  })
})

const ANN: UserRow = {
  userId: 'ann',
  texts: userTexts({ name: 'Ann' }),
  digest: Buffer.alloc(16, 1),
  source: USER_SOURCES.author,
  sourceAt: '2026-01-02T03:04:05.678Z',
  listed: false,
}

function committing(yields: boolean): Committing {
  const claim = {
    runId: '',
    claimNo: 1,
    batchXmin: null,
    claimedAt: new Date(),
    at: new Date(),
    rules,
    trigger: 'cli' as const,
    onlyScopes: null,
  }
  const where = { batchKey: 1, operation: 'comments' } as const
  return {
    claim,
    ...where,
    shrinkLimit: 1,
    heldAcceptAfter: null,
    counts: noCounts(),
    yields,
  }
}

/** In no run that there is. */
const NOWHERE = { emails: 'keep', runId: '00000000-0000-0000-0000-000000000000' } as const
