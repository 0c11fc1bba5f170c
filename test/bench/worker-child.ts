// A worker process with responses from memory: several of them share the cores with PostgreSQL and Redis only.
import { startWorker } from '../../src/worker/worker.ts'
import { jobs } from '../../jobs/index.ts'
import { MemoryApi } from './memory-api.ts'
import { openProgram } from './program.ts'
import { worldOf } from './worlds.ts'

const { BENCH_WORLD = '', BENCH_ORDER } = process.env
const api = new MemoryApi()
api.prepare(worldOf(JSON.parse(BENCH_WORLD)), Number(BENCH_ORDER))
const { app, close } = await openProgram(process.env, api)
const worker = await startWorker(app, jobs, { keepsSchedule: false })
console.log('ready')
process.stdin.resume().once('end', async () => {
  await worker.stop()
  await close()
})
