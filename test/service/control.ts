import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomChanges } from '../../src/demo/random-changes.ts'
import type { ChangeKind } from '../../src/demo/random-changes.ts'
import { sendJson } from '../../src/demo/stand-in.ts'
import type { FaultRule } from './faults.ts'
import type { StandIn } from './stand-in.ts'

/** What may be posted to the control address, any of it at once. */
export interface ControlOrder {
  changes?: { count: number; seed: number; kinds?: ChangeKind[] }
  latencyMs?: number
  latencyJitterMs?: number
  shuffleRecords?: boolean
  /** Rules without functions in them. */
  faults?: FaultRule[]
  authToken?: string
  /** Starts counting calls afresh. */
  resetCalls?: true
}

/**
 * Serves the switches of a stand-in on a port of their own, for tests and benchmarks that run it
 * as another process. `GET /` tells the counts, `GET /log` the newest
 * calls, `POST /` takes a ControlOrder and tells the counts and the changes made.
 */
export async function startControl(
  standIn: StandIn,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => void control(standIn, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function control(
  standIn: StandIn,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'GET') {
    const answer = request.url === '/log' ? standIn.calls.log : stats(standIn)
    return sendJson(response, 200, JSON.stringify(answer))
  }
  try {
    const body = (await request.toArray()) as Buffer[]
    const order = JSON.parse(Buffer.concat(body).toString()) as ControlOrder
    const changes = follow(standIn, order)
    sendJson(response, 200, JSON.stringify({ ...stats(standIn), changes }))
  } catch (error) {
    sendJson(response, 400, JSON.stringify({ error: String(error) }))
  }
}

function follow(standIn: StandIn, order: ControlOrder) {
  const { changes, faults, resetCalls, ...settings } = order
  for (const name of Object.keys(settings)) {
    if (!SETTINGS.has(name)) throw new Error(`no such switch: ${name}`)
  }
  Object.assign(standIn, settings)
  if (faults !== undefined) standIn.setFaults(faults)
  if (resetCalls) standIn.calls.reset()
  return changes ? randomChanges(standIn.world, changes) : []
}

const SETTINGS: ReadonlySet<string> = new Set([
  'latencyMs',
  'latencyJitterMs',
  'shuffleRecords',
  'authToken',
])

function stats({ calls, latencyMs, latencyJitterMs }: StandIn) {
  const { total, byOperation, byFault, inFlight, firstAtMs, lastAtMs } = calls
  const cpu = process.cpuUsage()
  return {
    total,
    byOperation,
    byFault,
    inFlight,
    firstAtMs,
    lastAtMs,
    violationCount: calls.violationCount,
    violations: calls.violations.slice(0, 20),
    latencyMs,
    latencyJitterMs,
    /** Of this process since it started, so that a benchmark can tell whose core was busy. */
    cpuMs: (cpu.user + cpu.system) / 1000,
  }
}
