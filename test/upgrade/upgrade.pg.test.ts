import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { recoverLostItems } from '../../src/core/run/finish.ts'
import { verify } from '../../src/features/check/verify.ts'
import { jobs } from '../../jobs/index.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { buildCommand } from '../cli/built-command.ts'
import { onApp, onDatabase } from '../client/on-app.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import { openLive, settled } from '../helpers/live.ts'
import { fileOf, loadDatabase, RELEASED } from './stored-database.ts'
import type { StoredDatabase } from './stored-database.ts'
import { CHANGES, ERASED, STORED_WORLD } from './stored-world.ts'

/**
 * Each released version has a database here, stored once with rows in every table. It must migrate to this version, and
 * everything must continue: the run in progress, the feed of changes, an export by state, decisions, and what is erased.
 */

const command = await buildCommand()

test.each([...RELEASED])('a database of %s', async (version, hash) => {
  const text = readFileSync(fileOf(version), 'utf8')
  expect(createHash('sha256').update(text).digest('hex')).toBe(hash)
  const stored = JSON.parse(text) as StoredDatabase
  const database = await createEmptyDatabase()
  await loadDatabase(database.pool, stored)
  // Cursors of the server that it was stored on are refused, so this one is taken here, before the migration.
  const { cursor } = await onDatabase(database.pool).listChanges({ limit: 1 })
  const state = join(command.directory, `${version}.state`)
  writeFileSync(state, JSON.stringify({ ...stored.exportState, cursor }))
  const exported = (format: string) =>
    command.run(
      ['export', 'comments', '--format', 'ndjson', '--out', `${state}.${format}`, '--state', state],
      { DATABASE_URL: database.url },
    )

  const { applied } = await migrate(database.url)
  expect(applied.filter((name) => stored.migrations.includes(name))).toEqual([])
  const live = await openLive('postgres', {
    settings: { REFRESH_BUDGET: '20' },
    database,
    world: STORED_WORLD,
  })
  for (const change of CHANGES) change(live.world)
  const app = await live.openApp()
  const collabSync = onApp(app)
  const held = (await collabSync.listHeld()).items
  expect(held.length).toBeGreaterThan(0)
  expect(await exported('first')).toMatchObject({ code: 0 })
  const worker = await startWorker(app, jobs, { keepsSchedule: false })
  await recoverLostItems(app.sync, (items) => app.deliver(items))
  const [open] = (await live.rows(`select run_id from sync.runs where finished_at is null`)) as { run_id: string }[] // prettier-ignore
  expect(await settled(database, open?.run_id ?? '')).toMatchObject({ status: 'succeeded' })
  await worker.stop()
  const verified = await verify((await live.openApp()).sync)
  expect(verified).toMatchObject({ differences: [], failures: [] })

  expect(await exported('second')).toMatchObject({ code: 0 })
  const changes = await collabSync.listChanges({ cursor })
  expect(changes.items.length).toBeGreaterThan(0)
  const { stdout } = await command.run(['doctor'], { ...live.environment, DATABASE_URL: database.url }) // prettier-ignore
  expect(stdout).toMatch(/^ok +tables +have this version$/m)
  const dumped = JSON.stringify(await live.rows('select * from collab.comments'))
  expect(dumped).not.toContain(ERASED.email)
})
