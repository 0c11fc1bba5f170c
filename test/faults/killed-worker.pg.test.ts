import { afterAll, expect, test } from 'vitest'
import * as itemStatements from '../../src/core/database/statements/items.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import { startRun } from '../../src/core/run/start.ts'
import { endDirectly } from '../helpers/direct-run.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLoaded, settled } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { buildWorker } from '../helpers/worker-process.ts'
import type { WorkerBuild } from '../helpers/worker-process.ts'

const build: WorkerBuild = await buildWorker()
const live = await openLoaded('postgres')
afterAll(async () => {
  build?.killAll()
})

test('a worker is killed while it waits for answers: another one ends the run, and the tables are equal', async () => {
  const app = await live.openApp()
  const scope = parseScope({})
  const { runId, items } = await startRun(app.sync, { trigger: 'cli', scope, requestKey: null })
  await app.deliver(items)
  let asked = 0
  const never = new Promise(() => {})
  live.standIn.setFaults([{ kind: 'held', until: never, match: () => (asked += 1) > 40 }])
  const worker = await build.start(live.environment)
  await until('answers are held back, and the others are stored', async () => {
    const rows = await live.rows(
      'select count(*)::int as done from sync.run_items where done_scopes is not null',
    )
    return asked > 40 && rows[0].done > 0
  })
  await worker.kill()
  live.standIn.setFaults([])
  // As it is half a minute later.
  await live.rows(`update sync.workers set heartbeat_at = heartbeat_at - interval '1 hour'`)
  const { deadAfterS, workerId } = app.sync
  const taken = { deadAfterS, workerId, limit: 1000, inProgress: [] }
  const lost = await itemStatements.lost.all(live.database.pool, taken)
  expect(lost).not.toEqual([])
  await endDirectly(app, runId, lost)
  expect(await settled(live.database, runId)).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(live.database, live.world)
  const rows = await live.rows('select max(version) from collab.comment_versions')
  expect(rows).toEqual([{ max: 1 }])
})
