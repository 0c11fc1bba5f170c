import { expect, test } from 'vitest'
import { describeRun } from '../../src/cli/run-details.ts'
import { readRunDetails } from '../../src/client/run-reports.ts'
import { shortId, time } from '../../src/schemas/format.ts'
import { thingPath } from '../../src/http/pages/things/thing-link.tsx'
import { onApp } from '../client/on-app.ts'
import { openLive, openLoaded } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'
import { askPages, wordsOf } from './open-pages.ts'

// A first load, and a night in which one organization's comments fail.
const live = await openLoaded('none')
const [organizationId] = [...live.world.organizationIds()] as [string]
const pages = await askPages(await live.openApp())
await live.run()
live.standIn.setFaults([{ kind: 'forbidden', match: { organizationId, operation: 'comments' } }])
const nightly: RunRow = await live.run({ trigger: 'schedule' })

const { act, words } = pages
const json = async (path: string) => JSON.parse((await pages.get(path, ACCEPT)).text)
const ACCEPT = { accept: 'application/json' }

test('a failed night says since when it fails, links what failed to the run that failed, and says what resolved it', async () => {
  const [row] = await live.rows(
    `select organization_id, document_id, annotation_id, failing_since from collab.annotations
    where organization_id = $1 order by annotation_id limit 1`,
    organizationId,
  )
  const ids = {
    organizationId,
    documentId: row?.document_id,
    annotationId: row?.annotation_id,
  }
  const [{ since }] = (await live.rows(
    `select since from sync.attention where kind = 'failing'`,
  )) as [{ since: Date }]
  expect(await words('/')).toContain(`Since ${time(since)}`)
  const failed = shortId(nightly.run_id)
  expect(await words(thingPath(ids))).toContain(
    `Every fetch since ${time(row?.failing_since)} has failed. (run ${failed})`,
  )
  const { checked } = await json(
    `/v1/organizations/${organizationId}/documents/${ids.documentId}/annotations/${encodeURIComponent(ids.annotationId)}`,
  )
  expect(checked).toMatchObject({ failingRunId: nightly.run_id })
  expect(checked.runId).not.toBe(nightly.run_id)
  await expectResolvedBy(null)

  live.standIn.setFaults([])
  const retry = await live.run({ failedOf: nightly.run_id })
  expect(retry.status).toBe('succeeded')
  await expectResolvedBy(retry.run_id)
  await live.run()
  await expectResolvedBy(retry.run_id)
  // A night that was stopped is resolved by the next good run of everything.
  await live.rows(`update sync.runs set stopping = 'failed' where run_id = $1`, nightly.run_id)
  const rows = await live.rows(
    `select run_id from sync.runs where retry_of is null order by requested_at desc limit 1`,
  )
  await expectResolvedBy(rows[0].run_id)
})

test('a run has one state: its notices are gone when the run goes on, and while it is being cancelled it says so', async () => {
  const started = await act('sync', { organizationId })
  const runId = started.slice('/runs/'.length).split('?')[0] ?? ''
  expect(await words(started)).toContain('A worker starts it')
  // The scope is a link.
  expect((await pages.get(started)).text).toContain(`<a href="${thingPath({ organizationId })}">`)
  await live.rows(
    `update sync.runs set status = 'running', started_at = now() where run_id = $1`,
    runId,
  )
  expect(await words(started)).not.toContain('A worker starts it')
  await live.rows(`update sync.runs set stopping = 'cancelled' where run_id = $1`, runId)
  const stopping = await words(`/runs/${runId}?done=run-cancelled`)
  expect(stopping).toMatch(/The cancellation was requested.* being cancelled .*The run is ending/)
  expect(await words('/runs')).toContain(`${shortId(runId)} → being cancelled`)
  const run = await readRunDetails(live.database.pool, runId)
  expect(run && describeRun(run)).toContain(`${shortId(runId)} being cancelled`)
  await live.rows(`update sync.runs set stopping = null where run_id = $1`, runId)
  const cancelled = await act('cancel', { run: runId })
  const [row] = await live.rows('select status from sync.runs where run_id = $1', runId)
  expect(row).toEqual({ status: 'cancelled' })
  expect(await words(cancelled)).toMatch(/The cancellation was requested.* – cancelled /)
  expect(await words(started)).not.toContain('A worker starts it')
})

test('an added document says that its annotations are needed, and a run of it names what it checked', async () => {
  const document = { organizationId, documentId: 'a new document' }
  const sentence = 'Comments are fetched by annotation: add the annotations of the document'
  expect(await words(`/actions/add?${new URLSearchParams(document)}`)).toContain(sentence)
  const added = await act('add', document)
  expect(added).toBe(`${thingPath(document)}&done=added`)
  expect(await words(added)).toContain(sentence)
  const run = await live.run({
    scope: { organizationIds: [organizationId], documentId: 'a new document' },
  })
  expect(await words(`/runs/${run.run_id}`)).toContain(' Checked nothing Calls 1 ')
  const other = await live.run({
    scope: { organizationIds: [organizationId], documentId: 'doc-0' },
  })
  expect(await words(`/runs/${other.run_id}`)).toMatch(/ Checked 1 document, \d+ annotations /)
  await act('add', { ...document, annotationId: 'a 1' })
  expect(await words(thingPath(document))).not.toContain(sentence)
})

test('a wrong schedule keeps the form with what was typed', async () => {
  const typed = { cron: '61 2 * * *', timeZone: 'Europe/Berlin' }
  const page = await pages.get(`/actions/set-schedule?${new URLSearchParams(typed)}`)
  expect(page.status).toBe(400)
  expect(wordsOf(page)).toContain('The cron expression')
  for (const value of Object.values(typed)) expect(page.text).toContain(`value="${value}"`)
})

test('the navigation counts what waits for a decision', async () => {
  const badge = async () =>
    /Waiting\W+<span class="badge warn">(\d+)</.exec((await pages.get('/')).text)?.[1]
  expect(await badge()).toBeUndefined()
  live.standIn.setFaults([{ kind: 'empty-list', match: { organizationId, operation: 'users' } }])
  await live.run()
  const { items } = await json('/v1/held')
  expect(items.length).toBeGreaterThan(0)
  expect(await badge()).toBe(String(items.length))
})

/** The card, the page, `/v1`, `status RUN` and SQL. */
async function expectResolvedBy(runId: string | null) {
  const sentence = `Resolved by run ${shortId(runId ?? '')}`
  for (const path of ['/', `/runs/${nightly.run_id}`])
    expect((await words(path)).includes(sentence), path).toBe(runId !== null)
  expect(await json(`/v1/runs/${nightly.run_id}`)).toMatchObject({ resolvedBy: runId })
  const run = await readRunDetails(live.database.pool, nightly.run_id)
  if (run === null) throw new Error('The run is gone.')
  expect(describeRun(run).includes(sentence)).toBe(runId !== null)
}

test('the overview promises a nightly run only with a worker, says what a pause does, and without a schedule has the last run of everything', async () => {
  const own = await openLive('none')
  const app = await own.openApp()
  const collabSync = onApp(app)
  const overview = await askPages(app)
  const isOffered = async () => (await overview.page('/')).text.includes('class="button primary"')
  expect(await isOffered()).toBe(false)
  await own.importCatalog()
  expect(await isOffered()).toBe(true)
  expect(await overview.words('/')).toMatch(
    /No nightly run yet .*, and starts only if a worker is running\. .*No worker has started yet, .* never checked/,
  )

  // The next run is due within two hours, at any time of day, and the pause lasts longer.
  await collabSync.setSchedule({ cron: `0 ${(new Date().getUTCHours() + 2) % 24} * * *` })
  await collabSync.pause({ until: new Date(Date.now() + 86_000_000).toISOString() })
  const paused = await overview.page('/')
  expect(wordsOf(paused)).toMatch(/All calls are paused until \S+ \S+Z \. Runs wait until then\./)
  expect(wordsOf(paused)).toContain(', and starts when the pause ends.')
  expect(paused.text.match(/class="button primary"/g)).toHaveLength(1)
  expect(wordsOf(await overview.question('sync', {}))).toMatch(/The run waits until then\./)
  const sooner = wordsOf(await overview.question('pause', { minutes: '60' }))
  expect(sooner).toMatch(
    /Change the pause\? a test paused the calls until .*Z\. Your pause replaces it, with its reason, and ends earlier\./,
  )
  const later = wordsOf(await overview.question('pause', { minutes: '1440' }))
  expect(later).toContain('and ends later.')
  await collabSync.resume()

  await collabSync.removeSchedule()
  expect(await overview.words('/')).toContain(
    'No run of everything yet No nightly run is scheduled. Set a schedule',
  )
  await own.run({ scope: { organizationIds: [organizationId] } })
  expect(await overview.words('/')).toContain('No run of everything yet')
  await own.run()
  const words = await overview.words('/')
  expect(words).toMatch(/The last run of everything succeeded .* The tables are complete up to /)
  await collabSync.setSchedule({})
  expect(await overview.words('/')).toMatch(/No nightly run yet The tables are complete up to /)

  await collabSync.removeSchedule()
  expect(await isOffered()).toBe(true)
  await own.rows(`update sync.runs set status = 'running', finished_at = null`)
  expect(await isOffered()).toBe(false)
})
