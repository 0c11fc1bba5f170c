import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { addToCatalog, removeFromCatalog } from '../../src/features/catalog/change.ts'
import { FAILURE_COLUMNS } from '../../src/schemas/columns.ts'
import { table } from '../../src/cli/table.ts'
import { describeRun } from '../../src/cli/run-details.ts'
import { readRunDetails } from '../../src/client/run-reports.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { Failure, FailuresByState, RunDetails } from '../../src/schemas/run.ts'
import type { Page } from '../../src/schemas/page.ts'
import { describeStates, nothingToRetry, shortId } from '../../src/schemas/format.ts'
import type { Scope } from '../../src/schemas/scope.ts'
import { NothingFailsError } from '../../src/base/errors.ts'
import { countScopes } from '../../src/core/run/start.ts'
import { onApp } from '../client/on-app.ts'
import { BEARER, unlistened } from '../http/served.ts'
import { openLoaded } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'
import { scopeOf } from '../helpers/places.ts'
import { askPages, hiddenFields, wordsOf } from '../pages/open-pages.ts'
import type { PagesAsked } from '../pages/open-pages.ts'

const live = await openLoaded('none', { settings: { SYNC_RETRIES: '0' } })
const app = await live.openApp()
const pages: PagesAsked = await askPages(app)
const all = [...places(live.world)]
/** Annotations of one document. */
const six: Place[] = all
  .filter((each) => each.documentId === all[0]?.documentId)
  .filter((each) => each.organizationId === all[0]?.organizationId)
  .slice(0, 6)
await live.run()
beforeEach(async () => {
  live.standIn.setFaults([])
  await live.run()
  await live.database.pool.query('truncate sync.runs cascade')
})

/** From now on the comments of these annotations, and of no other, cannot be fetched. */
function failing(annotations: readonly Place[]): void {
  live.standIn.setFaults(
    annotations.map((place) => ({
      kind: 'bad-request' as const,
      match: { operation: 'comments' as const, ...place },
    })),
  )
}

const rows = (text: string, ...values: unknown[]) => live.rows(text, ...values)

async function detailsOf(runId: string): Promise<RunDetails> {
  return (await readRunDetails(live.database.pool, runId)) as RunDetails
}

async function json<T>(path: string): Promise<T> {
  return JSON.parse((await pages.get(path)).text) as T
}

const STATES = { failing: 0, resolved: 0, leftCatalog: 0 }

/** Page, `status RUN`, /v1 and SQL say the same of the failures of a run. */
async function expectTold(run: RunRow, expected: Partial<FailuresByState>, by: readonly RunRow[]) {
  const { run_id: runId } = run
  const states = { ...STATES, ...expected }
  const resolvers = by.map((each) => each.run_id).toSorted()

  expect(
    await rows(
      `select count(*) filter (where resolved_at is not null)::int as resolved,
        array(select distinct resolved_by::text from sync.failures where run_id = $1 and resolved_by is not null order by 1) as by,
        (select count(*)::int from sync.failing_scopes) as failing
      from sync.failures where run_id = $1`,
      runId,
    ),
  ).toEqual([{ resolved: states.resolved, by: resolvers, failing: states.failing }])

  const details = await json<RunDetails>(`/v1/runs/${runId}`)
  expect(details.failuresByState).toEqual(states)
  expect(details.failuresByCause).toMatchObject([states])
  expect(details.failuresByCause.flatMap((cause) => cause.resolvedBy).toSorted()).toEqual(resolvers)
  const { items } = await json<Page<Failure>>(`/v1/failures?runId=${runId}`)
  const inState = (state: Failure['state']) => items.filter((each) => each.state === state).length
  expect({
    failing: inState('failing'),
    resolved: inState('resolved'),
    leftCatalog: inState('left_catalog'),
  }).toEqual(states)

  const printed = describeRun(await detailsOf(runId)).replaceAll(/\s+/g, ' ')
  const page = wordsOf(await pages.get(`/runs/${runId}`))
  for (const told of [printed, page]) {
    for (const part of describeStates(states).split(', ')) expect(told).toContain(part)
    for (const resolver of resolvers) expect(told).toContain(shortId(resolver))
    if (states.failing === 0) expect(told).toContain(nothingToRetry(details))
  }
  const isOffered = states.failing > 0
  expect(printed.includes(`run --failed-of ${shortId(runId)}`)).toBe(isOffered)
  expect(/Retry the \d scopes? that still fails?/.test(page)).toBe(isOffered)

  const each = wordsOf(await pages.get(`/runs/${runId}/failures`))
  expect(each.match(/still failing/g) ?? []).toHaveLength(states.failing)
  expect(each.match(/resolved by run/g) ?? []).toHaveLength(states.resolved)
}

test('six scopes fail: three are resolved by a retry, two by hints, one by the next night', async () => {
  failing(six)
  const night = await live.run({ trigger: 'schedule' })
  expect(night).toMatchObject({ status: 'partial', scopes_failed: 6 })
  await expectTold(night, { failing: 6 }, [])

  failing(six.slice(3))
  const retry = await live.run({ failedOf: night.run_id })
  expect(retry).toMatchObject({ status: 'partial', scopes_planned: 6, retry_of: night.run_id })
  await expectTold(night, { failing: 3, resolved: 3 }, [retry])
  await expectTold(retry, { failing: 3 }, [])
  expect(await detailsOf(night.run_id)).toMatchObject({ retriedBy: [retry.run_id] })
  expect(wordsOf(await pages.get(`/runs/${night.run_id}`))).toContain(
    `Retried by run ${shortId(retry.run_id)}`,
  )
  const request = `failed scopes of run ${shortId(night.run_id)}`
  expect(describeRun(await detailsOf(retry.run_id))).toContain(request)
  for (const path of ['/runs', `/runs/${retry.run_id}`])
    expect(wordsOf(await pages.get(path))).toContain(request)
  expect(await json(`/v1/runs/${retry.run_id}`)).toMatchObject({ retryOf: night.run_id })

  failing(six.slice(5))
  const hints = []
  for (const place of six.slice(3, 5))
    hints.push(await live.run({ trigger: 'hint', scope: scopeOf(place) }))
  await expectTold(night, { failing: 1, resolved: 5 }, [retry, ...hints])
  await expectTold(retry, { failing: 1, resolved: 2 }, hints)

  failing([])
  const next = await live.run({ trigger: 'schedule' })
  expect(next.status).toBe('succeeded')
  await expectTold(night, { resolved: 6 }, [retry, ...hints, next])
})

describe('a run of which nothing fails any more', () => {
  test('is not retried, in one sentence', async () => {
    failing(six)
    const run = await live.run()
    failing([])
    await live.run()
    // A later failure of the same scope is not a failure of that run.
    failing(six.slice(0, 1))
    await live.run()
    const { run_id: runId } = run
    const sentence = `All 6 scopes that failed in run ${runId} have been resolved since.`
    await expect(live.run({ failedOf: runId })).rejects.toThrow(sentence)
    await expect(onApp(app).retryRun(runId)).rejects.toThrow(sentence)
    expect(wordsOf(await pages.get(`/actions/retry?run=${runId}`))).toContain(sentence)
  })

  test('may have had scopes that left the catalog: they fail no more, until they are back', async () => {
    failing(six)
    const run = await live.run()
    const by = { source: 'a test', requestedBy: 'somebody' }
    const { pool } = live.database
    await removeFromCatalog(pool, six.slice(0, 2), by)
    await expectTold(run, { failing: 4, leftCatalog: 2 }, [])
    failing([])
    const retry = await live.run({ failedOf: run.run_id })
    expect(retry).toMatchObject({ status: 'succeeded', scopes_planned: 4 })
    await expectTold(run, { resolved: 4, leftCatalog: 2 }, [retry])
    await expect(live.run({ failedOf: run.run_id })).rejects.toThrow(
      `All 6 scopes that failed in run ${run.run_id} have been resolved or left the catalog since.`,
    )
    await addToCatalog(pool, six.slice(0, 2), by)
    await expectTold(run, { failing: 2, resolved: 4 }, [retry])
  })
})

test('a held response, and one about a part, end a failure', async () => {
  const organizationId = six[0]?.organizationId as string
  const operations = ['users']
  const [userId] = await rows(
    'select user_id from collab.users where organization_id = $1',
    organizationId,
  )
  const ofUsers = { operation: 'users' as const, organizationId }
  live.standIn.setFaults([{ kind: 'bad-request', match: ofUsers }])
  const run = await live.run({ scope: { organizationIds: [organizationId], operations } })
  const failed = Number(run['scopes_failed'])
  expect(failed).toBeGreaterThan(1)

  live.standIn.setFaults([])
  const part = await live.run({
    scope: { organizationIds: [organizationId], userIds: [userId?.['user_id']] },
  })
  expect(part.status).toBe('succeeded')
  await expectTold(run, { failing: failed - 1, resolved: 1 }, [part])

  live.standIn.setFaults([{ kind: 'empty-list', match: ofUsers }])
  const held = await live.run({ scope: { organizationIds: [organizationId], operations } })
  expect(Number(held['scopes_held'])).toBeGreaterThan(0)
  await expectTold(run, { resolved: failed }, [part, held])
})

describe('a run of what fails now', () => {
  /** Everything of the organization of the six fails, and a listing of another one. */
  async function failMuch() {
    const { organizationId } = six[0] as Place
    const other = [...live.world.organizationIds()].find((each) => each !== organizationId) ?? ''
    live.standIn.setFaults([
      { kind: 'bad-request', match: { operation: 'users', organizationId } },
      { kind: 'bad-request', match: { operation: 'users', organizationId: other } },
    ])
    await live.run({ scope: { organizationIds: [organizationId, other], operations: ['users'] } })
    failing(six)
    await live.run({ scope: { organizationIds: [organizationId], operations: ['comments'] } })
    live.standIn.setFaults([])
    return organizationId
  }
  const countFailing = async () =>
    (await rows('select count(*)::int as n from sync.failing_scopes'))[0]?.['n'] as number

  test('requests that, and nothing else, within its scope', async () => {
    const organizationId = await failMuch()
    const [place] = six as [Place]
    const organizationIds = [organizationId]
    const document = { organizationIds, documentId: place.documentId }
    const group = [...live.world.groupIds(organizationId)].slice(0, 1)
    const inOrganization = await rows(
      `select count(*)::int as n from sync.failing_scopes join collab_store.batches using (batch_key)
      join collab_store.organizations using (organization_key) where organization_id = $1`,
      organizationId,
    )
    let left = await countFailing()
    let leftHere = Number(inOrganization[0]?.['n'])
    const counted = (scope: Scope) => countScopes(app.sync, { scope, failing: true })
    expect([
      await counted({ organizationIds, operations: ['users'] }),
      await counted({ organizationIds, operations: ['comments'] }),
      await counted({ ...document, operations: ['users'] }),
      await counted({ ...document, operations: ['comments'] }),
    ]).toEqual([leftHere - six.length, six.length, 1, six.length])
    for (const [scope, planned] of [
      [scopeOf(place), 1],
      [{ organizationIds, userIds: ['u'] }, 1],
      [{ organizationIds, organizationUserGroupIds: group }, 1],
      [{ ...document, operations: ['comments'] }, 5],
      [document, 1],
    ] as const) {
      live.standIn.calls.reset()
      const run = await live.run({ scope, failing: true })
      expect(run, JSON.stringify(scope)).toMatchObject({
        scopes_planned: planned,
        scopes_expected: planned,
        status: 'succeeded',
        failing: true,
        scope,
      })
      expect(live.standIn.calls.total).toBe(planned)
      left -= planned
      leftHere -= planned
      expect(await countFailing()).toBe(left)
    }
    expect(leftHere).toBeGreaterThan(0)
    const here = await live.run({ scope: { organizationIds }, failing: true })
    expect(here).toMatchObject({ scopes_planned: leftHere, status: 'succeeded' })
    const rest = await live.run({ failing: true })
    expect(rest).toMatchObject({ scopes_planned: left - leftHere, scope: {} })
    expect(await countFailing()).toBe(0)
    for (const told of [
      describeRun(await detailsOf(here.run_id)),
      wordsOf(await pages.get(`/runs/${here.run_id}`)),
      wordsOf(await pages.get('/runs')),
    ])
      expect(told).toContain(`organization ${organizationId}, failing scopes only`)
  })

  test('is refused where nothing fails, in one sentence', async () => {
    const scope = { organizationIds: [six[0]?.organizationId as string] }
    await expect(live.run({ failing: true })).rejects.toThrow(
      new NothingFailsError('Nothing fails in this scope: everything in the catalog.', false),
    )
    const sentence = `Nothing fails in this scope: organization ${scope.organizationIds[0]}.`
    await expect(onApp(app).startRun({ scope, failing: true })).rejects.toThrow(sentence)
    const question = await pages.get(
      `/actions/sync?${new URLSearchParams({ organizationId: scope.organizationIds[0] ?? '', failing: 'true' })}`,
    )
    expect(question.status).toBe(400)
    expect(wordsOf(question)).toContain(sentence)
    const { app: http } = await unlistened(app)
    const payload = { scope, failing: true }
    const answer = await http.inject({ method: 'POST', url: '/v1/runs', headers: BEARER, payload })
    expect(answer.json()).toMatchObject({ status: 422, detail: sentence, instance: '/v1/runs' })
    expect(await rows('select from sync.runs')).toHaveLength(0)
  })

  test('is started by a program, a job and a page; a key is for one request', async () => {
    failing(six)
    await live.run()
    const request = { failing: true, idempotencyKey: 'one' }
    const { runId } = await onApp(app).startRun(request)
    expect(await onApp(app).startRun(request)).toMatchObject({ runId, isNew: false })
    expect(await onApp(app).getRun(runId)).toMatchObject({ failing: true, scopesExpected: 6 })
    await expect(onApp(app).startRun({ idempotencyKey: 'one' })).rejects.toThrow(
      `idempotencyKey was used for another request before, by run ${runId}.`,
    )
    const byJob = await jobs['start-run'](app, { data: { failing: true }, requestKey: 'job' })
    expect(await onApp(app).getRun(byJob.runId)).toMatchObject({ failing: true, scopesExpected: 6 })
    const question = await pages.get('/actions/sync?failing=true')
    expect(wordsOf(question)).toContain('A run requests only the 6 scopes whose last fetch failed')
    const done = await pages.post('/actions/sync', hiddenFields(question))
    const byPage = /^\/runs\/([0-9a-f-]{36})/.exec(String(done.headers['location']))?.[1] ?? ''
    expect(await onApp(app).getRun(byPage)).toMatchObject({ failing: true, scopesExpected: 6 })
  })
})

test.each([
  ['a retry', (run: RunRow) => ({ failedOf: run.run_id })],
  ['a run of what fails now', () => ({ failing: true })],
])(
  '%s whose key is refused makes nothing stale, and says how much was not requested',
  async (_kind, request) => {
    failing(six)
    const run = await live.run()
    const stale = () =>
      rows('select count(*)::int as scopes from reporting.freshness where is_stale')
    const before = await stale()
    live.standIn.setFaults([{ kind: 'unauthenticated' }])
    const retry = await live.run(request(run))
    expect(retry).toMatchObject({ status: 'failed', stopped_for: 'credentials' })
    expect(await stale()).toEqual(before)
    const skipped = Number(retry['scopes_skipped'])
    const page = wordsOf(await pages.get(`/runs/${retry.run_id}`))
    expect(page).toContain(`${skipped} scopes were not requested.`)
    expect(page).not.toContain('that still fail')
    expect(wordsOf(await pages.get(`/runs/${run.run_id}`))).toContain('Retry the 6 scopes')
  },
)

test('the form of a retry names how many scopes still fail, and makes the retry', async () => {
  failing(six)
  const run = await live.run()
  failing(six.slice(1))
  await live.run({ scope: scopeOf(six[0] as Place) })
  const question = await pages.get(`/actions/retry?run=${run.run_id}`)
  expect(wordsOf(question)).toContain(
    `only the 5 scopes that failed in run ${shortId(run.run_id)} and still fail.`,
  )
  const done = await pages.post('/actions/retry', hiddenFields(question))
  const retryId = /^\/runs\/([0-9a-f-]{36})/.exec(String(done.headers['location']))?.[1]
  expect(await rows('select retry_of from sync.runs where run_id = $1', retryId)).toEqual([
    { retry_of: run.run_id },
  ])
})

test('failures are listed a page at a time', async () => {
  failing(six)
  const { run_id: runId } = await live.run()
  const first = await onApp(app).listFailures({ runId, limit: 4 })
  const rest = await onApp(app).listFailures({ runId, limit: 4, cursor: first.nextCursor ?? '' })
  expect([first.items.length, rest.items.length, rest.nextCursor]).toEqual([4, 2, null])
  for (const { annotationId } of six)
    expect(table(FAILURE_COLUMNS, [...first.items, ...rest.items])).toContain(annotationId)
})

test('a day leads to its worst run, also if that is not the nightly one', async () => {
  await live.run({ trigger: 'schedule' })
  failing(six)
  const byHand = await live.run()
  const words = wordsOf(await pages.get('/'))
  expect(words).toContain(`partial ${shortId(byHand.run_id)} 2 `)
})
