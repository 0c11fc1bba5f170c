import { fileSource } from '../../src/features/catalog/file.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import * as batches from '../../src/core/database/statements/batches.ts'
import { readRecentRuns, readRun } from '../../src/client/run-reports.ts'
import * as scopes from '../../src/core/database/statements/scopes.ts'
import { median, short } from './bench.ts'
import type { Table } from './bench.ts'
import { measureRun } from './child.ts'
import { createBenchDatabase, walOf } from './database.ts'
import type { BenchDatabase } from './database.ts'
import { openPlace } from './place.ts'
import { environmentOf } from './program.ts'
import type { QueueKind } from './program.ts'
import type { Servers } from './servers.ts'

export const COMMENTS_EACH = 2
const ORGANIZATIONS = 20
const ANNOTATIONS_A_DOCUMENT = 50

/** What a catalog of one size costs. */
export interface Sized {
  readonly annotations: number
  readonly calls: number
  readonly importS: number
  readonly firstS: number
  /** One for each queue that a run was made again with. */
  readonly againS: readonly number[]
  readonly peaksMb: readonly number[]
  readonly cpuUsACall: number
  readonly walACommentFirst: number
  readonly walACommentAgain: number
  /** `collab_store.comments` with its indexes. */
  readonly diskAComment: number
  /** The catalog with what is known of each answer. */
  readonly diskAnAnnotation: number
  /** What a run leaves in `sync`. */
  readonly diskACallOfARun: number
  readonly items: number
  /** The slowest of what `status` asks. */
  readonly statusMs: number
  /** Counting all scopes, or a page of batches: the slower. */
  readonly planMs: number
}

/**
 * Imports a catalog of so many annotations in 20 organizations, two comments in each, loads it with one `collab-sync run`, then
 * runs again where nothing changed, with each of the queues.
 */
export async function measureSize(
  servers: Servers,
  annotations: number,
  queues: readonly [QueueKind, ...QueueKind[]],
): Promise<Sized> {
  const world = {
    organizations: ORGANIZATIONS,
    documents: annotations / ORGANIZATIONS / ANNOTATIONS_A_DOCUMENT,
    annotations: ANNOTATIONS_A_DOCUMENT,
    comments: COMMENTS_EACH,
    users: 20,
    groups: 2,
  }
  const comments = annotations * COMMENTS_EACH
  const place = await openPlace(servers, world, { prepare: false })
  const database = await createBenchDatabase(servers, null)
  const runOn = (queue: QueueKind) => measureRun(environmentOf({ ...place, database }, queue, 64))
  try {
    const startedMs = performance.now()
    const options = { prune: false, redaction: readNameRedaction }
    await importCatalog(database.pool, fileSource(place.catalogFile), options)
    const importS = (performance.now() - startedMs) / 1000
    const first = await walOf(servers, () => runOn(queues[0]))
    // What the server does by itself after a load, once: its WAL is not that of the next run.
    await database.pool.query('vacuum (freeze, analyze)')
    const disk = await bytesOnDisk(database)
    const again = await walOf(servers, () => runOn(queues[0]))
    const after = await bytesOnDisk(database)
    const others = []
    for (const queue of queues.slice(1)) others.push(await runOn(queue))
    const runs = [again.result, ...others]
    const { calls, cpuMs } = again.result.run as { calls: number; cpuMs: number }
    return {
      annotations,
      calls,
      importS,
      firstS: first.result.seconds,
      againS: runs.map(({ seconds }) => seconds),
      peaksMb: [first.result, ...runs].map(({ peakMb }) => peakMb),
      cpuUsACall: (cpuMs * 1000) / calls,
      walACommentFirst: first.walBytes / comments,
      walACommentAgain: again.walBytes / comments,
      diskAComment: disk.comments / comments,
      diskAnAnnotation: disk.catalog / annotations,
      diskACallOfARun: (after.runs - disk.runs) / calls,
      ...(await times(database)),
    }
  } finally {
    await database.drop()
    await place.close()
  }
}

/** The measured sizes as rows of a table. */
export function sizesTable(measured: readonly Sized[], queues: string): Table {
  return {
    title: `Measured, ${COMMENTS_EACH} comments an annotation`,
    head: [
      'annotations',
      'import s',
      'first load s',
      `again s (${queues})`,
      'calls/s again',
      'CPU us a call, again',
      'WAL bytes a comment, first / again',
      'disk bytes a comment / an annotation / a call of a run',
      'items a run',
      'slowest of status / of plan ms',
      'peak MB (first, again)',
    ],
    rows: measured.map((one) => [
      one.annotations.toLocaleString('en-US'),
      short(one.importS),
      short(one.firstS),
      one.againS.map(short).join(', '),
      short(one.calls / Math.min(...one.againS)),
      short(one.cpuUsACall),
      `${short(one.walACommentFirst)} / ${short(one.walACommentAgain)}`,
      [one.diskAComment, one.diskAnAnnotation, one.diskACallOfARun].map(short).join(' / '),
      one.items.toLocaleString('en-US'),
      `${short(one.statusMs)} / ${short(one.planMs)}`,
      one.peaksMb.map(short).join(', '),
    ]),
  }
}

async function bytesOnDisk({ pool }: BenchDatabase) {
  const { rows } = await pool.query(`
    select pg_total_relation_size('collab_store.comments')::float8 as comments,
      (pg_total_relation_size('collab_store.annotations') + pg_total_relation_size('collab_store.documents')
        + pg_total_relation_size('collab_store.batches'))::float8 as catalog,
      (pg_total_relation_size('sync.runs') + pg_total_relation_size('sync.run_items'))::float8 as runs`)
  return rows[0] as { comments: number; catalog: number; runs: number }
}

const TIMES = 5

async function times({ pool }: BenchDatabase) {
  const { rows } = await pool.query(
    'select run_id, count(*)::int as items from sync.run_items group by 1 limit 1',
  )
  const { run_id: runId, items } = rows[0] as { run_id: string; items: number }
  const operations = ['users', 'comments']
  const page = { after: 0, operations, organizationIds: null, limit: 100 }
  const statusMs = await slowestOf([
    () => readRecentRuns(pool, 10),
    () => readRun(pool, runId),
    () => scopes.freshness.one(pool),
  ])
  const planMs = await slowestOf([
    () => batches.countScopes.one(pool, { operations }),
    () => batches.page.all(pool, page),
  ])
  return { items, statusMs, planMs }
}

/** The median of the question that takes longest. */
async function slowestOf(questions: readonly (() => Promise<unknown>)[]): Promise<number> {
  const medians: number[] = []
  for (const ask of questions) {
    const took: number[] = []
    for (let time = 0; time < TIMES; time++) {
      const startedMs = performance.now()
      await ask()
      took.push(performance.now() - startedMs)
    }
    medians.push(median(took))
  }
  return Math.max(...medians)
}
