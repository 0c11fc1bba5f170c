import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { deleteComment, edit, restoreComment } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { latch } from '../helpers/latch.ts'
import { openLoaded, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { busyPlace, scopeOf } from '../helpers/places.ts'
import { until } from '../helpers/until.ts'

let live: Live
beforeEach(async () => {
  live = await openLoaded('postgres')
})

test('an answer asked for before a change never overwrites one asked for after it, whichever run came first', async () => {
  await live.run()
  const place = busyPlace(live.world, 3)
  const [comment] = live.world.comments(place) ?? []
  const id = comment?.commentId ?? 0
  edit(live.world, place, id, { text: 'before the change' })
  await expectBothRight(place, () => {
    edit(live.world, place, id, { text: 'after the change' })
  })
})

test('an answer that was compared with what is stored no more is not taken for unchanged', async () => {
  await live.run()
  const place = busyPlace(live.world, 3)
  const [comment] = live.world.comments(place) ?? []
  const id = comment?.commentId ?? 0
  await expectBothRight(
    place,
    () => {
      deleteComment(live.world, place, id)
    },
    () => {
      restoreComment(live.world, place, id)
    },
  )
})

test('with slow answers and changes in between, both succeed, the tables are equal, and no unchanged comment has a second version', async () => {
  live.standIn.latencyMs = 100
  live.standIn.latencyJitterMs = 400
  const workers = [await live.openWorker(), await live.openWorker()]
  const runs = await Promise.all(workers.map((worker) => worker.startRun()))
  const changed = new Set<string>()
  for (const place of [...places(live.world)].slice(0, 20)) {
    const [comment] = live.world.comments(place) ?? []
    if (comment === undefined) continue
    await sleep(100)
    edit(live.world, place, comment.commentId, { text: 'changed meanwhile' })
    changed.add(JSON.stringify([...Object.values(place), comment.commentId]))
  }
  for (const runId of runs) {
    expect(await settled(live.database, runId)).toMatchObject({ status: 'succeeded' })
  }
  await Promise.all(workers.map((worker) => worker.stop()))
  live.standIn.latencyMs = live.standIn.latencyJitterMs = 0
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(live.database, live.world)
  await expectVersionsSound()
  const twice = await live.rows(
    'select distinct organization_id, document_id, annotation_id, comment_id from collab.comment_versions where version > 1',
  )
  for (const row of twice) {
    expect(changed).toContain(JSON.stringify(Object.values(row)))
  }
}, 300_000)

test('versions and memberships stay in order when the clock is set back between two runs', async () => {
  await live.run()
  // As if all that is stored had been written by a clock that was an hour ahead.
  await live.rows(`update collab_store.comments set version_at = version_at + interval '1 hour'`)
  await live.database.pool.query(
    `update collab_store.document_users set joined_at = joined_at + interval '1 hour'`,
  )
  const place = busyPlace(live.world, 3)
  const [first, second] = live.world.comments(place) ?? []
  edit(live.world, place, first?.commentId ?? 0, { text: 'edited' })
  deleteComment(live.world, place, second?.commentId ?? 0)
  const organizationId = place.organizationId
  const [user] = live.world.documentUsers(organizationId, place.documentId) ?? []
  live.world.dropUser(organizationId, user?.userId ?? '')
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(live.database, live.world)
  await expectVersionsSound()
  expect(
    await live.rows('select * from collab_store.document_users where removed_at < joined_at'),
  ).toEqual([])
})

/**
 * Two runs ask for one annotation. The one that took it up last gets the answer that is true now, but gets it late; the
 * other one gets what is true after `change`, and stores it first. Both succeed, and the tables are right.
 */
async function expectBothRight(
  place: Place,
  change: () => void,
  afterwards: () => void = () => {},
): Promise<void> {
  const early = answerNow(place)
  const [changed, late] = [latch(), latch()]
  let asked = 0
  live.standIn.setFaults([
    {
      kind: 'custom',
      match: { operation: 'comments', ...place },
      times: 2,
      respond: (_request, response) => {
        asked += 1
        if (asked === 1) void changed.opened.then(() => response.end(answerNow(place)))
        else void late.opened.then(() => response.end(early))
      },
    },
  ])
  const scope = { ...scopeOf(place), operations: ['comments'] }
  const one = await live.openWorker()
  const first = await one.startRun(scope)
  await until('the first run asked', () => asked >= 1 || null)
  const two = await live.openWorker()
  const second = await two.startRun(scope)
  await until('the second run asked', () => asked >= 2 || null)
  change()
  changed.open()
  expect(await settled(live.database, first)).toMatchObject({ status: 'succeeded' })
  afterwards()
  late.open()
  expect(await settled(live.database, second)).toMatchObject({ status: 'succeeded' })
  await Promise.all([one.stop(), two.stop()])
  await expectTablesEqual(live.database, live.world)
  await expectVersionsSound()
}

function answerNow(place: Place): string {
  const data = live.world.comments(place)
  return JSON.stringify({ result: { status: 'success', message: 'm', data } })
}

/** Versions of each comment count from 1 and follow each other without gap or overlap. */
async function expectVersionsSound(): Promise<void> {
  const unsound = await live.rows(
    `select * from (
      select *, row_number() over of_comment as place, lead(valid_from) over of_comment as next_from
      from collab.comment_versions
      window of_comment as (partition by organization_id, document_id, annotation_id, comment_id order by version)
    ) v where version <> place or valid_to is distinct from next_from or valid_to < valid_from`,
  )
  expect(unsound).toEqual([])
}
