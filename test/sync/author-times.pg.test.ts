import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { userColumns, userTexts } from '../helpers/columns.ts'
import { transaction } from '../../src/core/database/pool.ts'
import { putUsers, readUsers, USER_SOURCES } from '../../src/core/database/users.ts'
import type { UserRow } from '../../src/core/database/users.ts'
import { authorsOf, changes } from '../../src/core/sync/commit/user-rows.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

/** Which comment names its author must not depend on the order in which comments are committed. */

let database: TestDatabase
let organizationKey: number
beforeAll(async () => {
  database = await createTestDatabase()
})
beforeEach(async () => {
  const { rows } = await database.pool.query(
    `insert into collab_store.organizations (organization_id) values (gen_random_uuid()) returning organization_key`,
  )
  organizationKey = rows[0].organization_key
})
afterAll(() => database.drop())

test.each([
  { said: 'in the order of their times', order: ['old', 'between', 'new'] },
  { said: 'the newest before the one between', order: ['old', 'new', 'between'] },
  { said: 'the newest first', order: ['new', 'between', 'old'] },
  { said: 'with the one without a time first', order: ['untimed', 'new', 'between'] },
  { said: 'with the one without a time last', order: ['new', 'between', 'untimed'] },
  { said: 'with one without a time that shows the same', order: ['unchanged', 'new', 'between'] },
] as const)('the newest comment names its author: $said', async ({ order }) => {
  for (const comment of order) await put(comment)
  const stored = await readAnn()
  expect(stored?.name).toBe('Ann')
  expect(stored?.sourceAt).toEqual(new Date(TIMES.new))
})

test('the same answer again writes nothing', async () => {
  await put('old')
  await put('new')
  expect(await put('new')).toBe(0)
  expect(await put('between')).toBe(0)
})

test('a time that is written by itself changes nothing that people see', async () => {
  await put('old')
  const before = await readAnn()
  await put('new')
  expect((await readAnn())?.changedAt).toEqual(before?.changedAt)
})

test('a listing names whom authors have named, and no author after it', async () => {
  await put('old')
  const listed = { ...rowOf('new'), source: USER_SOURCES.listing, sourceAt: null, listed: true }
  const store = (row: UserRow) =>
    transaction(database.pool, (client) =>
      putUsers(client, organizationKey, [row], new Date(), NOWHERE),
    )
  expect(await store(listed)).toBe(1)
  expect(await store({ ...rowOf('between'), sourceAt: '2026-02-01T00:00:00.000Z' })).toBe(0)
  expect((await readAnn())?.name).toBe('Ann')
})

test('of several comments of an author the newest counts, whatever their order', () => {
  const by = (userId: string, name: string, lastUpdated: string | null) => ({
    author: { userId, texts: userTexts({ name }) },
    lastUpdated,
  })
  const sightings = [
    by('ann', 'old', TIMES.old),
    by('ann', 'untimed', null),
    by('ann', 'new', TIMES.new),
    { author: null, lastUpdated: TIMES.new },
    by('bob', 'untimed', null),
    by('ann', 'between', TIMES.between),
  ]
  for (const some of [sightings, sightings.toReversed()])
    expect(
      [...authorsOf(some).values()].map((row) => [userColumns(row).name, row.sourceAt]).sort(),
    ).toEqual([
      ['new', TIMES.new],
      ['untimed', null],
    ])
})

const TIMES = {
  old: '2026-01-01T00:00:00.000Z',
  between: '2026-01-02T00:00:00.000Z',
  new: '2026-01-03T00:00:00.000Z',
  untimed: null,
  unchanged: null,
}
/** The newest comment shows the same as the old one; the one between, and one without a time, show something else. */
const NAMES = { old: 'Ann', between: 'Anna', new: 'Ann', untimed: 'Annie', unchanged: 'Ann' }

/** As a commit does it: what would change nothing is not sent, and the statement holds the same rule. */
async function put(comment: keyof typeof TIMES): Promise<number> {
  const row = rowOf(comment)
  expect(row.source).toBe(USER_SOURCES.author)
  return transaction(database.pool, async (client) => {
    const stored = await readUsers(client, organizationKey, ['ann'])
    const written = await putUsers(client, organizationKey, [row], new Date(), NOWHERE)
    expect(written > 0, 'what is sent is what the statement writes').toBe(
      changes(row, stored.get('ann')),
    )
    return written
  })
}

function rowOf(comment: keyof typeof TIMES): UserRow {
  const author = { userId: 'ann', texts: userTexts({ name: NAMES[comment] }) }
  return authorsOf([{ author, lastUpdated: TIMES[comment] }]).get('ann') as UserRow
}

async function readAnn() {
  const { rows } = await database.pool.query(
    `select name, source_at as "sourceAt", changed_at as "changedAt" from collab_store.users where organization_key = $1`,
    [organizationKey],
  )
  return rows[0] as { name: string; sourceAt: Date; changedAt: Date } | undefined
}

/** In no run that there is. */
const NOWHERE = { emails: 'keep', runId: '00000000-0000-0000-0000-000000000000' } as const
