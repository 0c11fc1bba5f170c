import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { transaction, transactionOn } from '../../src/core/database/pool.ts'
import type { Client } from '../../src/core/database/pool.ts'
import * as users from '../../src/core/database/statements/users.ts'
import { putUsers, unlistUsers, USER_SOURCES } from '../../src/core/database/users.ts'
import type { UserRow } from '../../src/core/database/users.ts'
import { usersToPut } from '../../src/core/sync/commit/users.ts'
import { userTexts } from '../helpers/columns.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'

let database: TestDatabase
let organizationKey: number
beforeAll(async () => void (database = await createTestDatabase()))
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query('truncate collab_store.organizations cascade')
  const { rows } = await database.pool.query(
    `insert into collab_store.organizations (organization_id) values ('acme') returning organization_key`,
  )
  organizationKey = rows[0].organization_key
})

/** Writes users as a commit does, and does `before` while it has the lock. */
function write(client: Client, rows: readonly UserRow[], before = async () => {}) {
  return transactionOn(client, async () => {
    const candidates = new Map(rows.map((row) => [row.userId, row]))
    const found = await usersToPut(client, organizationKey, candidates)
    await before()
    await putUsers(client, organizationKey, found.rows, new Date(), NOWHERE)
    return found
  })
}

/** Begins `second` while `first` is under way; both once `second` waits for a lock. */
async function beside<T>(
  first: (client: Client, whileSecondWaits: () => Promise<void>) => Promise<unknown>,
  second: (client: Client) => Promise<T>,
): Promise<T> {
  const [one, other] = [await database.pool.connect(), await database.pool.connect()]
  try {
    let ended: Promise<T> | undefined
    await first(one, async () => {
      ended = second(other)
      ended.catch(() => {})
      await until('the second one waits for a lock', async () => {
        const { rowCount } = await database.pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rowCount === 1
      })
    })
    return await (ended as Promise<T>)
  } finally {
    one.release()
    other.release()
  }
}

test('a commit with a new user waits for the one that is writing users of the organization, and then finds them written', async () => {
  const found = await beside(
    (client, whileSecondWaits) =>
      transactionOn(client, async () => {
        await users.lock.run(client, { organizationKey })
        await putUsers(client, organizationKey, [user('ann', 1)], new Date(), NOWHERE)
        await whileSecondWaits()
      }),
    (client) => write(client, [user('ann', 1)]),
  )
  expect(found.rows).toEqual([])
  expect([...found.stored.keys()]).toEqual(['ann'])
})

test('commits that write the same users, some of whom leave, never wait for each other in a circle', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `user-${index}`)
  const writer = async (from: number) => {
    const client = await database.pool.connect()
    try {
      for (let round = from; round < 200; round += 4) {
        const rows = ids.filter((_, index) => (index + round) % 3 > 0).map((id) => user(id, round))
        const leaving = ids.filter((_, index) => (index + round) % 5 === 0)
        await write(client, rows, async () => {
          await client.query(
            'update collab_store.users set listed = true where user_id = any($1)',
            [leaving.toReversed()],
          )
          await unlistUsers(client, organizationKey, leaving, new Date())
        })
      }
    } finally {
      client.release()
    }
  }
  await Promise.all([1, 2, 3, 4].map(writer))
})

test('organizations do not wait for each other, and known users need no lock', async () => {
  await transaction(database.pool, (client) =>
    putUsers(client, organizationKey, [user('ann', 1)], new Date(), NOWHERE),
  )
  await transaction(database.pool, async (other) => {
    await users.lock.run(other, { organizationKey })
    await transaction(database.pool, async (client) => {
      await users.lock.run(client, { organizationKey: organizationKey + 1 })
      const known = new Map([['ann', user('ann', 1)]])
      expect((await usersToPut(client, organizationKey, known)).rows).toEqual([])
    })
  })
})

/** A member as a listing of a document shows them. */
function user(userId: string, version: number): UserRow {
  return {
    userId,
    texts: userTexts({ name: `${userId} ${version}` }),
    digest: Buffer.alloc(16, version),
    source: USER_SOURCES.member,
    sourceAt: null,
    listed: false,
  }
}

/** In no run that there is. */
const NOWHERE = { emails: 'keep', runId: '00000000-0000-0000-0000-000000000000' } as const
