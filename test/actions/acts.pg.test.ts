import { beforeEach, expect, test } from 'vitest'
import { removeFromCatalog } from '../../src/features/catalog/change.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import type { CatalogSource } from '../../src/features/catalog/lines.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { addAccessToken } from '../../src/http/auth/access-tokens.ts'
import { BY_SCHEDULE } from '../../src/features/catalog/catalog-change.ts'
import { decideImport } from '../../src/features/catalog/held-import.ts'
import { resolveRejected } from '../../src/client/waiting.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { onApp } from '../client/on-app.ts'

/** Each act has one row, in its transaction. */

let live: Live
let ann: CollabSync
let organizationId: string

beforeEach(async () => {
  live = await openLoaded('none')
  await live.run()
  ;[organizationId = ''] = live.world.organizationIds()
  await query('truncate sync.actions')
  ann = onApp(await live.openApp(), { by: 'ann' })
})

async function query(text: string) {
  return await live.rows(text)
}

async function listed(): Promise<string[]> {
  const rows = await query(
    `select concat_ws(' | ', by, action, run_id, target, reason) as text from sync.actions order by action_id`,
  )
  return rows.map(({ text }) => text)
}

/** A run that held the listing of an organization. */
async function runWithHeld() {
  live.standIn.setFaults([{ kind: 'empty-list', match: { operation: 'users', organizationId } }])
  const { run_id: runId } = await live.run()
  const { items } = await ann.listHeld({ runId })
  const [own, document] = ['organization', 'document'].map((kind) =>
    items.find((each) => each.kind === kind),
  )
  if (own === undefined || document === undefined) throw new Error('nothing is held')
  return { runId, own, document }
}

test('decisions on held removals say who, of what and why, at the run', async () => {
  const { runId, own, document } = await runWithHeld()
  await ann.refuseHeld(own.heldId, { reason: 'they moved' })
  await ann.acceptHeld(document.heldId)
  await expect(ann.acceptHeld(document.heldId)).rejects.toThrow(/has no open held removal/)
  const where = `${organizationId} / ${document.documentId}`
  expect(await listed()).toEqual([
    `ann | held_refused | ${runId} | ${organizationId}: ${own.usersMissing} users | they moved`,
    `ann | held_accepted | ${runId} | ${where}: ${document.usersMissing} user${document.usersMissing === 1 ? '' : 's'}`,
  ])
  expect(await ann.getRun(runId)).toMatchObject({
    requestedBy: null,
    actions: [
      { by: 'ann', action: 'held_accepted', reason: null },
      { by: 'ann', action: 'held_refused', reason: 'they moved' },
    ],
  })
  expect((await ann.listActions({ runId })).items).toHaveLength(2)
})

test('rejected records that are set aside and restored say who and why; again is no act', async () => {
  live.standIn.setFaults([{ kind: 'poison', poison: ['string-record'] }])
  const { run_id: runId } = await live.run()
  const [record] = (await ann.listRejectedRecords()).items
  const choice = { ids: [record?.rejectedRecordId as number] }
  for (let time = 0; time < 2; time += 1)
    await ann.setAsideRejectedRecords(choice, { reason: 'known' })
  for (let time = 0; time < 2; time += 1)
    await resolveRejected(live.database.pool, choice, { by: 'bob', reason: null })
  await ann.setAsideRejectedRecords({ runId }, { reason: 'all of it' })
  expect(await listed()).toEqual([
    `ann | records_set_aside | ${choice.ids[0]} | known`,
    `bob | records_restored | ${choice.ids[0]}`,
    `ann | records_set_aside | ${runId} | all of it`,
  ])
})

test('an import says who made it, and a held one who decided; that of the nightly run is no act', async () => {
  const { pool } = live.database
  const by = { prune: true, requestedBy: 'ann' }
  const { held } = await importCatalog(pool, linesOf('cut.csv', organizationId), by)
  expect(held).not.toBeNull()
  expect(await listed()).toEqual([])
  const importId = held?.importId as number
  await decideImport(pool, { importId, state: 'refused', decidedBy: 'bob', reason: 'cut off' })
  const more = linesOf('more.csv', organizationId, 'one-more')
  await importCatalog(pool, more, { prune: false, requestedBy: 'ann' })
  await importCatalog(pool, more, { prune: false, requestedBy: 'ann' })
  const nightly = { prune: false, requestedBy: BY_SCHEDULE }
  await importCatalog(pool, linesOf('CATALOG_SQL', 'two-more'), nightly)
  await importCatalog(pool, linesOf('tried.csv', 'three-more'), {
    prune: false,
    isDryRun: true,
    requestedBy: 'ann',
  })
  expect(await listed()).toEqual([
    `bob | import_refused | import ${importId}: 0 removed | cut off`,
    'ann | catalog_changed | more.csv: 1 added, 0 removed',
  ])
})

test('runs that nobody asks for are no acts', async () => {
  await live.run({ trigger: 'schedule' })
  const documentId = [...live.world.documentIds(organizationId)][0] ?? ''
  await ann.hint({ organizationIds: [organizationId], documentId })
  expect(await listed()).toEqual([])
})

test('what cannot be listed is not done', async () => {
  const { own } = await runWithHeld()
  await query(`update collab_store.definitions set refresh_budget = null`)
  const { runId: waiting } = await ann.startRun()
  await query('alter table sync.actions add check (false) not valid')
  const pool = live.database.pool
  const state = () =>
    query(
      `select (select count(*) from sync.runs) as runs, (select count(*) from sync.schedule) as schedules,
        (select count(*) from sync.access_tokens) as tokens, (select count(*) from sync.catalog_imports) as imports,
        (select count(*) from sync.held where resolved_at is null) as held,
        (select count(*) from sync.runs where stopping is not null) as stopping,
        (select sum(scopes) from collab_store.batches) as scopes`,
    )
  const before = await state()
  const acts = [
    () => ann.startRun(),
    () => ann.cancelRun(waiting),
    () => ann.setSchedule({ cron: '0 3 * * *' }),
    () => ann.addToCatalog({ lines: [{ organizationId: 'new' }] }),
    () => removeFromCatalog(pool, [{ organizationId }], { source: 'a test', requestedBy: 'ann' }),
    () => ann.acceptHeld(own.heldId),
    () => addAccessToken(pool, 'ci', 'read', 'ann'),
  ]
  for (const act of acts) await expect(act()).rejects.toThrow(/violates check constraint/)
  expect(await state()).toEqual(before)
})

function linesOf(name: string, ...organizationIds: string[]): CatalogSource {
  return listSource(
    name,
    organizationIds.map((id) => ({ organizationId: id })),
  )
}
