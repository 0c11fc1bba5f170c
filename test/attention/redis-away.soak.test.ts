import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { requireRunDetails } from '../../src/client/runs.ts'
import { buildCommand } from '../cli/built-command.ts'
import { isMissing, openLoaded, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { openOwnRedis } from '../helpers/own-redis.ts'
import type { OwnRedis } from '../helpers/own-redis.ts'
import { until } from '../helpers/until.ts'
import { askPages, wordsOf } from '../pages/open-pages.ts'

/** A Redis that stops in the middle of a run: the pages, `status`, `/v1` and SQL say the same. */

let redis: OwnRedis
let live: Live

beforeAll(async () => {
  if (isMissing('redis')) return
  redis = await openOwnRedis()
  const settings = { REDIS_URL: redis.url, QUEUE_PREFIX: 'away', SYNC_RATE_LIMIT: '20' }
  live = await openLoaded('postgres', { settings })
})
afterAll(async () => {
  redis?.wake()
  await live?.close()
  await redis?.close()
})

test.skipIf(isMissing('redis'))(
  'Redis stops during a run: each place names Redis, and counts no call that was not sent',
  async () => {
    const worker = await live.openWorker()
    const command = await buildCommand()
    const pages = await askPages(worker.app)
    const runId = await worker.startRun()
    await until('calls were sent', () => live.standIn.calls.total > 5)
    redis.freeze()
    await until('no call is in flight', () => {
      const { permits, inFlight } = worker.app.sync.collabApi.concurrency()
      return permits > 0 && inFlight === 0 && live.standIn.calls.inFlight === 0
    })
    const sent = live.standIn.calls.total
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 5_000)
    const run = await until('the wait is reported', async () => {
      const found = await requireRunDetails(live.database.pool, runId)
      return found.waiting.some(({ kind }) => kind === 'rate_limit_store') && found
    })
    const says = /Waiting since \S+ \S+: Redis does not respond\. It stores the rate limit that all/
    expect(run.waiting.map(({ sentence }) => sentence)).toEqual([expect.stringMatching(says)])
    const page = wordsOf(await pages.get(`/runs/${runId}`))
    const overview = wordsOf(await pages.get('/'))
    const status = await command.run(['status'], live.environment)
    for (const text of [page, status.stdout]) expect(text).toMatch(says)
    expect(status.stdout).toContain('1 running: 0 calls in flight of at most 16')
    const problem = '1 worker cannot work.'
    for (const text of [overview, status.stdout]) expect(text).toContain(problem)
    const attention = JSON.parse((await pages.get('/v1/attention')).text)
    const blocked = await live.rows(`select kind, sentence, words from sync.attention`)
    for (const rows of [attention.items, blocked])
      expect(rows).toMatchObject([
        { kind: 'worker_blocked', sentence: problem, words: expect.stringContaining('in Redis: ') },
      ])
    const queues = await pages.get('/queues')
    expect([queues.status, wordsOf(queues)]).toEqual([
      503,
      expect.stringContaining('The queue in Redis does not respond'),
    ])
    expect(live.standIn.calls.total).toBe(sent)
    vi.restoreAllMocks()
    redis.wake()
    expect(await settled(live.database, runId)).toMatchObject({ status: 'succeeded' })
    await worker.stop()
  },
)
