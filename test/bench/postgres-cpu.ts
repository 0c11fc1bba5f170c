import { readFileSync, readdirSync } from 'node:fs'
import type { Servers } from './servers.ts'

const TICKS_A_SECOND = 100

/**
 * Seconds of CPU that PostgreSQL has used since it started: sessions, those that have ended included, and what writes WAL. Its
 * checkpointer is left out.
 */
export async function postgresCpuS({ admin }: Pick<Servers, 'admin'>): Promise<number> {
  const { rows } = await admin.query(`
    select pg_backend_pid() as own,
      (select pid from pg_stat_activity where backend_type = 'checkpointer') as checkpointer`)
  const { own, checkpointer } = rows[0] as { own: number; checkpointer: number }
  const postmaster = processOf(own)?.parent
  const main = processOf(postmaster ?? 0)
  if (!main) throw new Error('The CPU of PostgreSQL can only be read from /proc.')
  const ticks = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== checkpointer)
    .map(processOf)
    .filter((one) => one?.parent === postmaster)
    .reduce((sum, one) => sum + (one?.ticks ?? 0), main.ticks + main.endedChildrenTicks)
  return ticks / TICKS_A_SECOND
}

/** Null where there is no such process. */
function processOf(pid: number) {
  try {
    const [, rest = ''] = /\(.*\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    // From `state`, the third field of proc(5), on.
    const fields = rest.split(' ').map(Number) as [number, number]
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11)
    return {
      parent: fields[1],
      ticks: user + system,
      endedChildrenTicks: endedUser + endedSystem,
    }
  } catch {
    return null
  }
}
