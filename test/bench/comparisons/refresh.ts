import type { Pool } from 'pg'
import { setDefinitions } from '../../../src/database/definitions.ts'
import * as refresh from '../../../src/database/statements/refresh.ts'
import { createLog } from '../../../src/log.ts'
import { openPrivacy } from '../../../src/privacy/privacy.ts'
import type { CollabApi } from '../../../src/service/client.ts'
import { RunSignals, StoreSignal } from '../../../src/sync/context.ts'
import type { SyncContext } from '../../../src/sync/context.ts'
import { SentCalls } from '../../../src/sync/counts.ts'
import { ScopePlaces } from '../../../src/sync/fetch/schedule.ts'
import { Planner } from '../../../src/sync/refresh/plan.ts'
import { Clock } from '../../../src/sync/refresh/clock.ts'
import { Refresher } from '../../../src/sync/refresh/refresher.ts'
import { figure, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { createBenchDatabase, walOf } from '../database.ts'
import type { Servers } from '../servers.ts'

/** `REFRESH_BENCH_ANNOTATIONS=10000000` takes ten minutes and 10 GB. */
const ANNOTATIONS = Number(process.env['REFRESH_BENCH_ANNOTATIONS'] ?? 1_000_000)
/** Calls a second. */
const BUDGET = 100
const PROMISE_S = 7 * 86_400
/** The part of the catalog that changed within eleven days. */
const RECENT = 0.04
const STEPS = 120

export const refreshing: Comparison = {
  name: 'refresh',
  title: 'Continuous refresh where nothing changed',
  explains: `A catalog of ${ANNOTATIONS} annotations, four in a hundred of which changed within eleven days; a budget of ${BUDGET} calls a second; a service that answers each call at once with the bytes of before. What is told is what a look costs in WAL, in the classes of recent threads and in the sweep of everything, without the rate limiter and heartbeats; and how long it takes to plan a page. The limiter takes its slots 400 milliseconds at a time: one commit record, of about 40 bytes, for that many looks.`,
  isOnlyByName: true,
  async run(servers) {
    const database = await createBenchDatabase(servers, null)
    try {
      await fill(database.pool)
      await setDefinitions(database.pool, {
        freshnessPromiseMs: PROMISE_S * 1000,
        refreshBudget: BUDGET,
      })
      const clock = { atMs: Date.now() }
      const context = contextOf(database.pool)
      const looks = await walOfLooks(servers, context, clock)
      const plans = await planTimes(context, clock)
      const { rows: size } = await database.pool.query<{ mb: number }>(
        'select (pg_database_size(current_database()) / 1e6)::float8 as mb',
      )
      const rssMb = process.memoryUsage().rss / 1e6
      return {
        tables: [
          {
            title: `${ANNOTATIONS} annotations`,
            head: ['looks', 'count', 'WAL bytes a look'],
            rows: [
              ['at recent threads', looks.hot.looks, short(looks.hot.wal / looks.hot.looks)],
              ['of the sweep', looks.swept.looks, short(looks.swept.wal / looks.swept.looks)],
            ],
          },
          {
            title: 'Milliseconds to plan a page',
            head: ['pages', 'median', 'longest', 'database MB', 'memory MB'],
            rows: [
              [
                plans.length,
                short(quantile(plans, 0.5)),
                short(Math.max(...plans)),
                short(size[0]?.mb ?? 0),
                short(rssMb),
              ],
            ],
          },
        ],
        figures: [
          figure(
            'refresh.wal-recent',
            'WAL a look at recent threads',
            [looks.hot.wal / looks.hot.looks],
            { unit: 'bytes', atMost: 3 },
          ),
          figure(
            'refresh.wal-swept',
            'WAL a look of the sweep',
            [looks.swept.wal / looks.swept.looks],
            { unit: 'bytes', atMost: 1.5 },
          ),
          figure('refresh.plan', 'longest time to plan a page', [Math.max(...plans)], {
            unit: 'ms',
            atMost: 100,
          }),
        ],
      }
    } finally {
      await database.drop()
    }
  },
}

/** Rows as an import and a first run leave them, made on the server. */
async function fill(pool: Pool): Promise<void> {
  const organizations = Math.max(1, ANNOTATIONS / 10_240)
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query(
      `insert into collab_store.organizations (organization_id, comments_scopes)
       select 'organization ' || n, 10240 from generate_series(1, $1) n`,
      [organizations],
    )
    await client.query(
      `insert into collab_store.batches (organization_key, batch_no, scopes, operation, checked_at, version)
       select organization_key, n, 256, 'comments', now() - interval '1 day' * (1 - organization_key::float8 / $1 - n::float8 / 40 / $1), 1
       from collab_store.organizations, generate_series(0, 39) n
       order by organization_key, n`,
      [organizations],
    )
    await client.query(
      `insert into collab_store.documents (organization_key, batch_key, scope_no, document_id)
       select organization_key, (select min(batch_key) from collab_store.batches b where b.organization_key = o.organization_key), 0, 'document'
       from collab_store.organizations o`,
    )
    await client.query(
      `insert into collab_store.annotations (document_key, batch_key, scope_no, annotation_id, comment_count, changed_at, body_digest, content_digest, last_comment_at)
       select d.document_key, b.batch_key, n, 'annotation ' || b.batch_no || ' ' || n, 3, now() - interval '30 days', decode(md5('a'), 'hex'), decode(md5('b'), 'hex'),
         now() - case when random() < $1 then make_interval(secs => exp(random() * ln(980000))) else interval '30 days' end
       from collab_store.batches b
       join collab_store.documents d using (organization_key)
       cross join generate_series(0, 255) n`,
      [RECENT],
    )
    await client.query('vacuum (analyze) collab_store.annotations')
    await client.query('vacuum (analyze) collab_store.batches')
  } finally {
    client.release()
  }
}

/** Steps of one worker, each counted for the class that it looked at. */
async function walOfLooks(servers: Servers, context: SyncContext, clock: { atMs: number }) {
  const { database } = context
  const limit = {
    acquire: async () => void (clock.atMs += 1000 / BUDGET),
    pauseAll: async () => {},
    close: async () => {},
  }
  const refresher = new Refresher(
    context,
    limit,
    new Clock(
      () => momentOf(database, clock),
      () => clock.atMs,
    ),
  )
  const looksOf = async () => {
    const { rows } = await database.query<{ hot: number; swept: number }>(
      `select coalesce(sum(looks) filter (where class < 7), 0)::int as hot, coalesce(sum(looks) filter (where class = 7), 0)::int as swept from sync.refresh_hours`,
    )
    return rows[0] ?? { hot: 0, swept: 0 }
  }
  const found = { hot: { looks: 0, wal: 0 }, swept: { looks: 0, wal: 0 } }
  const step = async () => {
    await refresher.step()
    await refresher.ended()
  }
  // Pages that are touched for the first time after a checkpoint are logged whole: a day later that is of no weight.
  for (let each = 0; each < STEPS / 2; each += 1) await step()
  let waiting = 0
  for (let each = 0; each < STEPS; each += 1) {
    const before = await looksOf()
    const { walBytes } = await walOf(servers, step, { checkpoint: false })
    const after = await looksOf()
    found.hot.looks += after.hot - before.hot
    found.swept.looks += after.swept - before.swept
    if (after.hot > before.hot) found.hot.wal += walBytes
    else waiting += walBytes
  }
  // Looks of the sweep are counted when their batches end, some steps later.
  found.swept.wal = waiting
  return found
}

/** Pages as workers take them, each given back undone. */
async function planTimes(context: SyncContext, clock: { atMs: number }): Promise<number[]> {
  const planner = new Planner(context)
  const times: number[] = []
  for (let each = 0; each < STEPS; each += 1) {
    clock.atMs += 5000
    const moment = { ...(await momentOf(context.database, clock)), budget: BUDGET }
    const startedMs = performance.now()
    const page = await planner.next(moment, 0)
    times.push(performance.now() - startedMs)
    if (page !== null && 'pageId' in page) {
      await context.database.query('delete from sync.refresh_pages')
    }
  }
  return times
}

async function momentOf(pool: Pool, { atMs }: { atMs: number }) {
  return { ...(await refresh.begin.one(pool)), at: new Date(atMs) }
}

function contextOf(pool: Pool): SyncContext {
  const log = createLog('warn')
  const collabApi: CollabApi = {
    getComments: async (_, call) => {
      if (call?.stats) call.stats.calls += 1
      return { status: 'same-bytes', digest: call?.knownDigest ?? Buffer.alloc(16) }
    },
    getUsers: () => Promise.reject(new Error('No users are asked for.')),
    concurrency: () => ({ inFlight: 0, limit: 1, waiting: 0, latencyMsEwma: null }),
    startAfresh: () => {},
    close: async () => {},
  }
  return {
    collabApi,
    database: pool,
    log,
    workerId: 'bench',
    deadAfterS: 30,
    runSignals: new RunSignals(),
    storeSignal: new StoreSignal(),
    scopePlaces: new ScopePlaces(1),
    sentCalls: new SentCalls(pool, log),
    itemsInProgress: new Set(),
    drained: new AbortController().signal,
    privacy: openPrivacy(pool, { email: 'keep', raw: 'keep' }),
    maxIds: 30,
    shrinkLimit: 0.5,
    operations: ['comments'],
  }
}

function quantile(numbers: readonly number[], part: number): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(part * numbers.length)] ?? NaN
}
