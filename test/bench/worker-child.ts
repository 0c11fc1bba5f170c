// A worker of its own that answers from memory: several of them share the cores with PostgreSQL and nobody else.
import { openApp } from '../../src/worker/app.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { createLog } from '../../src/base/log.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { jobs } from '../../jobs/index.ts'
import { MemoryApi } from './memory-api.ts'
import { worldOf } from './worlds.ts'

const settings = readSettings(process.env, {
  need: ['service', 'database', 'queue'],
  directory: '/nonexistent',
})
const databaseUrl = settings.databaseUrl as string
const store = {
  databaseUrl,
  database: openDatabase(databaseUrl, { max: 12, applicationName: 'worker' }),
  isNew: false,
  isEmbedded: false,
  queuePlace:
    settings.redisUrl === undefined
      ? ({ kind: 'postgres', url: databaseUrl } as const)
      : ({ kind: 'redis', url: settings.redisUrl, prefix: settings.queuePrefix } as const),
  close: async () => {},
}
const api = new MemoryApi()
api.prepare(
  worldOf(JSON.parse(process.env['BENCH_WORLD'] ?? '{}')),
  Number(process.env['BENCH_ORDER']),
)
const app = await openApp(settings, store, createLog('warn'))
Object.assign(app.sync, { collabApi: api })
const worker = await startWorker(app, jobs, { keepsSchedule: false })
console.log('ready')
process.stdin.resume().once('end', async () => {
  await worker.stop()
  await app.close()
  await store.database.end()
})
