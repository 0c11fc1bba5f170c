import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { version } from '../../src/base/version.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { addAccessToken } from '../../src/http/auth/access-tokens.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { buildCommand } from '../cli/built-command.ts'
import { onApp } from '../client/on-app.ts'
import { TABLES } from '../database/tables.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { CHANGES, ERASED, firstPlace, STORED_WORLD } from './stored-world.ts'
import { fileOf, loadDatabase, RELEASED, storeDatabase } from './stored-database.ts'

/**
 * Makes a database with rows in every table. `STORE=1 npm run soak -- upgrade/make` stores it as that of this version, before its
 * release. `upgrade.pg.test.ts` loads it in every later version.
 */

/** Tables that are empty in a database at rest. */
const EMPTY = [
  'collab_store.recent_threads',
  'sync.processes',
  'sync.rate_limit_slots',
  'sync.refresh_pages',
]

test('a database with rows in every table, loaded again, is the same', async () => {
  const live = await openLive('postgres', { world: STORED_WORLD })
  const { world, database, standIn } = live
  const [, failing = '', held = '', refused = ''] = world.organizationIds()
  await live.importCatalog()
  await live.run()
  CHANGES[0]?.(world)
  await live.run()
  CHANGES[1]?.(world)
  standIn.setFaults([
    { kind: 'unknown-error-code', match: { organizationId: failing, operation: 'comments' } },
    { kind: 'empty-list', match: { organizationId: held, operation: 'users' } },
    { kind: 'empty-list', match: { organizationId: refused, operation: 'users' } },
    { kind: 'poison', poison: ['missing-members', 'string-record'], match: { organizationId: firstPlace(world).organizationId } }, // prettier-ignore
  ])
  await live.run({ trigger: 'schedule' })

  await live.define({ REFRESH_BUDGET: '20' })
  const app = await live.openApp({
    NOTIFY_URL: 'slack+https://127.0.0.1:1/hook',
    REFRESH_BUDGET: '20',
    SYNC_CRON: '0 2 * * *',
  })
  const collabSync = onApp(app)
  const { items } = await collabSync.listHeld()
  const ofRefused = items.find(({ organizationId }) => organizationId === refused)
  await collabSync.refuseHeld(ofRefused?.heldId ?? 0, { reason: 'They are there.' })
  const rejected = (await collabSync.listRejectedRecords()).items
    .slice(1)
    .map(({ rejectedRecordId }) => rejectedRecordId)
  await collabSync.setAsideRejectedRecords({ ids: rejected }, { reason: 'Known.' })
  await eraseUser(database.pool, { userId: ERASED.userId, organizationId: null, reason: 'asked' })
  await addAccessToken(database.pool, 'dashboards', 'read', 'a test')
  await collabSync.setPace({ callsPerSecond: 500 })
  const until1h = new Date(Date.now() + 3_600_000).toISOString()
  await collabSync.pause({ until: until1h, reason: 'a release' })
  await collabSync.resume()
  await collabSync.setSchedule({ cron: '0 3 * * *', timeZone: 'Europe/Berlin' })
  const { organizationId, ...place } = firstPlace(world)
  const hinted = { organizationIds: [organizationId], ...place }
  const few = [...catalogLines(world)].slice(0, 2)
  await importCatalog(database.pool, listSource('short list', few), { prune: true })
  await collabSync.hint(hinted)
  const worker = await startWorker(app, jobs, { keepsSchedule: true })
  const rowsOf = async (name: string) => (await live.rows(`select from ${name} limit 1`)).length
  for (const name of [
    'sync.refresh_passes',
    'sync.refresh_hours',
    'sync.notification_deliveries',
    'sync.nightly_due',
  ])
    await until(`there are rows in ${name}`, async () => (await rowsOf(name)) > 0)
  await worker.stop()
  await collabSync.hint(hinted)
  await collabSync.startRun()

  // Noted only after a thousand records.
  await live.rows(
    `insert into sync.member_changes (object, path, change, types) values ('comment', '{mood}', 'new', '{string}')`,
  )

  const stored = await storeDatabase(database.pool)
  const empty = Object.keys(TABLES).filter((name) => stored.tables[name]?.length === 0)
  expect(empty.filter((name) => !EMPTY.includes(name))).toEqual([])
  const copy = await createEmptyDatabase()
  await loadDatabase(copy.pool, stored)
  expect(await storeDatabase(copy.pool)).toEqual(stored)
  // Each time it has other times and IDs.
  if (process.env['STORE'] !== '1') return
  if (RELEASED.has(version())) throw new Error(`The database of ${version()} is stored already.`)
  const { directory, run } = await buildCommand()
  const [state, out] = [join(directory, 'comments.state'), join(directory, 'comments.csv')]
  const exported = ['export', 'comments', '--state', state, '--out', out]
  expect(await run(exported, { DATABASE_URL: database.url })).toMatchObject({ code: 0 })
  const exportState = { ...JSON.parse(readFileSync(state, 'utf8')), file: '', modified: '' }
  writeFileSync(fileOf(version()), `${JSON.stringify({ ...stored, exportState })}\n`)
})
