import { randomBytes } from 'node:crypto'
import { Writable } from 'node:stream'
import pg from 'pg'
import { expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { openApp } from '../../src/worker/app.ts'
import type { App } from '../../src/worker/app.ts'
import { ATTEMPTS_MAX } from '../../src/core/run/claim.ts'
import { requireRunDetails } from '../../src/client/runs.ts'
import { describeRun } from '../../src/cli/run-details.ts'
import { readWaits } from '../../src/client/run-reports.ts'
import { readAttention } from '../../src/client/waiting.ts'
import * as workers from '../../src/core/database/statements/workers.ts'
import { planPage } from '../../src/core/run/start.ts'
import type { AttentionByKind } from '../../src/schemas/attention.ts'
import { time } from '../../src/schemas/format.ts'
import { createLog } from '../../src/base/log.ts'
import type { ServiceSettings } from '../../src/settings/settings.ts'
import type { Settings } from '../../src/settings/table.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { urlWith } from '../helpers/database.ts'
import { openLoaded, settled, startOn } from '../helpers/live.ts'
import { startRelay } from '../helpers/relay.ts'
import { until } from '../helpers/until.ts'
import { askPages, wordsOf } from '../pages/open-pages.ts'

interface Line {
  readonly level: string
  readonly msg: string
  readonly waiting?: string
}

const live = await openLoaded('postgres')

test('a throttled run says so on its page, in status and in the log, with its next try and its end', async () => {
  live.standIn.setFaults([
    {
      kind: 'custom',
      respond: (_request, response) => response.writeHead(503, { 'retry-after': '6' }).end(),
    },
  ])
  await using worker = await startLogged({ SYNC_THROTTLED_MAX_MS: '600000' })
  const runId = await worker.startRun()
  const { run, wait } = await waitOf(runId, 'throttled', (found) => found.until !== null)
  const sentence = `Waiting since ${time(wait.since)}: the service throttles the calls (HTTP 503). Next try at ${time(wait.until as Date)}. Gives up at ${time(wait.givesUpAt as Date)} (SYNC_THROTTLED_MAX_MS).`
  expect(wait).toMatchObject({ sentence, workers: 1, ofWorkers: 1 })
  expect(Number(wait.givesUpAt) - Number(wait.since)).toBeCloseTo(600_000, -2)
  expect(describeRun(run)).toContain(sentence)
  const counted = await until('the wait is counted while it lasts', async () => {
    const [row] = await live.rows('select * from sync.runs where run_id = $1', runId)
    return row.finished_at === null && row.waited_throttled_ms > 0
  })
  expect(counted).toBe(true)
  const pages = await askPages(worker.app)
  const words = wordsOf(await pages.get(`/runs/${runId}`))
  expect(words).toMatch(/Throttled by the service [1-9]/i)
  expect(words).toMatch(
    /Waiting since .*Z: the service throttles .* \(HTTP 503\).* Gives up at .*Z \(SYNC_THROTTLED_MAX_MS\)\./,
  )
  const [line] = worker.logged('throttled')
  expect(line?.msg).toMatch(/^Waiting since .* Gives up at /)
  live.standIn.setFaults([])
  const row = await settled(live.database, runId)
  expect(row).toMatchObject({ status: 'succeeded', waited_ms: 0 })
  expect(row['waited_throttled_ms']).toBeGreaterThan(6000)
  const ended = await requireRunDetails(live.database.pool, runId)
  expect(ended.waiting).toEqual([])
  expect(describeRun(ended)).toContain('throttled by the service')
  expect(describeRun(ended)).not.toContain('rate limit')
  await until('the end of the wait is logged', () =>
    worker.logged('throttled').some(({ msg }) => msg === 'the wait is over'),
  )
})

test('a run that only the rate limit slows down waits for the rate limit', async () => {
  await using worker = await startLogged({ SYNC_RATE_LIMIT: '10' })
  const runId = await worker.startRun()
  const { wait } = await waitOf(runId, 'rate_limit')
  expect(wait).toMatchObject({ until: null, givesUpAt: null })
  expect(wait.sentence).toContain('under SYNC_RATE_LIMIT (10 a second')
  const row = await settled(live.database, runId)
  expect(row).toMatchObject({ status: 'succeeded', waited_throttled_ms: 0 })
  expect(row['waited_ms']).toBeGreaterThan(1000)
})

test('a service that cannot be reached any more is away', async () => {
  const relay = await startRelay(live.standIn.url)
  live.standIn.latencyMs = 50
  const before = live.standIn.calls.total
  await using worker = await startLogged({ COLLAB_API_URL: `http://127.0.0.1:${relay.port}` })
  const runId = await worker.startRun()
  await until('calls were answered', () => live.standIn.calls.total > before + 40)
  relay.cut()
  const { wait } = await waitOf(runId, 'away')
  expect(wait.sentence).toContain('the service cannot be reached')
  expect(wait.sentence).toContain('Gives up at')
  live.standIn.latencyMs = 0
})

test('a worker without a job says so, and one that is dead says nothing', async () => {
  const { pool } = live.database
  await pool.query('delete from sync.workers')
  await using worker = await startLogged()
  const waits = () => readWaits(pool, null)
  const [idle] = await until('the worker is idle', async () => {
    const found = await waits()
    return found.length > 0 && found
  })
  expect(idle).toMatchObject({ kind: 'idle', workers: 1, ofWorkers: 1 })
  expect(worker.logged('idle')).toEqual([])
  const waiting = JSON.stringify({ kind: 'throttled', since: new Date(0), sentence: 'Waiting.' })
  await workers.heartbeat.run(pool, {
    workerId: 'other',
    callsInFlight: 0,
    mostCallsInFlight: 8,
    callMs: null,
    problem: null,
    rateLimit: null,
    waiting,
    settings: null,
    kind: 'worker',
    version: null,
    configuration: null,
  })
  expect(
    (await waits()).map(({ kind, workers: many, ofWorkers }) => [kind, many, ofWorkers]),
  ).toEqual([
    ['throttled', 1, 2],
    ['idle', 1, 2],
  ])
  await pool.query(
    `update sync.workers set heartbeat_at = now() - interval '31 seconds' where worker_id = 'other'`,
  )
  expect((await waits()).map(({ kind }) => kind)).toEqual(['idle'])
  // Its sessions, which are those of this test, would be ended.
  await pool.query(`delete from sync.workers where worker_id = 'other'`)
})

test('a job whose claim fails is shown with its next try, and ends its run after the last attempt', async () => {
  const { pool } = live.database
  await pool.query(`select setval('sync.claim_no', 5000)`)
  await pool.query('alter sequence sync.claim_no maxvalue 5000')
  await using worker = await startLogged()
  const pages = await askPages(worker.app)
  const runId = await worker.startRun()
  // More than it makes until its wait is reported.
  const setAttempts = (attempts: number) =>
    live.rows('update sync.run_items set attempts = $2 where run_id = $1', runId, attempts)
  await setAttempts(-100)
  const { wait } = await waitOf(runId, 'retry')
  expect(wait.sentence).toMatch(
    /^Waiting since .*Z: job page-organizations of run [\da-f]{8} failed \(attempt \d+\): nextval: reached maximum value of sequence "claim_no" \(\d+\)\. Next try at .*Z\.$/,
  )
  expect((await readWaits(pool, null)).map(({ kind }) => kind)).toEqual(['retry'])
  expect(wordsOf(await pages.get(`/runs/${runId}`))).toContain('job page-organizations of run')
  await setAttempts(ATTEMPTS_MAX - 2)
  const [{ item_id: itemId }] = await live.rows(
    'select item_id::int from sync.run_items where run_id = $1',
    runId,
  )
  for (let attempt = 1; attempt <= 2; attempt += 1)
    await planPage(worker.app.sync, { runId, itemId }).catch(() => {})
  expect(await settled(live.database, runId)).toMatchObject({ status: 'failed', calls: 0 })
  await pool.query('alter sequence sync.claim_no no maxvalue')
  const ended = await requireRunDetails(pool, runId)
  expect(ended.problem).toMatch(
    /^A part of this run could not be claimed in 8 attempts \(nextval: /,
  )
  for (const text of [describeRun(ended), wordsOf(await pages.get(`/runs/${runId}`))])
    expect(text).toContain(ended.problem)
})

test('a statement that waits for a lock says whose it is, in the run, the log and the open problems', async () => {
  const role = `cs_analyst_${randomBytes(4).toString('hex')}`
  await live.rows(`create role ${role} login password 'x' in role collab_reader`)
  await live.rows(`grant usage on schema collab_store to ${role}`)
  await live.rows(`grant update on collab_store.batches to ${role}`)
  const openAs = async (applicationName: string) => {
    const url = urlWith(live.database.url, { username: role, password: 'x' })
    const client = new pg.Client({ connectionString: url, application_name: applicationName })
    await client.connect()
    return client
  }
  const holder = await openAs('psql "x"')
  const forger = await openAs('collab-sync worker 00000000')
  const lockBatches = 'begin; lock table collab_store.batches in exclusive mode'
  // It stops after the lock is released.
  await using worker = await startLogged()
  try {
    await holder.query(lockBatches)
    // A session that only has the name of one of ours, and waits for longer.
    const forged = forger.query(lockBatches)
    const runId = await worker.startRun()
    const { run, wait } = await waitOf(runId, 'lock')
    const { rows } = await holder.query('select pg_backend_pid() as pid')
    const lock = `a lock of role "${role}" (process ${rows[0].pid}, "psql \\"x\\"")`
    expect(wait.sentence).toBe(`Waiting since ${time(wait.since)}: a statement waits for ${lock}.`)
    expect(describeRun(run)).toContain(wait.sentence)
    expect(worker.logged('lock')).toMatchObject([{ level: 'warn', msg: wait.sentence }])
    // The jobs of this run wait behind those that wait for the lock.
    const behind = await requireRunDetails(live.database.pool, await worker.startRun())
    expect(behind.waiting).toMatchObject([{ kind: 'lock', sentence: wait.sentence }])
    const open = await readAttention(live.database.pool)
    const shown = open.find(({ kind }) => kind === 'lock_wait')
    const { sentence, fix } = shown as AttentionByKind
    expect(sentence).toContain(
      `A statement of worker ${worker.app.sync.workerId} waits for ${lock}.`,
    )
    expect(fix).toContain(`\`select pg_terminate_backend(${rows[0].pid})\``)
    expect(shown?.words).toMatch(/^Its transaction began at .* UTC\.$/)
    const sessions = 'select distinct application_name from sync.lock_waits'
    expect(await live.rows(sessions)).toHaveLength(1)
    const seen = `select sentence, fix from reporting.attention where kind = 'lock_wait'`
    expect((await holder.query(seen)).rows).toMatchObject([{ fix }])
    await holder.query('rollback')
    await forged
    await forger.query('rollback')
    expect(await settled(live.database, runId)).toMatchObject({ status: 'succeeded' })
    await until('the end of the wait is logged', () =>
      worker.logged('lock').some(({ msg }) => msg === 'the wait is over'),
    )
    expect(await live.rows('select from sync.lock_waits')).toEqual([])
  } finally {
    await Promise.all([holder.end(), forger.end()])
    await live.rows(`drop owned by ${role}`)
    await live.rows(`drop role ${role}`)
  }
})

/** A worker, and what it logs of waits. */
async function startLogged(settings: Record<string, string> = {}) {
  const lines: Line[] = []
  const heard = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const text of chunk.toString().trimEnd().split('\n')) lines.push(JSON.parse(text))
      done()
    },
  })
  const opened = await live.openApp(settings)
  const app: App = await openApp(
    opened.settings as Settings & ServiceSettings,
    opened.store,
    createLog('info', heard),
  )
  const worker = await startWorker(app, jobs, { keepsSchedule: false })
  return {
    app,
    logged: (kind: string) => lines.filter(({ waiting }) => waiting === kind),
    startRun: () => startOn(app),
    async [Symbol.asyncDispose]() {
      await worker.stop()
      await app.close()
    },
  }
}

async function waitOf(
  runId: string,
  kind: string,
  isGood: (wait: { until: Date | null }) => boolean = () => true,
) {
  return until(`the run waits: ${kind}`, async () => {
    const run = await requireRunDetails(live.database.pool, runId)
    const wait = run.waiting.find((each) => each.kind === kind && isGood(each))
    return wait === undefined ? null : { run, wait }
  })
}
