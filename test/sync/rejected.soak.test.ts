import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { settleRejected } from '../../src/client/waiting.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { parseScope } from '../../src/documents/scope.ts'
import { UsageError } from '../../src/base/errors.ts'
import { planRun } from '../../src/features/check/plan.ts'
import { verify } from '../../src/features/check/verify.ts'
import type { Difference } from '../../src/features/check/verify.ts'
import { onApp } from '../client/on-app.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

/** A run says succeeded only where every record of its answers is stored, or was set aside by a person. */

let live: Live
let place: Place
let collabSync: CollabSync
/** As test/client/on-app.ts has it. */
const by = 'a test'

beforeEach(async () => {
  live = await openLive('none', {
    world: { organizations: 1, documentsPerOrganization: 1, annotationsPerDocument: 3 },
  })
  await live.importCatalog()
  place = [...places(live.world)].find(
    (each) => (live.world.comments(each)?.length ?? 0) >= 3,
  ) as Place
  collabSync = onApp(await live.openApp())
})
afterEach(() => live?.close())

test('where each record of an annotation is rejected the run is partial, its problem says so, and verify finds each', async () => {
  const bad = comments().map((comment) => ({ ...comment, commentId: String(comment.commentId) }))
  answerComments(bad)
  const run = await live.run()
  expect(run).toMatchObject({
    status: 'partial',
    scopes_failed: 0,
    records_rejected: bad.length,
    problem: `${bad.length} whole records were rejected (mostly: commentId is a string, not an integer): correct them at the service, or set them aside.`,
  })
  const { report, heard } = await verifyAll()
  expect(report).toMatchObject({ differing: bad.length, failed: 0, setAside: 0 })
  expect(heard).toMatchObject(
    bad.map(() => ({
      kind: 'rejected',
      id: null,
      reason: 'commentId is a string, not an integer',
      isSetAside: false,
      ...place,
    })),
  )
  expect(await planAll()).toMatchObject({ rejected: bad.length, lost: bad.length })
})

test('what a person has set aside makes no later night partial, until its content is another', async () => {
  const [bad, ...good] = comments()
  const { commentId, ...members } = bad as { commentId: number }
  answerComments([{ commentId: 'x', ...members }, ...good])
  const first = await live.run()
  expect(first).toMatchObject({ status: 'partial' })
  const [record] = (await collabSync.listRejectedRecords()).items
  expect(record).toMatchObject({ runId: first.run_id, isWhole: true, setAsideAt: null })
  const choice = { ids: [record?.rejectedRecordId as number] }
  const as = { reason: 'a test of theirs' }
  expect(await collabSync.setAsideRejectedRecords(choice, as)).toEqual({ changed: 1 })
  expect(await collabSync.setAsideRejectedRecords(choice, as)).toEqual({ changed: 0 })
  expect((await collabSync.listRejectedRecords()).items).toEqual([])

  // The same content, its members in another order.
  answerComments([{ ...members, commentId: 'x' }, ...good])
  expect(await live.run({ trigger: 'schedule' })).toMatchObject({
    status: 'succeeded',
    problem: null,
    records_rejected: 1,
  })
  expect((await verifyAll()).report).toMatchObject({ differing: 0, setAside: 1 })
  expect(await planAll()).toMatchObject({ rejected: 1, lost: 0 })
  const kept = await rows('select * from sync.set_aside_records')
  expect(kept).toMatchObject([{ operation: 'comments', set_aside_by: by, reason: as.reason }])
  expect(JSON.stringify(kept)).not.toContain(String(commentId))

  answerComments([{ ...members, commentId: 'x', status: 'another' }, ...good])
  expect(await live.run()).toMatchObject({ status: 'partial', records_rejected: 1 })
  answerComments([{ ...members, commentId: 'x' }, ...good])
  expect(await settleRejected(live.database.pool, choice, { by, reason: null })).toBe(1)
  expect(await live.run()).toMatchObject({ status: 'partial', records_rejected: 1 })
})

test('all that a run rejected is set aside at once; what is not there is refused, and nothing done', async () => {
  live.standIn.setFaults([{ kind: 'poison', poison: ['string-record', 'big-id', 'null-record'] }])
  const { run_id: runId } = await live.run()
  const as = { reason: 'known' }
  const refused = collabSync.setAsideRejectedRecords({ ids: [1, 999_999] }, as)
  await expect(refused).rejects.toThrow(UsageError)
  expect(await rows('select from sync.set_aside_records')).toEqual([])
  const done = await collabSync.setAsideRejectedRecords({ runId }, as)
  expect(done.changed).toBeGreaterThan(3)
  expect(await live.run()).toMatchObject({ status: 'succeeded', problem: null })
  const none = collabSync.setAsideRejectedRecords(
    { runId: '00000000-0000-4000-8000-000000000000' },
    as,
  )
  await expect(none).rejects.toThrow(UsageError)
})

test('the second of two equal records loses nothing: it is told, and the run succeeds', async () => {
  const [one, ...others] = comments()
  answerComments([one, ...others, one])
  expect(await live.run()).toMatchObject({
    status: 'succeeded',
    problem: null,
    records_rejected: 1,
    rejected: 1,
  })
  expect((await collabSync.listRejectedRecords()).items).toMatchObject([
    { isWhole: false, reason: 'commentId is in the answer twice, with equal content' },
  ])
  expect((await verifyAll()).report).toMatchObject({ differing: 0, setAside: 0 })
})

test.each([false, true])(
  'of two different records of one comment the one that is not stored is kept (turned: %s)',
  async (isTurned) => {
    const [one, ...others] = comments()
    const older = { ...one, lastUpdated: '2020-01-01T00:00:00.000Z', extra: 'older' }
    const newer = { ...one, lastUpdated: '2020-01-01T00:00:00.001Z', extra: 'newer' }
    answerComments([...(isTurned ? [newer, older] : [older, newer]), ...others])
    expect(await live.run()).toMatchObject({ status: 'partial', records_rejected: 1 })
    const [record] = (await collabSync.listRejectedRecords()).items
    expect(JSON.parse(record?.record ?? '')).toEqual(older)
    await collabSync.setAsideRejectedRecords(
      { ids: [record?.rejectedRecordId as number] },
      { reason: 'the newer one is in' },
    )
    // The order of answers is "not shown": it must not make another record of it.
    answerComments([...(isTurned ? [older, newer] : [newer, older]), ...others])
    expect(await live.run()).toMatchObject({ status: 'succeeded' })
  },
)

test('each item of an answer is counted, whatever is wrong with it', async () => {
  const good = comments()
  const items = [...good, good[0], null, 5, 'text', [], {}, { commentId: 'x' }, { commentId: 0.5 }]
  answerComments([...items, { commentId: 7, status: 5 }])
  const { organizationId, documentId, annotationId } = place
  const scope = { organizationIds: [organizationId], documentId, annotationId }
  expect(await live.run({ scope })).toMatchObject({
    status: 'partial',
    records_received: items.length + 1,
    records_inserted: good.length + 1,
    records_rejected: items.length - good.length,
    rejected: items.length - good.length + 1,
  })
  expect(
    await rows('select is_whole, count(*)::int as n from sync.rejected_records group by 1'),
  ).toEqual(
    expect.arrayContaining([
      { is_whole: true, n: items.length - good.length - 1 },
      { is_whole: false, n: 2 },
    ]),
  )
})

function comments() {
  return live.world.comments(place) ?? []
}

function answerComments(data: readonly unknown[]): void {
  live.standIn.setFaults([answer({ operation: 'comments', ...place }, data)])
}

/** Listings hold this; what is asked by id is answered by the world. */
function answer(
  match: { operation: 'users' | 'comments' } & Partial<Place>,
  data: readonly unknown[],
) {
  return {
    kind: 'custom' as const,
    match: (request: { operation: string; data: object }) =>
      !('commentIds' in request.data) &&
      Object.entries(match).every(
        ([name, value]) =>
          ({ ...request.data, operation: request.operation })[name as 'operation'] === value,
      ),
    respond: (_: unknown, response: { end(text: string): void }) => {
      response.end(JSON.stringify({ result: { status: 'success', message: 'm', data } }))
    },
  }
}

async function verifyAll() {
  const app = await live.openApp()
  const heard: Difference[] = []
  const report = await verify(app.sync, { scope: parseScope({}) }, (each) => heard.push(each))
  return { report, heard }
}

async function planAll() {
  const app = await live.openApp()
  return planRun(app.sync, { scope: parseScope({}) }, () => {})
}

async function rows(text: string): Promise<Record<string, unknown>[]> {
  return (await live.database.pool.query(text)).rows
}
