import { cpus, loadavg, totalmem } from 'node:os'
import type { Servers } from './servers.ts'

/** One line: where and when figures are measured. The load is that of other programs, which make every figure worse. */
export async function describeMachine({ admin, redisVersion }: Servers): Promise<string> {
  const { rows } = await admin.query('show server_version')
  const processor = cpus()[0]?.model ?? 'unknown'
  const memoryGb = Math.round(totalmem() / 1e9)
  const load = loadavg()[0]?.toFixed(2)
  const at = new Date().toISOString().slice(0, 16)
  return `${processor}, ${cpus().length} cores, ${memoryGb} GB; Node ${process.version}, PostgreSQL ${rows[0].server_version}, Redis ${redisVersion}; load ${load}; ${at}Z`
}
