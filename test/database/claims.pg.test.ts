import { describe, expect, test } from 'vitest'
import { noCounts } from '../../src/schemas/counts.ts'
import type { Counts } from '../../src/schemas/counts.ts'
import { claimItem, commitItem } from '../../src/core/database/claims.ts'
import type { Claim } from '../../src/core/database/claims.ts'
import * as items from '../../src/core/database/statements/items.ts'
import * as scopes from '../../src/core/database/statements/scopes.ts'
import * as workers from '../../src/core/database/statements/workers.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { addBatch, addItem, addRun, addWorker, rowsOf } from './run-rows.ts'

const database = await createTestDatabase()

async function newItem(columns: Record<string, unknown> = {}, run: Record<string, unknown> = {}) {
  const batchKey = await addBatch(database.pool)
  const runId = await addRun(database.pool, run)
  const itemId = await addItem(database.pool, runId, { batch_key: batchKey, ...columns })
  return { batchKey, runId, itemId }
}

const claimed = async (ids: { runId: string; itemId: number }, isAgain = false) =>
  (await claimItem(database.pool, ids, 'w1', isAgain)) as Claim

function commit(claim: Claim, isEnd: boolean, counts: Partial<Counts> = {}, doneScopes = '1000') {
  const all = { ...noCounts(), ...counts }
  return commitItem(database.pool, { claim, doneScopes, isEnd, counts: all })
}

async function rowOf(table: string, key: string, value: unknown) {
  const { rows } = await database.pool.query(`select * from ${table} where ${key} = $1`, [value])
  return rows[0]
}

const itemOf = ({ itemId }: { itemId: number }) => rowOf('sync.run_items', 'item_id', itemId)

/** The heartbeat of a worker that does nothing. */
const BEAT = {
  callsInFlight: 0,
  mostCallsInFlight: 8,
  callMs: null,
  problem: null,
  rateLimit: null,
  waiting: null,
  settings: null,
  kind: 'worker',
  version: null,
  configuration: null,
}

describe('a claim', () => {
  test('counts its attempts, unless the same worker takes the item up again', async () => {
    const ids = await newItem()
    expect((await claimed(ids)).attempts).toBe(1)
    expect((await claimed(ids, true)).attempts).toBe(1)
    expect((await claimed(ids)).attempts).toBe(2)
  })

  test('is dated by the first of them, is numbered above all before, and names its worker', async () => {
    const ids = await newItem()
    const first = await claimed(ids)
    // Times are compared in milliseconds.
    await until('the server is in another millisecond', async () => {
      const { rows } = await database.pool.query('select clock_timestamp() as now')
      return rows[0].now > first.at
    })
    const second = (await claimItem(database.pool, ids, 'w2')) as Claim
    expect(second.claimedAt).toEqual(first.claimedAt)
    expect(second.at.getTime()).toBeGreaterThan(first.at.getTime())
    expect(Number(second.claimNo)).toBeGreaterThan(Number(first.claimNo))
    expect(await itemOf(ids)).toMatchObject({ worker_id: 'w2' })
  })

  test('of an item that is done, or is another run’s, is none', async () => {
    const done = await newItem({ state: 'done' })
    expect(await claimItem(database.pool, done, 'w1')).toBeNull()
    const { itemId } = await newItem()
    expect(await claimItem(database.pool, { runId: done.runId, itemId }, 'w1')).toBeNull()
  })

  test('tells the batch’s operation and the state of its row, the last erasure and whether the run is to end', async () => {
    await database.pool.query(
      `insert into sync.erasures (erasure_id, pseudonym, reason, erased_by) overriding system value
       values (7, 'p', 'r', 'b'), (9, 'p', 'r', 'b')`,
    )
    const ids = await newItem({ only_scopes: '0110' }, { stopping: 'cancelled' })
    const { rows } = await database.pool.query(
      'select xmin::text from collab_store.batches where batch_key = $1',
      [ids.batchKey],
    )
    expect(await claimed(ids)).toMatchObject({
      operation: 'users',
      batchXmin: rows[0].xmin,
      lastErasure: 9,
      stopping: 'cancelled',
      runStatus: 'running',
      onlyScopes: '0110',
      doneScopes: null,
    })
  })
})

describe('a batch that another run has checked', () => {
  test('is checked for a run that was requested before, and not by a clock that was set back since', async () => {
    const ids = await newItem()
    const found: boolean[] = []
    for (const hours of [-1, 0, 1]) {
      await database.pool.query(
        `update collab_store.batches set checked_at = now() + $2 * interval '1 hour' where batch_key = $1`,
        [ids.batchKey, hours],
      )
      found.push((await claimed(ids)).isChecked)
    }
    expect(found).toEqual([false, true, false])
  })
})

describe('a commit', () => {
  test('keeps the item pending until its end, and adds its counts up', async () => {
    const ids = await newItem({ scopes_planned: 4 })
    const claim = await claimed(ids)
    const part = { calls: 2, retries: 1, scopesSucceeded: 1, recordsReceived: 3 }
    expect(await commit(claim, false, { ...part, recordsInserted: 3 })).toBe(true)
    expect(await itemOf(ids)).toMatchObject({
      state: 'pending',
      finished_at: null,
      scopes_planned: 4,
      scopes_succeeded: 1,
      done_scopes: '1000',
    })
    const rest = { scopesSucceeded: 1, scopesFailed: 1, scopesHeld: 1, calls: 3, retries: 2 }
    expect(
      await commit(claim, true, { ...rest, recordsReceived: 1, recordsUpdated: 1 }, '1111'),
    ).toBe(true)
    expect(await itemOf(ids)).toMatchObject({
      state: 'done',
      finished_at: expect.any(Date),
      calls: 5,
      retries: 3,
      scopes_planned: 4,
      scopes_succeeded: 2,
      scopes_failed: 1,
      scopes_held: 1,
      records_received: 4,
      records_inserted: 3,
      records_updated: 1,
      done_scopes: '1111',
    })
  })

  test('plans what it found, where that is not what was planned', async () => {
    const ids = await newItem({ scopes_planned: 9, scopes_skipped: 1 })
    await commit(await claimed(ids), true, {
      scopesSucceeded: 2,
      scopesFailed: 3,
      scopesHeld: 4,
    })
    expect(await itemOf(ids)).toMatchObject({
      scopes_planned: 10,
    })
  })

  test('checks the batch at its end, as of the claim, and only where the whole batch was asked', async () => {
    const whole = await newItem()
    const claim = await claimed(whole)
    await commit(claim, false)
    const checkedAt = async (batchKey: number) =>
      (await rowOf('collab_store.batches', 'batch_key', batchKey)).checked_at
    expect(await checkedAt(whole.batchKey)).toBeNull()
    await commit(claim, true)
    expect(await checkedAt(whole.batchKey)).toEqual(claim.claimedAt)
    const part = await newItem({ only_scopes: '0100' })
    await commit(await claimed(part), true)
    expect(await checkedAt(part.batchKey)).toBeNull()
  })

  test('is refused where another claim has written to the batch meanwhile, and its own may go on', async () => {
    const ids = await newItem()
    const [first, second] = [await claimed(ids), await claimed(ids)]
    expect(await commit(second, false)).toBe(true)
    expect(await commit(second, false)).toBe(true)
    expect(await commit(first, false, { calls: 5 })).toBe(false)
    expect(await itemOf(ids)).toMatchObject({ calls: 0 })
    expect(await rowOf('collab_store.batches', 'batch_key', ids.batchKey)).toMatchObject({
      version: second.claimNo,
    })
  })

  test('is refused also where a claim that began before has gone on to write since', async () => {
    const ids = await newItem()
    const first = await claimed(ids)
    expect(await commit(first, false)).toBe(true)
    const second = await claimed(ids)
    expect(await commit(first, false)).toBe(true)
    expect(await commit(second, false)).toBe(false)
    expect(await commit(first, false)).toBe(true)
    const third = await claimed(ids)
    expect(await commit(third, false)).toBe(true)
    expect(await commit(first, false)).toBe(false)
  })

  test('of users from beside their organization’s listing is none where a newer claim has written to that listing', async () => {
    const ids = await newItem()
    const { organization_key: organizationKey } = await rowOf(
      'collab_store.batches',
      'batch_key',
      ids.batchKey,
    )
    await database.pool.query(
      `insert into collab_store.listings (batch_key, scope_no, operation, kind, scope_key) values ($1, 0, 'users', 'organization', $2)`,
      [ids.batchKey, organizationKey],
    )
    const [older, newer] = [await claimed(ids), await claimed(ids)]
    const touch = ({ claimNo }: Claim) =>
      scopes.touchHeadBatch.run(database.pool, { organizationKey, claimNo })
    expect([await touch(newer), await touch(older)]).toEqual([1, 0])
  })

  test('of an item that is done already is refused', async () => {
    const claim = await claimed(await newItem())
    expect(await commit(claim, true)).toBe(true)
    expect(await commit(claim, true, { calls: 5 })).toBe(false)
  })

  test('begins the attempts anew where another scope is done, and only there', async () => {
    const ids = await newItem()
    const first = await claimed(ids)
    await commit(first, false, {}, '1000')
    expect(await itemOf(ids)).toMatchObject({ attempts: 0 })
    await claimed(ids)
    const again = await claimed(ids)
    await commit(again, false, {}, '1000')
    expect(await itemOf(ids)).toMatchObject({ attempts: 2 })
  })
})

describe('items that no live worker works on', () => {
  test('are those of the dead, of nobody, and of the asking worker where it has them not in hand', async () => {
    await database.pool.query('delete from sync.runs')
    const runId = await addRun(database.pool, { status: 'queued' })
    const of = (workerId: string | null, columns = {}) =>
      addItem(database.pool, runId, { worker_id: workerId, ...columns })
    await addWorker(database.pool, 'alive', 5)
    await addWorker(database.pool, 'dead', 40)
    await addWorker(database.pool, 'asking', 40)
    await of('alive')
    const nobodys = await of(null)
    const ofDead = await of('dead')
    const ofForgotten = await of('forgotten')
    const inHand = await of('asking')
    const dropped = await of('asking')
    await of('dead', { state: 'done' })
    const settled = await addRun(database.pool, { status: 'failed', finished_at: new Date() })
    await addItem(database.pool, settled, { worker_id: 'dead' })
    const ask = { deadAfterS: 30, workerId: 'asking', inProgress: [inHand] }
    const lost = await items.lost.all(database.pool, { ...ask, limit: 10 })
    expect(lost.map(({ itemId }) => Number(itemId))).toEqual([
      nobodys,
      ofDead,
      ofForgotten,
      dropped,
    ])
    expect(await items.lost.all(database.pool, { ...ask, limit: 2 })).toHaveLength(2)
    expect(lost[0]).toMatchObject({ runId, kind: 'sync-batch', round: 0 })
  })
})

describe('a worker', () => {
  test('is alive while its heartbeat is young, and is forgotten a day after its last', async () => {
    const { pool } = database
    await pool.query('delete from sync.workers')
    await addWorker(pool, 'w1', 31)
    await addWorker(pool, 'w2', 29)
    await addWorker(pool, 'old', 86_500)
    await addWorker(pool, 'leaving', 0)
    const living = async () =>
      (await workers.read.all(pool, { deadAfterS: 30 })).filter((each) => each.alive)
    expect(await living()).toHaveLength(2)
    await workers.heartbeat.run(pool, { ...BEAT, workerId: 'w1', callsInFlight: 3, callMs: 20 })
    expect(await living()).toHaveLength(3)
    expect(await workers.read.all(pool, { deadAfterS: 30 })).toContainEqual(
      expect.objectContaining({ workerId: 'w1', callsInFlight: 3, callsLimit: 8, latencyMs: 20 }),
    )
    expect((await living()).map(({ workerId }) => workerId).toSorted()).toEqual([
      'leaving',
      'w1',
      'w2',
    ])
    await workers.leave.run(pool, { workerId: 'leaving' })
    expect(await rowsOf(pool, 'sync.workers', 'worker_id')).toEqual([
      { worker_id: 'w1' },
      { worker_id: 'w2' },
    ])
  })

  test('is blocked while it has a problem, whichever', async () => {
    const { pool } = database
    await pool.query('delete from sync.workers')
    const say = (problem: string | null) =>
      workers.heartbeat.run(pool, { ...BEAT, workerId: 'w1', problem })
    const blocked = async () =>
      (await pool.query(`select words from sync.attention where kind = 'worker_blocked'`)).rows
    for (const problem of ['The queue is away.', 'The queue is full.']) {
      await say(problem)
      expect(await blocked()).toEqual([{ words: `w1: ${problem}` }])
    }
    await say(null)
    expect(await blocked()).toEqual([])
  })
})
