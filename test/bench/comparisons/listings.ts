import { DEAD_AFTER_S } from '../../../src/core/database/claims.ts'
import { rolledBack } from '../../../src/core/database/pool.ts'
import { readFailures, readRecentRuns, readRun } from '../../../src/client/run-reports.ts'
import { insertRun } from '../../../src/core/database/runs.ts'
import * as batches from '../../../src/core/database/statements/batches.ts'
import * as items from '../../../src/core/database/statements/items.ts'
import * as scopes from '../../../src/core/database/statements/scopes.ts'
import * as workers from '../../../src/core/database/statements/workers.ts'
import { readAttention } from '../../../src/client/waiting.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { createBenchDatabase } from '../database.ts'
import type { BenchDatabase } from '../database.ts'

const RUNS = 1000
const ANNOTATIONS = 1_000_000
const COMMENTS_EACH = 5
const TIMES = 7

export const listings: Comparison = {
  name: 'listings',
  title: 'What people look at, when there is a lot',
  explains:
    'A thousand runs of which the last is under way, a million annotations and five million comments, made by SQL. Each question is asked seven times on one connection that has asked it before; the slowest median counts. Runs that are over keep their counts in their own row, batches stand for their scopes, and every listing is read in the order of an index.',
  async run(servers) {
    const database = await createBenchDatabase(servers, null)
    try {
      await fill(database)
      const { pool } = database
      const runIds = await pool.query(
        'select run_id from sync.runs order by requested_at desc limit 1',
      )
      const runId = runIds.rows[0].run_id as string
      const one = `organization_id = 'o7' and document_id = 'd7-7'`
      const questions: Record<string, () => Promise<unknown>> = {
        'status: recent runs': () => readRecentRuns(pool, 10),
        'status RUN: under way, 8,000 items': () => readRun(pool, runId),
        'status RUN: failures by cause': () => readFailures(pool, runId),
        'status: workers': () => workers.read.all(pool, { deadAfterS: DEAD_AFTER_S }),
        'status: what needs a person': () => readAttention(pool),
        'status: freshness': () => scopes.freshness.one(pool),
        'plan: scopes in all': () =>
          batches.countScopes.one(pool, { operations: ['users', 'comments'] }),
        'plan: a page of batches': () =>
          batches.page.all(pool, {
            after: 0,
            operations: ['users', 'comments'],
            organizationIds: null,
            limit: 100,
          }),
        'plan: a new run': () => planRun(database),
        'collab.comments of a document': () =>
          pool.query(`select * from collab.comments where ${one} limit 50`),
        'collab.comments of an organization': () =>
          pool.query(`select * from collab.comments where organization_id = 'o7' limit 50`),
        'collab.annotations of an organization': () =>
          pool.query(
            `select * from collab.annotations where organization_id = 'o7' order by document_id, annotation_id limit 50`,
          ),
        'reporting.comments of a document': () =>
          pool.query(
            `select * from reporting.comments where ${one} order by last_updated desc limit 50`,
          ),
        'reporting.thread_summary of a document': () =>
          pool.query(`select * from reporting.thread_summary where ${one} limit 50`),
      }
      const rows: (string | number)[][] = []
      const slowest: number[] = []
      for (const [name, ask] of Object.entries(questions)) {
        const took = await timesOf(ask)
        rows.push([name, short(median(took)), short(Math.max(...took))])
        slowest.push(median(took))
      }
      return {
        tables: [
          {
            title: '1,000 runs, 1,000,000 annotations, 5,000,000 comments',
            head: ['', 'median ms', 'slowest ms'],
            rows,
          },
        ],
        figures: [
          figure('listings.slowest', 'slowest question, median', [Math.max(...slowest)], {
            unit: 'ms',
            atMost: 50,
          }),
        ],
      }
    } finally {
      await database.drop()
    }
  },
}

function planRun({ pool }: BenchDatabase): Promise<unknown> {
  return rolledBack(pool, async (client) => {
    const run = { trigger: 'cli', scope: {}, requestKey: null } as const
    const runId = (await insertRun(client, run)) as string
    const operations = ['users', 'comments']
    return items.planPages.all(client, { runId, operations, organizationIds: null })
  })
}

async function timesOf(ask: () => Promise<unknown>): Promise<number[]> {
  await ask()
  const took: number[] = []
  for (let time = 0; time < TIMES; time++) {
    const startedMs = performance.now()
    await ask()
    took.push(performance.now() - startedMs)
  }
  return took
}

/** 100 organizations of 100 documents of 100 annotations of 5 comments, in batches of 250. */
async function fill({ pool }: BenchDatabase): Promise<void> {
  await pool.query(`
    insert into collab_store.organizations (organization_id) select 'o' || n from generate_series(1, 100) n;
    insert into collab_store.batches (organization_key, batch_no, scopes, checked_at, operation)
      select o, 0, 101, now(), 'users' from generate_series(1, 100) o;
    insert into collab_store.batches (organization_key, batch_no, scopes, checked_at, operation)
      select o, b, 250, now(), 'comments' from generate_series(1, 100) o, generate_series(0, 39) b;
    insert into collab_store.documents (organization_key, batch_key, scope_no, document_id)
      select o, o, d, 'd' || o || '-' || d from generate_series(1, 100) o, generate_series(1, 100) d;
    insert into collab_store.annotations (document_key, batch_key, comment_count, changed_at, scope_no, annotation_id)
      select (n - 1) / 100 + 1, 100 + (n - 1) / 250 + 1, ${COMMENTS_EACH}, now(), (n - 1) % 250, 'a' || n
      from generate_series(1, ${ANNOTATIONS}) n;
    insert into collab_store.comments (organization_key, annotation_key, comment_id, last_updated, first_seen_at, changed_at,
        version_at, version, digest, change, status, type, author_user_id, author_name, author_email, comment_text, comment_html)
      select (a - 1) / 10000 + 1, a, c, now() - make_interval(mins => a % 130000), now(), now(), now(), 1,
        decode(md5(a::text || c), 'hex'), 'added', 'added', 'text', 'u' || a % 50, 'User', 'u@example.com', 'Comment ' || a, '<p>Comment</p>'
      from generate_series(1, ${ANNOTATIONS}) a, generate_series(1, ${COMMENTS_EACH}) c;
    insert into sync.runs (trigger, status, requested_at, started_at, finished_at)
      select 'cli', 'succeeded', now() - make_interval(days => n), now(), now() from generate_series(1, ${RUNS - 1}) n;
    insert into sync.runs (trigger, status, started_at) values ('cli', 'running', now());
    insert into sync.run_items (run_id, kind, batch_key, state)
      select r.run_id, 'sync-batch', n, case when n % 2 = 0 then 'done' else 'pending' end
      from sync.runs r, generate_series(1, 8000) n where r.status = 'running'`)
  await pool.query('vacuum analyze')
}
