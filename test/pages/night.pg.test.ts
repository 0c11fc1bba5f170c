import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeRun } from '../../src/cli/run-details.ts'
import { readRunDetails } from '../../src/client/run-reports.ts'
import { shortId, time } from '../../src/documents/format.ts'
import { thingPath } from '../../src/http/pages/things/thing-link.tsx'
import { openLive } from '../helpers/live.ts'
import type { Live, RunRow } from '../helpers/live.ts'
import { askPages, wordsOf } from './open-pages.ts'
import type { PagesAsked } from './open-pages.ts'

let live: Live
let pages: PagesAsked
let organizationId: string
let nightly: RunRow

// A first load, and a night in which one organization's comments fail.
beforeAll(async () => {
  live = await openLive('none')
  ;[organizationId] = [...live.world.organizationIds()] as [string]
  await live.importCatalog()
  pages = await askPages(await live.openApp())
  await live.run()
  live.standIn.setFaults([{ kind: 'forbidden', match: { organizationId, operation: 'comments' } }])
  nightly = await live.run({ trigger: 'schedule' })
})
afterAll(async () => {
  await pages.close()
  await live.close()
})

const words = async (path: string) => wordsOf(await pages.get(path))
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
    `Every fetch since ${time(row?.failing_since)} has failed. (run ${failed} )`,
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
  const { rows } = await live.database.pool.query(
    `select run_id from sync.runs where retry_of is null order by requested_at desc limit 1`,
  )
  await expectResolvedBy(rows[0].run_id)
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
