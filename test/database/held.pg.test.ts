import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { transaction } from '../../src/core/database/pool.ts'
import * as held from '../../src/core/database/statements/held.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { addBatch, addRun } from './run-rows.ts'

const database = await createTestDatabase()
const batchKey: number = await addBatch(database.pool)
await database.pool.query(
  `insert into collab_store.listings (batch_key, scope_no, operation, kind, scope_key)
  select batch_key, n, 'users', 'document', n from collab_store.batches cross join generate_series(1, 4) n`,
)
beforeEach(async () => void (await database.pool.query('delete from sync.held')))

/** Notes that a listing came back with too few of its users. @returns how often the answer was repeated */
async function note(
  runId: string,
  answer: string,
  { isScheduled = true, scopeKey = 1, missingUserIds = ['u1', 'u2'] } = {},
): Promise<number | null | undefined> {
  const row = await held.note.first(database.pool, {
    runId,
    isScheduled,
    batchKey,
    operation: 'users',
    kind: 'document',
    scopeKey,
    organizationId: 'o',
    documentId: `d${scopeKey}`,
    userGroupId: null,
    contentDigest: Buffer.from(answer),
    usersBefore: 4,
    missingUserIds,
    isLoss: true,
    usersReturned: 2,
  })
  return row?.repeats
}

async function onlyRow() {
  const rows = await database.rows('select * from sync.held')
  expect(rows).toHaveLength(1)
  return rows[0]
}

const newRun = () => addRun(database.pool)

const resolve = (scopeKey: number, resolution: string, kind = 'document') =>
  held.resolve.run(database.pool, {
    operation: 'users',
    kinds: [kind],
    scopeKeys: [scopeKey],
    resolutions: [resolution],
  })

const ALL = { after: null, mostOfOrganization: null, limit: null }

describe('a listing that is held', () => {
  test('is repeated by the same answer in a later scheduled run, once a run', async () => {
    const [first, second, third] = [await newRun(), await newRun(), await newRun()]
    expect(await note(first, 'short')).toBe(0)
    expect(await note(first, 'short')).toBe(0)
    expect(await note(second, 'short')).toBe(1)
    expect(await note(second, 'short')).toBe(1)
    expect(await note(third, 'short')).toBe(2)
  })

  test('is not repeated by a run that a person began, which still has seen it last', async () => {
    const [first, second] = [await newRun(), await newRun()]
    await note(first, 'short')
    expect(await note(second, 'short', { isScheduled: false })).toBe(0)
    expect((await onlyRow()).run_id).toBe(second)
  })

  test('starts anew with another answer, and with that answer’s time and users', async () => {
    const [first, second, third] = [await newRun(), await newRun(), await newRun()]
    await note(first, 'short')
    await note(second, 'short')
    const before = await onlyRow()
    expect(await note(third, 'shorter', { missingUserIds: ['u1', 'u2', 'u3'] })).toBe(0)
    const after = await onlyRow()
    expect(after).toMatchObject({ repeats: 0, missing_user_ids: ['u1', 'u2', 'u3'], run_id: third })
    expect(after.at.getTime()).toBeGreaterThan(before.at.getTime())
    expect(after.content_digest.toString()).toBe('shorter')
  })

  test('keeps the time at which its answer was first seen', async () => {
    await note(await newRun(), 'short')
    const { at } = await onlyRow()
    await note(await newRun(), 'short')
    expect((await onlyRow()).at).toEqual(at)
  })

  test('is held apart from other listings, and again after it was resolved', async () => {
    const runId = await newRun()
    await note(runId, 'short')
    expect(await note(await newRun(), 'short', { scopeKey: 2 })).toBe(0)
    expect(await resolve(1, 'recovered')).toBe(1)
    expect(await resolve(1, 'accepted')).toBe(0)
    expect(await resolve(1, 'recovered', 'group')).toBe(0)
    expect(await note(await newRun(), 'short')).toBe(0)
    const rows = await database.rows('select scope_key, resolution from sync.held order by held_id')
    expect(rows).toEqual([
      { scope_key: 1, resolution: 'recovered' },
      { scope_key: 2, resolution: null },
      { scope_key: 1, resolution: null },
    ])
  })

  test('is counted and listed while it waits, the first one first, page by page', async () => {
    const [runId, other] = [await newRun(), await newRun()]
    for (const scopeKey of [1, 2, 3]) await note(runId, 'short', { scopeKey })
    await note(other, 'short', { scopeKey: 4 })
    await resolve(2, 'recovered')
    const every = { heldId: null, organizationId: null, isRefused: false }
    const count = (of: string | null) => held.count.one(database.pool, { ...every, runId: of })
    expect(await count(runId)).toEqual({ listings: 2, people: 2 })
    expect(await count(null)).toEqual({ listings: 3, people: 2 })
    const list = (of: string | null, after: number | null, limit: number) =>
      held.list.all(database.pool, { ...every, runId: of, after, limit, mostUsers: 1 })
    const all = await list(null, null, 10)
    expect(all.map(({ documentId }) => documentId)).toEqual(['d1', 'd3', 'd4'])
    expect(all[0]).toMatchObject({ usersMissing: 2, firstMissingUserIds: ['u1'], usersBefore: 4 })
    const [first] = await list(runId, null, 1)
    const next = await list(runId, first?.heldId ?? null, 10)
    expect(next.map(({ documentId }) => documentId)).toEqual(['d3'])
    const places = (organizationId: string) =>
      held.byOrganization.all(database.pool, { ...ALL, heldId: null, runId, organizationId })
    expect(await places('o')).toHaveLength(2)
    expect(await places('p')).toEqual([])
    const setActive = (active: boolean) =>
      database.pool.query(`update collab_store.listings set active = $1 where scope_key = 3`, [
        active,
      ])
    await setActive(false)
    expect((await list(null, null, 10)).map(({ documentId }) => documentId)).toEqual(['d1', 'd4'])
    expect(await count(runId)).toEqual({ listings: 1, people: 2 })
    expect(await places('o')).toHaveLength(1)
    await setActive(true)
  })
})

describe('a held listing that is taken to be resolved', () => {
  test('is there while it waits with the answer that its run saw, and not after', async () => {
    const [first, second] = [await newRun(), await newRun()]
    await note(first, 'short')
    const { held_id: heldId } = await onlyRow()
    const take = (runId: string) => held.take.first(database.pool, { heldId, runId })
    expect(await take(first)).toMatchObject({ kind: 'document', scopeKey: 1 })
    await note(second, 'shorter')
    expect(await take(first)).toBeUndefined()
    const place = () =>
      held.byOrganization.first(database.pool, {
        ...ALL,
        heldId,
        runId: null,
        organizationId: null,
      })
    expect(await place()).toMatchObject({ runId: second })
    await resolve(1, 'repeated')
    expect(await take(second)).toBeUndefined()
    expect(await place()).toBeUndefined()
  })

  test('is nobody else’s until the transaction ends', async () => {
    const runId = await newRun()
    await note(runId, 'short')
    const { held_id: heldId } = await onlyRow()
    const other = new pg.Client(database.url)
    await other.connect()
    await transaction(database.pool, async (client) => {
      await held.take.first(client, { heldId, runId })
      const locked = other.query('select from sync.held where held_id = $1 for update nowait', [
        heldId,
      ])
      await expect(locked).rejects.toMatchObject({ code: '55P03' })
    })
    await other.end()
  })
})
