import { afterAll, beforeAll, expect, test } from 'vitest'
import { prune } from '../../src/features/privacy/prune.ts'
import * as rejected from '../../src/core/database/statements/rejected.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

/** A record that cannot be stored is one row, however often it is met; each run counts it for itself. */

let live: Live
let place: Place
beforeAll(async () => {
  live = await openLive('none', {
    world: { organizations: 1, documentsPerOrganization: 1, annotationsPerDocument: 3 },
  })
  await live.importCatalog()
  place = [...places(live.world)].find(
    (each) => (live.world.comments(each)?.length ?? 0) >= 3,
  ) as Place
})
afterAll(() => live?.close())

const rows = async (sql: string) => (await live.database.pool.query(sql)).rows
const ROWS = `select times::int, is_open, gone_at is null as is_there, first_seen_at < last_seen_at as is_old
  from sync.unstored_records order by rejected_record_id`

/** Answers the annotation's comments with the ids of the first ones unreadable. */
function answer(bad: number): void {
  const comments = (live.world.comments(place) ?? []).map((comment, index) =>
    index < bad ? { ...comment, commentId: `no-${comment.commentId}` } : comment,
  )
  live.standIn.setFaults([
    {
      kind: 'custom',
      // What is asked by id is answered by the world.
      match: ({ operation, data }) =>
        operation === 'comments' &&
        !('commentIds' in data) &&
        (data as Partial<Place>).annotationId === place.annotationId,
      respond: (_, response) =>
        response.end(
          JSON.stringify({ result: { status: 'success', message: '', data: comments } }),
        ),
    },
  ])
}

test('two of them over six nights are two rows, and each night is partial', async () => {
  answer(2)
  for (let night = 1; night <= 6; night += 1)
    expect(await live.run({ trigger: 'schedule' })).toMatchObject({
      status: 'partial',
      records_lost: 2,
      rejected: 2,
      problem: expect.stringMatching(/^2 whole records were rejected \(mostly: /),
    })
  const row = { times: 6, is_open: true, is_there: true, is_old: true }
  expect(await rows(ROWS)).toEqual([row, row])
})

test('continuous refresh notes what it meets again once an hour', async () => {
  const [run] = await rows('select run_id from sync.runs order by requested_at limit 1')
  const [met] = await rows('select * from sync.rejected_records order by 1 limit 1')
  const meet = () =>
    rejected.note.one(live.database.pool, {
      runId: run.run_id,
      operation: 'comments',
      organizationIds: [met.organization_id],
      documentIds: [met.document_id],
      annotationIds: [met.annotation_id],
      userGroupIds: [null],
      reasons: [met.reason],
      records: [met.record],
      isWhole: [true],
      digests: [met.digest],
      isRefresh: true,
    })
  for (let look = 0; look < 10; look += 1) expect(await meet()).toEqual({ lost: 1 })
  expect((await rows(ROWS))[0]).toMatchObject({ times: 6 })
  await live.database.pool.query(`update sync.rejected_records set at = at - interval '61 minutes'`)
  await meet()
  await meet()
  expect((await rows(ROWS)).map(({ times }) => times)).toEqual([7, 6])
})

test('one that was mended needs nobody any more; one that comes back does again', async () => {
  answer(1)
  expect(await live.run()).toMatchObject({ status: 'partial', records_lost: 1 })
  expect((await rows(ROWS)).map(({ is_open }) => is_open).sort()).toEqual([false, true])
  answer(0)
  expect(await live.run()).toMatchObject({ status: 'succeeded', problem: null })
  expect((await rows(ROWS)).map(({ is_there }) => is_there)).toEqual([false, false])
  expect(
    await rejected.list.all(live.database.pool, {
      runId: null,
      before: null,
      limit: 9,
      mostCharacters: 9,
      isSetAside: false,
    }),
  ).toEqual([])
  answer(1)
  expect(await live.run()).toMatchObject({ status: 'partial' })
  expect((await rows(ROWS)).filter(({ is_open }) => is_open)).toHaveLength(1)
})

test('a run that is pruned takes none with it; what was last seen before goes by itself', async () => {
  await live.database.pool.query('delete from sync.runs')
  expect(await rows(ROWS)).toHaveLength(2)
  expect(await prune(live.database.pool, new Date())).toMatchObject({ rejectedRecords: 2 })
})
