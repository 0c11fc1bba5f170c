import { cpus, loadavg, totalmem } from 'node:os'
import type pg from 'pg'

/** Where and when figures were measured; ratios travel between machines, times do not. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly node: string
  readonly postgres: string
  readonly redis: string
  /** Load of the last minute before the first measurement: others at work make figures worse. */
  readonly load: number
  readonly at: string
}

export async function describeMachine(client: pg.Client, redis: string): Promise<Machine> {
  const { rows } = await client.query('show server_version')
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1e9),
    node: process.version,
    postgres: rows[0].server_version,
    redis,
    load: Number(loadavg()[0]?.toFixed(2)),
    at: new Date().toISOString(),
  }
}

export function machineLine({
  processor,
  cores,
  memoryGb,
  node,
  postgres,
  redis,
  load,
  at,
}: Machine): string {
  return `${processor}, ${cores} cores, ${memoryGb} GB; Node ${node}, PostgreSQL ${postgres}, Redis ${redis}; load ${load}; ${at.slice(0, 16)}Z`
}
