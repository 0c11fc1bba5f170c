import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomChanges } from '../../../src/demo/random-changes.ts'
import { followKilled } from '../../changes/killed-follower.ts'
import { exportKilled } from '../../export/warehouse.ts'
import { fillComments } from '../../export/fill-comments.ts'
import { figure, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { peakOf } from '../child-memory.ts'
import { createBenchDatabase, walOf } from '../database.ts'
import type { BenchDatabase } from '../database.ts'
import { openDirectSync } from '../direct-run.ts'
import { MemoryApi } from '../memory-api.ts'
import { createDatabaseOf } from '../memory-place.ts'
import type { Servers } from '../servers.ts'
import { FOUR_THOUSAND, worldOf } from '../worlds.ts'

const ROUNDS = 2
/** 5 % of the comments. */
const CHANGES = 2000
const LINES = 100_000
const PROGRAM = join(import.meta.dirname, '../../../src/cli/main.js')

export const feed: Comparison = {
  name: 'feed',
  title: 'The feed of changes',
  explains:
    'What the feed writes: the WAL of a first load of 40,000 comments and of a run that finds 2,000 edits, new comments, renames and joins, divided by that of the same with its triggers disabled; its log has a packed row a statement. What reading it takes: `collab-sync changes` over 100,000 comments that were added, and its peak of memory over four times as many divided by that: V8 collects late, so that the first ten thousand show less than what it stays at. And what a follower loses that is killed again and again beside four writers, of which some draw a transaction id long before they write; and a warehouse (DuckDB) that is loaded by `collab-sync export --state`, killed in the same way, until it equals the table.',
  async run(servers) {
    const writing = { first: [] as number[], changed: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      const without = await walWritten(servers, false)
      const withFeed = await walWritten(servers, true)
      writing.first.push(withFeed.first / without.first)
      writing.changed.push(withFeed.changed / without.changed)
    }
    const some = await reading(servers, LINES)
    const many = await reading(servers, 4 * LINES)
    const followed = await following(servers)
    const exported = await exporting(servers)
    return {
      tables: [
        {
          title: `${LINES.toLocaleString('en-US')} changes read, and a follower that is killed`,
          head: ['', ''],
          rows: [
            ['seconds to read', short(some.seconds)],
            ['peak of memory, MB', short(some.peakMb)],
            ['lines that the follower read', followed.lines],
            ['times that it was killed', followed.kills],
            ['comments written while a warehouse was loaded', exported.written],
            ['exports that were loaded', exported.loads],
            ['exports that were killed', exported.kills],
          ],
        },
      ],
      figures: [
        figure('feed.wal-first', 'WAL of a first load / without the feed', writing.first, {
          atMost: 1.05,
        }),
        figure('feed.wal-changed', 'WAL of a run with 5 % changed / without', writing.changed, {
          atMost: 1.05,
        }),
        figure('feed.read', '100,000 changes', [some.seconds], { unit: 's', atMost: 5 }),
        figure('feed.memory', 'peak of memory, four times as many', [many.peakMb / some.peakMb], {
          atMost: 1.25,
        }),
        figure(
          'feed.export-memory',
          'peak of memory of export --after, four times as many',
          [many.exportPeakMb / some.exportPeakMb],
          { atMost: 1.25 },
        ),
        figure(
          'feed.out-of-order',
          'lines that showed a row as it was before',
          [followed.outOfOrder],
          { unit: 'lines', atMost: 0 },
        ),
      ],
    }
  },
}

async function walWritten(servers: Servers, hasFeed: boolean) {
  const world = worldOf(FOUR_THOUSAND)
  const database = await createDatabaseOf(servers, world)
  const api = new MemoryApi()
  if (!hasFeed) await disableFeed(database)
  const sync = await openDirectSync(api, database)
  const run = async () => {
    api.prepare(world, 0)
    return (await walOf(servers, () => sync.run(), { checkpoint: false })).walBytes
  }
  let seed = 0
  const change = () =>
    randomChanges(world, {
      count: CHANGES,
      seed: seed++,
      kinds: ['edit', 'addComment', 'renameUser', 'joinGroup'],
    })
  try {
    await servers.admin.query('checkpoint')
    const first = await run()
    await database.pool.query('vacuum (freeze, analyze)')
    // So that each page is logged whole before what is measured.
    change()
    await run()
    change()
    return { first, changed: await run() }
  } finally {
    await sync.close()
    await database.drop()
  }
}

async function disableFeed({ pool }: BenchDatabase): Promise<void> {
  await pool.query(`do $$ declare t record; begin
    for t in select tgrelid::regclass as name, tgname from pg_trigger where tgname like 'log\\_%' loop
      execute format('alter table %s disable trigger %I', t.name, t.tgname);
    end loop;
  end $$`)
}

async function reading(servers: Servers, lines: number) {
  const database = await createBenchDatabase(servers, null)
  try {
    const { rows } = await database.pool.query('select reporting.changes_cursor() as cursor')
    await fillComments(database, lines)
    await database.pool.query('analyze')
    const environment = { DATABASE_URL: database.url }
    const read = await peakOf(['changes', '--objects', 'comment'], environment)
    const exported = await peakOf(['export', 'comments', '--after', rows[0].cursor], environment)
    return { ...read, exportPeakMb: exported.peakMb }
  } finally {
    await database.drop()
  }
}

async function following(servers: Servers) {
  return filled(servers, ({ pool, url }) =>
    followKilled(pool, { writers: 4, kills: 10, rowsEach: 150 }, (flags) =>
      start(['changes', ...flags], url),
    ),
  )
}

/** @throws where the warehouse does not become equal to the table */
async function exporting(servers: Servers) {
  const directory = mkdtempSync(join(tmpdir(), 'collab-sync-bench-'))
  const writing = { writers: 4, kills: 10, rowsEach: 150, atLeast: LINES, directory }
  try {
    return await filled(servers, async ({ pool, url }) => {
      const exported = await exportKilled(pool, writing, (args) => start(args, url))
      exported.warehouse.close()
      return exported
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function start(args: string[], url: string) {
  return spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

async function filled<T>(servers: Servers, work: (database: BenchDatabase) => Promise<T>) {
  const database = await createBenchDatabase(servers, null)
  try {
    await fillComments(database, 5000)
    return await work(database)
  } finally {
    await database.drop()
  }
}
