import { beforeEach, describe, expect, test } from 'vitest'
import { columnOf } from '../../src/base/columns.ts'
import { ITEM_COUNTS } from '../../src/schemas/counts.ts'
import * as items from '../../src/core/database/statements/items.ts'
import * as runs from '../../src/core/database/statements/runs.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { addItem, addRun, addWorker } from './run-rows.ts'

const database = await createTestDatabase()
beforeEach(async () => {
  await database.pool.query('delete from sync.runs; delete from sync.workers')
})

async function runRow(runId: string) {
  const rows = await database.rows('select * from sync.runs where run_id = $1', runId)
  return rows[0]
}

const finish = (runId: string, problem: string | null = null) =>
  runs.finish.first(database.pool, { runId, problem })

/** A run whose items are done, with so many scopes of each end. @returns its status once settled */
async function statusAfter(
  scopes: { succeeded?: number; failed?: number; held?: number; skipped?: number }[],
  run: Record<string, unknown> = {},
): Promise<string | undefined> {
  const runId = await addRun(database.pool, run)
  for (const { succeeded = 0, failed = 0, held = 0, skipped = 0 } of scopes) {
    await addItem(database.pool, runId, {
      state: 'done',
      scopes_planned: succeeded + failed + held + skipped,
      scopes_succeeded: succeeded,
      scopes_failed: failed,
      scopes_held: held,
      scopes_skipped: skipped,
    })
  }
  return (await finish(runId, 'a problem'))?.status
}

describe('the status of a run', () => {
  test.each([
    ['succeeded', [{ succeeded: 2 }, { succeeded: 1 }]],
    ['succeeded', []],
    ['partial', [{ succeeded: 1 }, { failed: 1 }]],
    ['partial', [{ held: 1, failed: 1 }]],
    ['partial', [{ succeeded: 3, held: 1 }]],
    ['partial', [{ held: 2 }]],
    ['failed', [{ failed: 1 }]],
    ['failed', [{ failed: 1 }, { failed: 2 }, { skipped: 1 }]],
  ] as const)('is %s after %j', async (status, scopes) => {
    expect(await statusAfter([...scopes])).toBe(status)
  })

  test('is what it was stopped as, whatever it did before', async () => {
    const stopped = { stopping: 'cancelled', problem: 'cancelled by a person' }
    expect(await statusAfter([{ succeeded: 1, skipped: 2 }], stopped)).toBe('cancelled')
    expect(await statusAfter([{ succeeded: 1 }], { stopping: 'failed' })).toBe('failed')
  })

  test('is partial for a whole record that was lost, and for nothing less', async () => {
    const settled = async (counts: Record<string, number>) => {
      const runId = await addRun(database.pool)
      await addItem(database.pool, runId, { state: 'done', ...counts })
      return (await finish(runId))?.status
    }
    expect(await settled({ rejected: 1, records_lost: 1 })).toBe('partial')
    expect(await settled({ rejected: 1 })).toBe('succeeded')
  })
})

describe('to settle a run', () => {
  test('adds its items up', async () => {
    const runId = await addRun(database.pool)
    const counts = Object.fromEntries(ITEM_COUNTS.map((name, index) => [columnOf(name), index + 1]))
    const sumOf = (...names: string[]) => names.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
    const sums = {
      scopes_planned: sumOf('scopes_succeeded', 'scopes_failed', 'scopes_held', 'scopes_skipped'),
      records_received:
        sumOf('records_inserted', 'records_updated', 'records_unchanged') +
        sumOf('records_rejected', 'records_null'),
    }
    for (let n = 0; n < 2; n += 1)
      await addItem(database.pool, runId, { state: 'done', ...counts, ...sums })
    await finish(runId)
    const doubled = Object.entries({ ...counts, ...sums }).map(([name, count]) => [name, 2 * count])
    expect(await runRow(runId)).toMatchObject(Object.fromEntries(doubled))
  })

  test('waits for its last item, and happens once', async () => {
    const runId = await addRun(database.pool)
    const itemId = await addItem(database.pool, runId)
    expect(await finish(runId)).toBeUndefined()
    expect((await items.anyPending.one(database.pool, { runId })).pending).toBe(true)
    await database.rows(`update sync.run_items set state = 'done' where item_id = $1`, itemId)
    expect((await items.anyPending.one(database.pool, { runId })).pending).toBe(false)
    expect(await finish(runId)).toMatchObject({
      status: 'succeeded',
      trigger: 'cli',
    })
    const { finished_at } = await runRow(runId)
    expect(await finish(runId)).toBeUndefined()
    expect((await runRow(runId)).finished_at).toEqual(finished_at)
  })

  test('keeps the first problem, notes the given one, and none where all went well', async () => {
    await statusAfter([{ failed: 1 }], { problem: 'the first' })
    await statusAfter([{ failed: 1 }])
    await statusAfter([{ succeeded: 1 }])
    const rows = await database.rows('select problem from sync.runs order by requested_at')
    expect(rows).toEqual([{ problem: 'the first' }, { problem: 'a problem' }, { problem: null }])
  })

  test('dates the start of a run that nothing began, and keeps that of another', async () => {
    const startedAt = new Date('2026-01-02T03:04:05Z')
    const begun = await addRun(database.pool, { started_at: startedAt })
    const never = await addRun(database.pool, { status: 'queued' })
    for (const runId of [begun, never]) await finish(runId)
    expect((await runRow(begun)).started_at).toEqual(startedAt)
    const { started_at, finished_at } = await runRow(never)
    expect(started_at).toEqual(finished_at)
  })

  test('is left to do for runs under way without a pending item', async () => {
    const ready = await addRun(database.pool)
    await addItem(database.pool, ready, { state: 'done' })
    await addItem(database.pool, await addRun(database.pool))
    await addRun(database.pool, { status: 'failed', finished_at: new Date() })
    const unsettled = await items.unfinished.all(database.pool)
    expect(unsettled.map(({ runId }) => runId)).toEqual([ready])
  })
})

describe('a run that is to end early', () => {
  test('begins once, and only while it is queued', async () => {
    const runId = await addRun(database.pool, { status: 'queued' })
    await runs.begin.run(database.pool, { runId })
    const { started_at, status } = await runRow(runId)
    expect([status, started_at]).toEqual(['running', expect.any(Date)])
    await runs.begin.run(database.pool, { runId })
    expect((await runRow(runId)).started_at).toEqual(started_at)
  })

  test('keeps the first reason; one that is settled is left alone', async () => {
    const runId = await addRun(database.pool)
    const stop = (stopping: 'failed' | 'cancelled', problem: string, stoppedFor: string | null) =>
      runs.stop.first(database.pool, { runId, stopping, problem, stoppedFor })
    expect(await stop('failed', 'refused', 'credentials')).toEqual({ runId })
    expect(await stop('cancelled', 'by a person', null)).toBeUndefined()
    const stopped = { stopping: 'failed', problem: 'refused', stopped_for: 'credentials' }
    expect(await runRow(runId)).toMatchObject(stopped)
    expect(await runs.readStopping.all(database.pool)).toEqual([{ runId }])
    const troubled = await addRun(database.pool, { problem: 'before' })
    const after = { stopping: 'failed', problem: 'after', stoppedFor: null }
    await runs.stop.first(database.pool, { runId: troubled, ...after })
    expect((await runRow(troubled)).problem).toBe('before')
    await finish(troubled)
    await finish(runId)
    expect(await runs.readStopping.all(database.pool)).toEqual([])
    const settled = await addRun(database.pool, { status: 'succeeded', finished_at: new Date() })
    const late = { stopping: 'cancelled', problem: 'late', stoppedFor: null }
    expect(await runs.stop.first(database.pool, { runId: settled, ...late })).toBeUndefined()
  })

  test('skips what nobody works on, and what the asking worker has in hand', async () => {
    const runId = await addRun(database.pool, { stopping: 'cancelled' })
    await addWorker(database.pool, 'alive', 5)
    await addWorker(database.pool, 'dead', 40)
    const scopes = { scopes_planned: 9, scopes_succeeded: 2, scopes_failed: 1, scopes_held: 1 }
    const nobodys = await addItem(database.pool, runId, scopes)
    const ofDead = await addItem(database.pool, runId, { worker_id: 'dead' })
    const ofAlive = await addItem(database.pool, runId, { worker_id: 'alive' })
    const own = await addItem(database.pool, runId, { worker_id: 'alive' })
    const done = await addItem(database.pool, runId, { state: 'done', scopes_planned: 5 })
    await items.skip.run(database.pool, { runId, itemId: own, deadAfterS: 30 })
    const rows = await database.rows(
      'select item_id::int, state, scopes_skipped::int as skipped, finished_at is not null as at from sync.run_items order by 1',
    )
    expect(rows).toEqual([
      { item_id: nobodys, state: 'done', skipped: 5, at: true },
      { item_id: ofDead, state: 'done', skipped: 0, at: true },
      { item_id: ofAlive, state: 'pending', skipped: 0, at: false },
      { item_id: own, state: 'done', skipped: 0, at: true },
      { item_id: done, state: 'done', skipped: 0, at: false },
    ])
  })

  test('alone is skipped: another goes on', async () => {
    const runId = await addRun(database.pool)
    const itemId = await addItem(database.pool, runId)
    expect(await items.skip.run(database.pool, { runId, itemId, deadAfterS: 30 })).toBe(0)
  })
})
