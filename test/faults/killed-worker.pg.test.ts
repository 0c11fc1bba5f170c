import { expect, test } from 'vitest'
import * as itemStatements from '../../src/core/database/statements/items.ts'
import { endDirectly } from '../helpers/direct-run.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { settled, SMALL_WORLD, startOn } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { openRig } from './rig.ts'

const rig = await openRig('postgres', { world: SMALL_WORLD })

test('a worker is killed while it waits for answers: another one ends the run, and the tables are equal', async () => {
  const app = await rig.openApp()
  const runId = await startOn(app)
  let asked = 0
  const never = new Promise(() => {})
  rig.standIn.setFaults([{ kind: 'held', until: never, match: () => (asked += 1) > 40 }])
  const worker = await rig.start()
  await until('answers are held back, and the others are stored', async () => {
    const rows = await rig.rows(
      'select count(*)::int as done from sync.run_items where done_scopes is not null',
    )
    return asked > 40 && rows[0].done > 0
  })
  await worker.kill()
  rig.standIn.setFaults([])
  // As it is half a minute later.
  await rig.rows(`update sync.workers set heartbeat_at = heartbeat_at - interval '1 hour'`)
  const { deadAfterS, workerId } = app.sync
  const taken = { deadAfterS, workerId, limit: 1000, inProgress: [] }
  const lost = await itemStatements.lost.all(rig.database.pool, taken)
  expect(lost).not.toEqual([])
  await endDirectly(app, runId, lost)
  expect(await settled(rig.database, runId)).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(rig.database, rig.world)
  const rows = await rig.rows('select max(version) from collab.comment_versions')
  expect(rows).toEqual([{ max: 1 }])
})
