import { beforeEach, expect, test } from 'vitest'
import * as rejected from '../../src/core/database/statements/rejected.ts'
import type { Comment } from '../../src/demo/comments.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import { UsageError } from '../../src/base/errors.ts'
import { planRun } from '../../src/features/check/plan.ts'
import { verify } from '../../src/features/check/verify.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { describeRun } from '../../src/cli/run-details.ts'
import { onApp } from '../client/on-app.ts'
import { openLoaded } from '../helpers/live.ts'
import { busyPlace, listingComments, listingUsers, scopeOf } from '../helpers/places.ts'
import { askPages, wordsOf } from '../pages/open-pages.ts'

/**
 * A run succeeds only if every record of its responses is stored, or was set aside by a user. A record that cannot be stored is
 * one row, however often it is received; each run counts it.
 */

const live = await openLoaded('none', {
  world: { organizations: 1, documentsPerOrganization: 1, annotationsPerDocument: 3 },
})
const place = busyPlace(live.world, 3)
const comments: readonly Comment[] = live.world.comments(place) ?? []
const collabSync = onApp(await live.openApp())
beforeEach(async () => {
  await live.rows('truncate sync.runs, sync.rejected_records, sync.set_aside_records cascade')
})

const ROWS = `select times::int, is_open, gone_at is null as is_there, first_seen_at < last_seen_at as is_old
  from sync.unstored_records order by rejected_record_id`

/** Makes the service list these comments of the annotation. */
function serve(...data: unknown[]): void {
  live.standIn.setFaults([listingComments(place, data)])
}

/** Makes the IDs of the first comments unreadable. */
function serveBad(bad: number): void {
  serve(
    ...comments.map((each, n) => (n < bad ? { ...each, commentId: `${each.commentId}` } : each)),
  )
}

async function verifyAll() {
  const app = await live.openApp()
  return verify(app.sync, { scope: parseScope({}) })
}

async function planAll() {
  const app = await live.openApp()
  return planRun(app.sync, { scope: parseScope({}) }, () => {})
}

test('two of them over three nights are two rows, each night is partial, and verify and a plan find both', async () => {
  serveBad(2)
  const reason = 'commentId is a string, not an integer'
  for (let night = 1; night <= 3; night += 1)
    expect(await live.run({ trigger: 'schedule' })).toMatchObject({
      status: 'partial',
      scopes_failed: 0,
      records_lost: 2,
      rejected: 2,
      problem: `The run rejected 2 records that were not set aside (mostly: ${reason}).`,
    })
  const row = { times: 3, is_open: true, is_there: true, is_old: true }
  expect(await live.rows(ROWS)).toEqual([row, row])
  const found = { kind: 'rejected', id: null, reason, isSetAside: false, ...place }
  const report = await verifyAll()
  expect(report).toMatchObject({ failed: 0, setAside: 0, differences: [found, found] })
  expect(await planAll()).toMatchObject({ rejected: 2, lost: 2 })
})

test('continuous refresh counts what it receives again once an hour', async () => {
  serveBad(2)
  const { run_id: runId } = await live.run()
  const [met] = await live.rows('select * from sync.rejected_records order by 1 limit 1')
  const meet = () =>
    rejected.note.one(live.database.pool, {
      runId,
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
  expect([await meet(), await meet()]).toEqual([{ lost: 1 }, { lost: 1 }])
  const times = async () => (await live.rows(ROWS)).map((row) => row.times)
  expect(await times()).toEqual([1, 1])
  await live.rows(`update sync.rejected_records set at = at - interval '61 minutes'`)
  await meet()
  await meet()
  expect(await times()).toEqual([2, 1])
})

test('one that was corrected is closed, one that comes back is open again; pruning removes what was last seen before', async () => {
  const open = async () => (await live.rows(ROWS)).filter((row) => row.is_open).length
  serveBad(2)
  await live.run()
  serveBad(1)
  expect(await live.run()).toMatchObject({
    status: 'partial',
    problem: expect.stringMatching(/^The run rejected 1 record that was not set aside \(.*\)\.$/),
  })
  expect(await open()).toBe(1)
  serveBad(0)
  expect(await live.run()).toMatchObject({ status: 'succeeded', problem: null })
  expect(await live.rows(ROWS)).toMatchObject([{ is_there: false }, { is_there: false }])
  expect((await collabSync.listRejectedRecords()).items).toEqual([])
  serveBad(1)
  expect(await live.run()).toMatchObject({ status: 'partial' })
  expect(await open()).toBe(1)
  await live.rows('delete from sync.runs')
  expect(await live.rows(ROWS)).toHaveLength(2)
  expect(await prune(live.database.pool, new Date())).toMatchObject({ rejectedRecords: 2 })
})

test('a response that may lack users closes none', async () => {
  const { organizationId } = place
  const users = live.world.users(organizationId) ?? []
  const listed = async (...others: unknown[]) => {
    live.standIn.setFaults([listingUsers(organizationId, [...users, ...others])])
    await live.run()
    return (await live.rows(ROWS)).map((row) => row.is_there)
  }
  expect(await listed({ userId: 5 })).toEqual([true])
  // The one without a readable ID may be the one of before.
  expect(await listed({ userId: 6 })).toEqual([true, true])
  expect(await listed()).toEqual([false, false])
})

test('what a user has set aside makes no later night partial, until its content is another', async () => {
  const [bad, ...good] = comments
  const { commentId, ...members } = bad as Comment
  serve({ commentId: 'x', ...members }, ...good)
  const first = await live.run()
  expect(first).toMatchObject({ status: 'partial' })
  const [record] = (await collabSync.listRejectedRecords()).items
  expect(record).toMatchObject({ runId: first.run_id, isWhole: true, setAsideAt: null })
  const choice = { ids: [record?.rejectedRecordId as number] }
  const as = { reason: 'a test of theirs' }
  expect(await collabSync.setAsideRejectedRecords(choice, as)).toEqual({ changed: 1 })
  expect(await collabSync.setAsideRejectedRecords(choice, as)).toEqual({ changed: 0 })
  expect((await collabSync.listRejectedRecords()).items).toEqual([])
  const { rejectedRecords } = (await collabSync.getRun(first.run_id)) ?? {}
  expect(rejectedRecords).toMatchObject([{ setAsideReason: as.reason }])

  // The same content, its members in another order.
  serve({ ...members, commentId: 'x' }, ...good)
  const night = await live.run({ trigger: 'schedule' })
  expect(night).toMatchObject({ status: 'succeeded', problem: null, records_rejected: 1 })
  expect(await verifyAll()).toMatchObject({ differing: 0, setAside: 1 })
  expect(await planAll()).toMatchObject({ rejected: 1, lost: 0 })
  const kept = await live.rows('select * from sync.set_aside_records')
  expect(kept).toMatchObject([{ operation: 'comments', set_aside_by: 'a test', reason: as.reason }])
  expect(JSON.stringify(kept)).not.toContain(String(commentId))

  serve({ ...members, commentId: 'x', status: 'another' }, ...good)
  expect(await live.run()).toMatchObject({ status: 'partial', records_rejected: 1 })
})

test('all that a run rejected is set aside at once; an unknown record or run is refused, and nothing done', async () => {
  live.standIn.setFaults([{ kind: 'poison', poison: ['string-record', 'big-id', 'null-record'] }])
  const { run_id: runId } = await live.run()
  const as = { reason: 'known' }
  const unknown = '00000000-0000-4000-8000-000000000000'
  for (const choice of [{ ids: [1, 999_999] }, { runId: unknown }])
    await expect(collabSync.setAsideRejectedRecords(choice, as)).rejects.toThrow(UsageError)
  expect(await live.rows('select from sync.set_aside_records')).toEqual([])
  const done = await collabSync.setAsideRejectedRecords({ runId }, as)
  expect(done.changed).toBeGreaterThan(3)
  expect(await live.run()).toMatchObject({ status: 'succeeded', problem: null })
})

test('the second of two equal records loses nothing: it is reported, and the run succeeds', async () => {
  serve(...comments, comments[0])
  const run = await live.run()
  expect(run).toMatchObject({ status: 'succeeded', problem: null, records_rejected: 1 })
  expect((await collabSync.listRejectedRecords()).items).toMatchObject([
    {
      isWhole: false,
      isField: false,
      reason: 'commentId is in the response twice, with equal content',
    },
  ])
  expect(await verifyAll()).toMatchObject({ differing: 0, setAside: 0 })
})

test('each item of a response is counted, whatever is wrong with it', async () => {
  const items = [comments[0], null, 5, 'text', [], {}, { commentId: 'x' }, { commentId: 0.5 }]
  serve(...comments, ...items, { commentId: 7_777_777, status: 5 })
  expect(await live.run({ scope: scopeOf(place) })).toMatchObject({
    status: 'partial',
    records_received: comments.length + items.length + 1,
    records_inserted: 1,
    records_rejected: items.length,
    rejected: items.length + 1,
    records_lost: items.length - 1,
  })
})

test('records and fields are counted apart, in the same words, on pages, in status, over /v1 and in SQL', async () => {
  const odd = { commentId: 7_777_778, status: 5, type: 6 }
  serve(...comments, { commentId: 'x' }, { commentId: 'y' }, odd)
  const { run_id: runId } = await live.run()
  const words = '2 records and 2 fields of stored records'
  const rows = `select count(*) filter (where not is_field)::int as records, count(*) filter (where is_field)::int as fields
    from sync.unstored_records where is_open`
  expect(await live.rows(rows)).toEqual([{ records: 2, fields: 2 }])
  const run = await collabSync.getRun(runId)
  if (run === null) throw new Error('There is no run.')
  expect(run).toMatchObject({ rejected: 4, recordsRejected: 2, fieldsRejected: 2 })
  expect(run.problem).toContain('The run rejected 2 records that were not set aside')
  const [problem] = (await collabSync.listAttention({ kind: 'rejected' })).items
  const sentence = `${words} were rejected, in organization "${place.organizationId}".`
  expect(problem).toMatchObject({ kind: 'rejected', count: 4, sentence })
  const status = describeRun(run)
  expect(status).toContain(`Rejected: ${words}`)
  expect(status).toContain('2 rejected, 2 fields of stored records rejected')
  const pages = await askPages(await live.openApp())
  const page = async (path: string) => wordsOf(await pages.get(path))
  expect(await page(`/runs/${runId}`)).toContain(`Rejected: ${words}`)
  expect(await page('/')).toContain(sentence)
  const { text: listed } = await pages.get('/held')
  for (const noun of ['record', 'field of a stored record']) {
    expect(listed.split(`>${noun}<`)).toHaveLength(3)
    expect(status).toContain(` ${noun} `)
  }
})
