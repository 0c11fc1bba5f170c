import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { readChanges } from '../../src/features/export/changes.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { CursorGoneError } from '../../src/base/errors.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { fillComments } from '../export/fill-comments.ts'
import { openLive } from '../helpers/live.ts'
import { readAll } from './copy.ts'

/** A restored dump of a server with higher transaction numbers: before this server reaches them, and afterwards. */

/** More than the other tests use in the short time before a repair. */
const AHEAD = 20_000
const EDIT = `update collab_store.comments set comment_text = $1, version = version + 1, change = 'edited' where comment_id = 1`

const live = await openLive('postgres')
await fillComments(live.database, 200)

const ask = async (text: string) => (await live.database.pool.query(text)).rows
const read = async (after: string | null) => (await readAll(live.database.pool, after)).changes

/** Leaves the tables as a restore does: this server has already used the numbers of the oldest changes, but not the others. */
beforeEach(async () => {
  await ask(`
    do $$
    declare ahead constant xid8 := (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${AHEAD})::text;
    begin
      update collab_store.changes set xid = ahead where object in ('annotation', 'comment');
      truncate collab_store.recent_threads;
      insert into collab_store.recent_threads (annotation_key, batch_key, active_at, written_in)
      select min(annotation_key), min(batch_key), now() - interval '1 minute', ahead from collab_store.annotations;
      update sync.refresh_passes set last_full_pass = now(), snapshot = ahead, whole_snapshot = ahead where class = 0;
      insert into sync.refresh_pages (class, pass, pass_snapshot, claimed_at) values (0, 1, ahead, now());
    end $$`)
})

/** Uses transaction numbers until this server has passed those of the dump. A subtransaction uses one. */
async function passNumbersOfDump(): Promise<void> {
  await ask(`
    create temp table used (n integer);
    do $$ begin
      for n in 1..${AHEAD + 100} loop
        begin insert into used values (n); exception when others then raise; end;
      end loop;
    end $$;
    drop table used`)
}

async function startWorkers(): Promise<void> {
  const apps = await Promise.all([live.openApp(), live.openApp()])
  const start = apps.map((app) => startWorker(app, jobs, { keepsSchedule: false }))
  await Promise.all((await Promise.all(start)).map((worker) => worker.stop()))
}

describe.each([
  ['migrate', () => migrate(live.database.url)],
  ['workers that start at once', startWorkers],
])('after %s', (_, repair) => {
  test('no cursor gets restored changes as new, and a reader without a cursor gets all of them', async () => {
    const before = (await readAll(live.database.pool, null)).cursor
    await repair()
    const after = (await readAll(live.database.pool, before)).cursor
    await passNumbersOfDump()
    expect(await read(before)).toEqual([])
    expect(await read(after)).toEqual([])
    const [stored] = await ask('select sum(lines)::integer as lines from collab_store.changes')
    expect(await read(null)).toHaveLength(stored.lines)
    await live.database.pool.query(EDIT, ['edited after the restore'])
    expect(await read(before)).toHaveLength(1)
    expect(await read(after)).toHaveLength(1)
  })

  test('restored passes count as checks of nothing that is written later, later passes count for restored threads', async () => {
    await repair()
    await ask(`insert into collab_store.recent_threads (annotation_key, batch_key, active_at)
      select max(annotation_key), max(batch_key), now() - interval '1 minute' from collab_store.annotations`)
    const checked = 'select annotation_key from collab_store.pass_checks'
    expect(await ask(checked)).toEqual([])
    expect(await ask('select distinct pass_snapshot from sync.refresh_pages')).toEqual([
      { pass_snapshot: '0' },
    ])
    await ask(
      `update sync.refresh_passes set whole_snapshot = pg_snapshot_xmax(pg_current_snapshot()) where class = 0`,
    )
    expect(await ask(checked)).toHaveLength(2)
  })
})

test('of restored changes that prune deleted in part, a reader without a cursor gets the others', async () => {
  await migrate(live.database.url)
  const first = await readChanges(live.database.pool, { after: null, max: 1, objects: null })
  await ask(
    `update collab_store.changes set at = now() - interval '10 days' where object not in ('annotation', 'comment')`,
  )
  await prune(live.database.pool, new Date(Date.now() - 86_400_000))
  const [stored] = await ask('select sum(lines)::integer as lines from collab_store.changes')
  expect(await read(null)).toHaveLength(stored.lines)
  const gone = readChanges(live.database.pool, { after: first.cursor, max: 1, objects: null })
  await expect(gone).rejects.toThrow(CursorGoneError)
})
