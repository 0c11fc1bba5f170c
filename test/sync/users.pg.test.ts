import { beforeEach, expect, test } from 'vitest'
import { lock } from '../../src/core/database/locks.ts'
import { transaction, transactionOn } from '../../src/core/database/pool.ts'
import type { Client } from '../../src/core/database/pool.ts'
import { putUsers, readUsers, unlistUsers, USER_SOURCES } from '../../src/core/database/users.ts'
import type { UserRow } from '../../src/core/database/users.ts'
import { peopleOf, changes } from '../../src/core/sync/commit/user-rows.ts'
import { usersToPut } from '../../src/core/sync/commit/users.ts'
import { userColumns, userTexts } from '../helpers/columns.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'

/** The users that commits write: in any order of the commits, and many commits at once. */

let organizationKey: number
const database = await createTestDatabase()
beforeEach(async () => {
  const { rows } = await database.pool.query(
    `insert into collab_store.organizations (organization_id) values (gen_random_uuid()) returning organization_key`,
  )
  organizationKey = rows[0].organization_key
})

/** Of no run in the database. */
const NO_RUN = { emails: 'keep', runId: '00000000-0000-0000-0000-000000000000' } as const
const put = (client: Client, rows: readonly UserRow[]) =>
  putUsers(client, organizationKey, rows, new Date(), NO_RUN)

const TIMES = {
  old: '2026-01-01T00:00:00.000Z',
  between: '2026-01-02T00:00:00.000Z',
  new: '2026-01-03T00:00:00.000Z',
  untimed: null,
  unchanged: null,
}
/** The newest comment shows the same as the old one; the one between, and one without a time, show something else. */
const NAMES = { old: 'Ann', between: 'Anna', new: 'Ann', untimed: 'Annie', unchanged: 'Ann' }
type Sighting = keyof typeof TIMES

const sighting = (name: Sighting, userId = 'ann') => ({
  people: [{ userId, texts: userTexts({ name: NAMES[name] }) }],
  lastUpdated: TIMES[name],
})
const author = (name: Sighting) => peopleOf([sighting(name)]).get('ann') as UserRow

/** Writes the author as a commit does. A row that would change nothing is not sent, and the statement has the same rule. */
function putAuthor(name: Sighting): Promise<number> {
  return transaction(database.pool, async (client) => {
    const stored = await readUsers(client, organizationKey, ['ann'])
    const written = await put(client, [author(name)])
    expect(written > 0, 'the rule of the statement').toBe(changes(author(name), stored.get('ann')))
    return written
  })
}

async function readAnn() {
  const { rows } = await database.pool.query(
    `select name, source_at as "sourceAt", changed_at as "changedAt" from collab_store.users where organization_key = $1`,
    [organizationKey],
  )
  return rows[0] as { name: string; sourceAt: Date; changedAt: Date }
}

test.each<Sighting[][]>([
  [['old', 'between', 'new']],
  [['old', 'new', 'between']],
  [['new', 'between', 'old']],
  [['untimed', 'new', 'between']],
  [['new', 'between', 'untimed']],
  [['unchanged', 'new', 'between']],
])('the newest comment names its author, in the order %j', async (order) => {
  for (const each of order) await putAuthor(each)
  expect(await readAnn()).toMatchObject({ name: 'Ann', sourceAt: new Date(TIMES.new) })
  expect([await putAuthor('new'), await putAuthor('between')]).toEqual([0, 0])
})

test('of several comments in one commit too', () => {
  const sightings = [
    ...(['old', 'untimed', 'new', 'between'] as const).map((name) => sighting(name)),
    { people: [], lastUpdated: TIMES.new },
    sighting('untimed', 'bob'),
  ]
  for (const some of [sightings, sightings.toReversed()])
    expect(
      [...peopleOf(some).values()].map((row) => [userColumns(row).name, row.sourceAt]).sort(),
    ).toEqual([
      ['Ann', TIMES.new],
      ['Annie', null],
    ])
})

test('a newer time by itself changes nothing that people see, and no author changes who is listed', async () => {
  await putAuthor('old')
  const { changedAt } = await readAnn()
  await putAuthor('new')
  expect((await readAnn()).changedAt).toEqual(changedAt)
  const listed = { ...author('new'), source: USER_SOURCES.listing, sourceAt: null, listed: true }
  const later = { ...author('between'), sourceAt: '2026-02-01T00:00:00.000Z' }
  for (const [row, written] of [
    [listed, 1],
    [later, 0],
  ] as const)
    expect(await transaction(database.pool, (client) => put(client, [row]))).toBe(written)
  expect((await readAnn()).name).toBe('Ann')
})

/** A user as a listing of a document shows them. */
function member(userId: string, version: number): UserRow {
  return {
    userId,
    texts: userTexts({ name: `${userId} ${version}` }),
    digest: Buffer.alloc(16, version),
    source: USER_SOURCES.member,
    sourceAt: null,
    listed: false,
  }
}

/** Writes users as a commit does, and calls `before` while it has the lock. */
function write(client: Client, rows: readonly UserRow[], before = async () => {}) {
  return transactionOn(client, async () => {
    const candidates = new Map(rows.map((row) => [row.userId, row]))
    const found = await usersToPut(client, organizationKey, candidates)
    await before()
    await put(client, found.rows)
    return found
  })
}

test('a commit with a new user waits for the one that writes users of the organization, and then finds them written', async () => {
  const [one, other] = [await database.pool.connect(), await database.pool.connect()]
  try {
    let second: ReturnType<typeof write> | undefined
    await transactionOn(one, async () => {
      await lock(one, 'users', organizationKey)
      await put(one, [member('ann', 1)])
      second = write(other, [member('ann', 1)])
      await until('the second one waits for a lock', async () => {
        const { rowCount } = await database.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rowCount === 1
      })
    })
    const found = await second
    expect(found?.rows).toEqual([])
    expect([...(found?.stored.keys() ?? [])]).toEqual(['ann'])
  } finally {
    one.release()
    other.release()
  }
})

test('commits that write the same users, some of whom leave, never wait for each other in a circle', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `user-${index}`)
  const writer = async (from: number) => {
    const client = await database.pool.connect()
    try {
      for (let round = from; round < 200; round += 4) {
        const rows = ids.filter((_, index) => (index + round) % 3 > 0)
        const leaving = ids.filter((_, index) => (index + round) % 5 === 0)
        await write(
          client,
          rows.map((id) => member(id, round)),
          async () => {
            await client.query(
              'update collab_store.users set listed = true where user_id = any($1)',
              [leaving.toReversed()],
            )
            await unlistUsers(client, organizationKey, leaving, new Date())
          },
        )
      }
    } finally {
      client.release()
    }
  }
  await Promise.all([1, 2, 3, 4].map(writer))
})

test('organizations do not wait for each other, and known users need no lock', async () => {
  await transaction(database.pool, (client) => put(client, [member('ann', 1)]))
  await transaction(database.pool, async (other) => {
    await lock(other, 'users', organizationKey)
    await transaction(database.pool, async (client) => {
      await lock(client, 'users', organizationKey + 1)
      const known = new Map([['ann', member('ann', 1)]])
      expect((await usersToPut(client, organizationKey, known)).rows).toEqual([])
    })
  })
})
