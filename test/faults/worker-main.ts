import { jobs } from '../../jobs/index.ts'
import { openApp } from '../../src/worker/app.ts'
import { createLog } from '../../src/base/log.ts'
import { requireRedis } from '../../src/core/queue/backend.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { openStore } from '../../src/worker/store.ts'
import { startWorker } from '../../src/worker/worker.ts'

/** A worker as a process of its own, for tests that kill it; see `rig.ts`. */
const settings = readSettings(process.env, { need: ['service', 'database', 'queue'] })
const log = createLog(settings.logLevel)
const store = await openStore(settings, { log, applicationName: 'worker' })
await requireRedis(store.queuePlace)
const opened = await openApp(settings, store, log)
// So that a test of deaths does not wait for what six heartbeats take.
const deadAfterS = Number(process.env['TEST_DEAD_AFTER_S'] ?? opened.sync.deadAfterS)
const app = { ...opened, sync: { ...opened.sync, deadAfterS } }
const keepsSchedule = process.env['TEST_KEEPS_SCHEDULE'] === '1'
const worker = await startWorker(app, jobs, { keepsSchedule })
process.once('SIGTERM', () => {
  void worker
    .stop()
    .then(() => app.close())
    .then(() => store.close())
})
process.stdout.write('working\n')
