import { Queue, createPostgresBackend, withBackend } from 'bullmq'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { App } from '../../src/worker/app.ts'
import { NIGHTLY } from '../../src/core/queue/schedule.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { jobs } from '../../jobs/index.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { latch } from '../helpers/latch.ts'
import { QUEUE_KINDS, isMissing, openLoaded, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'

describe.each(QUEUE_KINDS)('the main job with its queue on %s', (kind) => {
  let live: Live
  let app: App
  let queue: Queue

  beforeAll(async () => {
    if (isMissing(kind)) return
    live = await openLoaded(kind)
    app = await live.openApp()
    queue = openQueue(app)
  })
  afterAll(async () => {
    await queue?.close()
  })

  /** Holds back every answer from now on, until the test lets them go. */
  function holdAnswers(): () => void {
    const { opened, open } = latch()
    live.standIn.setFaults([{ kind: 'held', until: opened }])
    return open
  }

  async function failureOf(name: string, data: object): Promise<string> {
    const { id = '' } = await queue.add(name, data, { attempts: 5 })
    const failed = await until(`${name} failed`, async () => {
      const job = await queue.getJob(id)
      return job?.failedReason !== undefined && (await job.isFailed()) && job
    })
    expect(failed.attemptsMade).toBe(1)
    return failed.failedReason
  }

  test.skipIf(isMissing(kind))(
    'a program that enqueues what there is not, or wrong data, is told so at once, and nothing starts',
    async () => {
      await live.openWorker()
      for (const name of ['constructor', '__proto__', 'no-such-job'])
        expect(await failureOf(name, {})).toBe(`There is no job named "${name}".`)
      expect(await failureOf('start-run', { scope: { organizationId: 'a' } })).toContain(
        'organizationId',
      )
      expect((await live.database.pool.query('select from sync.runs')).rowCount).toBe(0)
    },
  )

  test.skipIf(isMissing(kind))(
    'a worker that is stopped gives back what it holds of a run, and another one goes on with it',
    async () => {
      const start = () => live.openWorker({ SYNC_CONCURRENCY: '2' })
      const letGo = holdAnswers()
      const { id = '' } = await queue.add('start-run', {})
      const first = await start()
      await until('its calls are held', () => live.standIn.calls.inFlight === 2)
      const second = await start()
      const stopped = first.stop()
      letGo()
      await stopped
      const { runId } = await until(
        'the job returned',
        async () => (await queue.getJob(id))?.returnvalue as { runId: string } | null | undefined,
      )
      const run = await settled(live.database, runId)
      await second.stop()
      expect(run).toMatchObject({ status: 'succeeded', trigger: 'api' })
      expect(run['calls']).toBe(live.standIn.calls.total)
      await expectTablesEqual(live.database, live.world)
    },
  )

  test.skipIf(isMissing(kind))(
    'a nightly run that comes due while one is under way does not start a second',
    async () => {
      const letGo = holdAnswers()
      live.standIn.calls.reset()
      const worker = await startWorker(await live.openApp(), jobs, { keepsSchedule: true })
      const comesDue = async () =>
        (await queue.getDelayed()).find(({ name }) => name === NIGHTLY)?.promote()
      await comesDue()
      await until('the service was called', () => live.standIn.calls.total > 0)
      await comesDue()
      const refused = await until('the next one was refused', async () =>
        (await queue.getFailed()).find(({ name }) => name === NIGHTLY),
      )
      expect(refused.failedReason).toBe('A run by schedule is under way already.')
      const runs = await live.rows(`select run_id from sync.runs where trigger = 'schedule'`)
      expect(runs).toHaveLength(1)
      letGo()
      expect(await settled(live.database, runs[0].run_id)).toMatchObject({ status: 'succeeded' })
      expect((await queue.getJobScheduler(NIGHTLY))?.pattern).toBe('0 2 * * *')
      await worker.stop()
    },
  )
})

/** BullMQ as another program would open it, with nothing of ours but the queue's name. */
function openQueue({ queue: { place } }: App): Queue {
  if (place.kind === 'redis')
    return new Queue('collab-sync', { connection: { url: place.url }, prefix: place.prefix })
  const OnPostgres = withBackend(createPostgresBackend).Queue
  return new OnPostgres('collab-sync', { connection: place.url }) as unknown as Queue
}
