import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/worker/app.ts'
import type { RunningHttp } from '../../src/http/start-http.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { QUEUE_KINDS, isMissing, openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, serveApp } from './served.ts'

const POSTS = 1_000
const SPREAD_OVER_MS = 10_000
const NARROW = { seed: 7, organizations: 1, documentsPerOrganization: 1, annotationsPerDocument: 1 }

describe.each(QUEUE_KINDS)('a thousand posts in ten seconds, with the queue on %s', (queue) => {
  let live: Live
  let app: App
  let http: RunningHttp

  beforeEach(async (context) => {
    if (isMissing(queue)) return context.skip()
    live = await openLive(queue, { world: NARROW })
    await live.importCatalog()
    app = await live.openApp()
    http = await serveApp(app)
  })
  afterEach(async () => {
    await http?.stop()
    await live?.close()
  })

  test('are taken or refused with 429, and every one that was taken is worked', async () => {
    const [organizationId = ''] = live.world.organizationIds()
    const body = JSON.stringify({
      scope: { organizationIds: [organizationId], operations: ['users'] },
    })
    // Patient, because the server shares a process with it, and the machine with other tests.
    const patience = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 170_000 } }
    const pool = new Pool(http.url, { connections: 100, ...patience })
    const post = async (index: number) => {
      await sleep((index * SPREAD_OVER_MS) / POSTS)
      const headers = { ...BEARER, 'content-type': 'application/json' }
      const {
        statusCode,
        headers: told,
        body: answer,
      } = await pool.request({
        path: '/v1/runs',
        method: 'POST',
        headers: { ...headers, 'idempotency-key': `post ${index}` },
        body,
      })
      const { runId } = (await answer.json()) as { runId?: string }
      return { status: statusCode, runId, retryAfter: told['retry-after'] }
    }
    const answers = await Promise.all(Array.from({ length: POSTS }, (_, index) => post(index)))
    await pool.close()
    const taken = answers.filter(({ status }) => status === 202)
    const refused = answers.filter(({ status }) => status === 429)
    expect(taken.length + refused.length).toBe(POSTS)
    expect(taken.length).toBeGreaterThan(0)
    for (const { retryAfter } of refused) expect(Number(retryAfter)).toBeGreaterThan(0)

    const { rows } = await live.database.pool.query('select run_id from sync.runs')
    expect(rows.map((row) => row.run_id).toSorted()).toEqual(
      taken.map(({ runId }) => runId).toSorted(),
    )
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    try {
      await expect
        .poll(() => countByStatus(live), { timeout: 170_000, interval: 200 })
        .toEqual({ succeeded: taken.length })
    } finally {
      await worker.stop()
    }
  })
})

async function countByStatus({ database }: Live): Promise<Record<string, number>> {
  const { rows } = await database.pool.query('select status, count(*) from sync.runs group by 1')
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}
