import { Queue, createPostgresBackend, withBackend } from 'bullmq'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { NIGHTLY } from '../../src/queue/schedule.ts'
import { startWorker } from '../../src/worker.ts'
import { jobs } from '../../jobs/index.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { QUEUE_KINDS, isMissing, openLive, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { until } from '../helpers/until.ts'

describe.each(QUEUE_KINDS)('the main job with its queue on %s', (queue) => {
  let live: Live

  beforeEach(async (context) => {
    if (isMissing(queue)) return context.skip()
    live = await openLive(queue)
    await live.importCatalog()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()))
    await live?.close()
  })

  test('a full run makes the tables equal to what the service serves, by documented calls only', async () => {
    const run = await live.run()
    expect(run).toMatchObject({ status: 'succeeded', problem: null })
    await expectTablesEqual(live.database, live.world)
    expect(run['calls']).toBe(live.standIn.calls.total)
    expect(run['organizations_done']).toBe(live.world.totals().organizations)
    expect(run['documents_done']).toBe(live.world.totals().documents)
    expect(run['annotations_done']).toBe(live.world.totals().annotations)
    expect(live.standIn.violations).toEqual([])
  })

  test('two workers share a run, and one that is stopped gives back what it holds', async () => {
    live.standIn.latencyMs = 25
    const apps = [
      await live.openApp({ SYNC_CONCURRENCY: '2' }),
      await live.openApp({ SYNC_CONCURRENCY: '2' }),
    ]
    const workers = await Promise.all(
      apps.map((app) => startWorker(app, jobs, { keepsSchedule: false })),
    )
    const runId = await enqueueByProgram(apps[0] as App, {})
    await until('the service was called', () => live.standIn.calls.total > 30)
    await workers[0]?.stop()
    const run = await settled(live.database, runId)
    await workers[1]?.stop()
    expect(run).toMatchObject({ status: 'succeeded', trigger: 'api' })
    expect(run['calls']).toBe(live.standIn.calls.total)
    await expectTablesEqual(live.database, live.world)
  })

  test('a program that enqueues wrong data is told the member, and nothing starts', async () => {
    const app = await live.openApp()
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    const job = await bullQueue(app).add('start-run', { scope: { organizationId: 'a' } })
    await until('the job ended', async () => (await job.getState()) === 'failed')
    expect((await bullQueue(app).getJob(job.id as string))?.failedReason).toContain(
      'organizationId',
    )
    const { rows } = await live.database.pool.query('select count(*)::int as runs from sync.runs')
    expect(rows[0].runs).toBe(0)
    await worker.stop()
  })

  test('a job with a name that there is not fails at once with a sentence', async () => {
    const app = await live.openApp()
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    const requests = bullQueue(app)
    for (const name of ['constructor', 'toString', '__proto__', 'no-such-job']) {
      const job = await requests.add(name, {}, { attempts: 5 })
      await until('the job ended', async () =>
        ['failed', 'completed'].includes(await job.getState()),
      )
      const ended = await requests.getJob(job.id as string)
      expect(ended?.failedReason).toBe(`There is no job named "${name}".`)
      expect(ended?.attemptsMade).toBe(1)
    }
    await worker.stop()
  })

  test('a nightly run that comes due while one is under way does not start a second', async () => {
    let letGo = (): void => {}
    const free = new Promise<void>((resolve) => (letGo = resolve))
    live.standIn.setFaults([{ kind: 'held', until: free }])
    const app = await live.openApp({ SYNC_CRON: '* * * * * *' })
    const worker = await startWorker(app, jobs, { keepsSchedule: true })
    await until('the service was called', () => live.standIn.calls.total > 0)
    const { rows } = await live.database.pool.query('select run_id from sync.runs')
    expect(rows).toHaveLength(1)
    const jobQueue = bullQueue(app)
    const refused = await until(
      'the next one came due',
      async () => (await jobQueue.getFailed())[0],
    )
    expect([refused.name, refused.failedReason]).toEqual([
      NIGHTLY,
      'A run by schedule is under way already.',
    ])
    expect((await live.database.pool.query('select from sync.runs')).rowCount).toBe(1)
    letGo()
    expect(await settled(live.database, rows[0].run_id)).toMatchObject({
      status: 'succeeded',
      trigger: 'schedule',
    })
    expect((await jobQueue.getJobScheduler(NIGHTLY))?.pattern).toBe('* * * * * *')
    await worker.stop()
  })
})

const opened: Queue[] = []

/** BullMQ as another program would open it, with nothing of ours but the queue's name. */
function bullQueue(app: App): Queue {
  const { place } = app.queue
  const queue =
    place.kind === 'redis'
      ? new Queue('collab-sync', { connection: { url: place.url }, prefix: place.prefix })
      : (new (withBackend(createPostgresBackend).Queue)('collab-sync', {
          connection: place.url,
        }) as unknown as Queue)
  opened.push(queue)
  return queue
}

async function enqueueByProgram(app: App, data: object): Promise<string> {
  const queue = bullQueue(app)
  const job = await queue.add('start-run', data)
  let runId: string | undefined
  await until('the job returned', async () => {
    const found = await queue.getJob(job.id as string)
    runId = (found?.returnvalue as { runId?: string } | null)?.runId
    return runId !== undefined
  })
  return runId as string
}
