import { expect, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { version } from '../../src/base/version.ts'
import { buildCommand } from '../cli/built-command.ts'
import { reportServe } from '../../src/worker/process.ts'
import { openLive } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'
import { askPages } from '../pages/open-pages.ts'
import { onApp } from './on-app.ts'

const command = await buildCommand()

test('live workers and serves are listed with their settings, and what differs is marked', async () => {
  const live = await openLive('postgres')
  const app = await live.openApp({
    SYNC_CONCURRENCY: '3',
    NOTIFY_SECRET: 'whsec_c2VjcmV0LTEyMzQ1Njc4OTAxMjM0NTY3ODkw',
  })
  const collabSync = onApp(app)
  const list = async () => (await collabSync.listWorkers()).items
  expect(await list()).toEqual([])
  const worker = await live.openWorker({ SYNC_CONCURRENCY: '3' })
  const { settings } = app
  const serve = reportServe(live.database.pool, settings, createLog('silent'))
  const [first, second] = await until('both are listed', async () => {
    const found = await list()
    return found.length === 2 && found
  })
  expect([first?.kind, second?.kind]).toEqual(['run', 'serve'])
  expect(first).toMatchObject({
    version: version(),
    callsInFlight: 0,
    callsLimit: 3,
    problem: null,
  })
  const ofServe = new Map(second?.settings.map((setting) => [setting.name, setting]))
  expect(ofServe.get('SYNC_CONCURRENCY')).toMatchObject({ value: '3', origin: 'environment' })
  expect(ofServe.get('NOTIFY_SECRET')).toMatchObject({ value: 'set', origin: 'environment' })
  expect(ofServe.get('SYNC_RETRIES')).toMatchObject({ value: '5', origin: 'default' })
  expect(ofServe.get('SYNC_CRON')).toMatchObject({ value: '0 2 * * *', origin: 'default' })
  expect(JSON.stringify(await list())).not.toContain('c2VjcmV0')

  await collabSync.setSchedule({ cron: '30 1 * * *' })
  const [{ settings: stored = [] } = {}] = await list()
  expect(stored.find(({ name }) => name === 'SYNC_CRON')).toMatchObject({
    value: '30 1 * * *',
    origin: 'stored',
  })

  // A second worker with another setting and another version.
  await live.database.pool.query(`
    insert into sync.processes (worker_id, kind, version, started_at, heartbeat_at, calls_in_flight, calls_limit, problem, configuration)
    select 'other:1:0', 'worker', '0.0.9', now(), now(), 1, 9, 'The queue is away.',
      '[{"name":"SYNC_CONCURRENCY","value":"9","origin":".env","isHidden":false},
        {"name":"SYNC_RETRIES","value":"5","origin":"default","isHidden":true}]'`)
  const pages = await askPages(app)
  const words = await pages.words('/workers')
  expect(words).toContain(`Processes have different versions: 0.0.9, ${version()}.`)
  expect(words).toContain('The queue is away.')
  expect(words).toMatch(/SYNC_CONCURRENCY ! 3 environment .* SYNC_CONCURRENCY ! 9 \.env other:1:0/)
  expect(words).toContain('SYNC_RETRIES 5 default; .env has a value that an empty variable hides')
  const { stdout } = await command.run(['status', '--workers'], live.environment)
  expect(stdout).toMatch(/^ *other:1:0 +worker +0\.0\.9 .* 1 of 9 +The queue is away\.$/m)
  expect(stdout).toMatch(/^ *SYNC_CONCURRENCY +9 +\.env +other:1:0$/m)
  expect(stdout).not.toContain('REDIS_URL')
  const { document } = await command.json(['status', '--workers'], live.environment)
  expect(document.items).toHaveLength(3)
  expect((await command.run(['status', 'x', '--workers'], live.environment)).code).toBe(2)

  await Promise.all([worker.stop(), serve.stop()])
  await live.rows(`update sync.processes set heartbeat_at = now() - interval '31 seconds'`)
  expect(await list()).toEqual([])
})
