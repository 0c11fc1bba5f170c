import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { grantRole } from '../../src/database/grants.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand } from '../cli/built-command.ts'
import { createEmptyDatabase, onServer } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { migrateBeforeBaseline, moveBeforeBaseline } from './before-baseline.ts'
import { describeCatalog } from './describe-catalog.ts'

const suffix = randomBytes(4).toString('hex')
const ANALYST = `cs_test_analyst_${suffix}`
const READER = `cs_test_reader_${suffix}`
const DIRECTORY = new URL(`${import.meta.resolve('#sql/migrations')}/`)
const FILES = readdirSync(DIRECTORY).toSorted()
const MIGRATIONS = FILES.map((name) => name.replace(/\.sql$/, ''))
const LATER = FILES.filter((name) => !name.includes('_baseline_'))
/** What migrations after the baseline make or change: of it rows are held by what they hold, not by their places. */
const CHANGED_LATER = LATER.flatMap((name) => {
  const text = readFileSync(new URL(name, DIRECTORY), 'utf8')
  return [
    ...text.matchAll(
      /(?:table|view|function|type|column|index(?: if exists)?|policy \w+ on|update) (\w+\.\w+)/g,
    ),
  ].flatMap(([, changed = '']) => [changed, changed.replace('.', '._')])
})

let command: BuiltCommand
beforeAll(async () => {
  command = await buildCommand()
})
afterAll(() => command?.remove())

describe('a database of the commit before the baseline, with data and what an analyst made', () => {
  let live: Live
  beforeAll(async () => {
    live = await openLive('none')
    const { pool } = live.database
    await live.importCatalog()
    await live.run()
    randomChanges(live.world, { count: 60, seed: 7 })
    await live.run()
    await moveBeforeBaseline(pool)
    await pool.query(FURTHER_ROWS)
    await onServer((server) => server.query(`create role ${ANALYST}; create role ${READER}`))
    await grantRole(pool, ANALYST, null)
    await grantRole(pool, READER, [...live.world.organizationIds()][0] ?? '')
    await pool.query(ANALYSTS)
  })
  afterAll(async () => {
    await live?.close()
    await onServer((server) => server.query(`drop role if exists ${ANALYST}, ${READER}`))
  })

  const environment = () => ({ DATABASE_URL: live.database.url })

  test('upgrades, and keeps every row, grant, view and index in its place', async () => {
    const { pool } = live.database
    expect(await command.run(['status'], environment())).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /older than this program: their last migration is 0019_access. Run `collab-sync migrate`/,
      ),
    })
    const before = await picture(live.database)
    expect(
      Object.entries(before.rows)
        .filter(([, rows]) => rows.startsWith('0 '))
        .map(([name]) => name),
    ).toEqual([])
    const migrated = await command.run(['migrate', '--json'], environment())
    // On a slow machine it says how far it is.
    expect(migrated).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^(When comments were written: .*\n)*$/) as string,
    })
    expect(JSON.parse(migrated.stdout)).toMatchObject({
      applied: LATER.map((name) => name.replace(/\.sql$/, '')),
    })
    expect(await picture(live.database, before.columns)).toEqual(before)
    const { rows: wrong } = await pool.query(
      `select a.annotation_key
      from collab_store.annotations a cross join lateral collab_store.thread_facts(a.annotation_key) f
      where (a.first_comment_at, a.last_comment_at, a.first_answer_at)
        is distinct from (f.first_comment_at, f.last_comment_at, f.first_answer_at)`,
    )
    expect(wrong).toEqual([])
    const { rows } = await pool.query('select name from collab_sync.migrations order by run_on, id')
    expect(rows.map(({ name }) => name)).toEqual(MIGRATIONS)
    expect(await command.run(['migrate'], environment())).toMatchObject({ code: 0 })
    expect(await command.run(['status'], environment())).toMatchObject({ code: 0 })
  })

  test('and the next sync finds everything as it is', async () => {
    expect(await live.run()).toMatchObject({
      status: 'succeeded',
      records_inserted: 0,
      records_updated: 0,
      users_written: 0,
      comments_written: 0,
      comments_deleted: 0,
    })
  })

  /**
   * What could be lost: the catalog with the file of each relation, each row with its place, and what roles see.
   * @param columns of tables that were changed: all there are when left out
   */
  async function picture({ pool }: TestDatabase, columns?: Record<string, string[]>) {
    const { rows: tables } = await pool.query<{ name: string; columns: string[] }>(
      `select format('%I.%I', schemaname, tablename) as name, (
        select array_agg(attname::text order by attnum) from pg_attribute
        where attrelid = format('%I.%I', schemaname, tablename)::regclass and attnum > 0) as columns
      from pg_tables where schemaname in ('collab_store', 'sync', 'analyst') order by 1`,
    )
    const known = columns ?? Object.fromEntries(tables.map((each) => [each.name, each.columns]))
    const rows: Record<string, string> = {}
    for (const [name, of] of Object.entries(known)) {
      // The day of the last edit became that of writing.
      const kept = of.filter((column) => column !== 'day')
      const row = CHANGED_LATER.includes(name) ? kept.join(', ') : 'ctid, xmin, t'
      const found = await pool.query(
        `select count(*) || ' ' || md5(string_agg(row, ' ' order by row)) as rows from (select concat_ws('|', ${row}) as row from ${name} t) r`,
      )
      rows[name] = found.rows[0].rows ?? '0 '
    }
    const seen = async (role: string) => {
      const client = await pool.connect()
      try {
        await client.query(`set role ${role}`)
        const found = await client.query(
          `select organization_id, count(*), md5(string_agg(c::text, ' ' order by c::text))
          from (select organization_id, document_id, annotation_id, comment_id, author_name, author_email, comment_text,
            status, changed_at from reporting.comments) c group by 1 order by 1`,
        )
        return found.rows
      } finally {
        client.release(true)
      }
    }
    return {
      catalog: (await describeCatalog(pool, true)).filter(
        (line) => !CHANGED_LATER.some((name) => line.includes(name)),
      ),
      columns: known,
      rows,
      analyst: await seen(ANALYST),
      reader: await seen(READER),
    }
  }
})

describe('a database that is older than that', () => {
  let database: TestDatabase
  afterEach(() => database.drop())

  test('is left as it is, and told which version to migrate with first', async () => {
    database = await createEmptyDatabase()
    await migrateBeforeBaseline(database.pool, '0012_notifications')
    const before = await describeCatalog(database.pool, true)
    for (const args of [['migrate'], ['status']]) {
      expect(await command.run(args, { DATABASE_URL: database.url })).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(
          /^The tables are too old .*0013_noticed_once.* of commit 8eea79d first, then of this version\.\n$/,
        ),
      })
    }
    expect(await describeCatalog(database.pool, true)).toEqual(before)
    const { rows } = await database.pool.query(
      'select count(*)::int as known from collab_sync.migrations',
    )
    expect(rows).toEqual([{ known: 12 }])
  })
})

// What the two syncs leave empty.
const FURTHER_ROWS = `
  insert into collab_store.past_memberships (document_key, joined_at, removed_at, user_id)
  select document_key, first_seen_at, now(), user_id from collab_store.document_users limit 3;
  insert into sync.run_items (run_id, kind, state) select run_id, 'page-organizations', 'done' from sync.runs;
  insert into sync.failures (run_id, operation, attempts, organization_id) select run_id, 'users', 6, 'o' from sync.runs;
  insert into sync.rejected_records (run_id, operation, reason, record) select run_id, 'comments', 'why', '{}' from sync.runs;
  insert into sync.set_aside_records (digest, operation, set_aside_by, reason) values ('\\x01', 'users', 'me', 'known');
  insert into sync.observed_errors (http_status, operation, error_status, sample) values (418, 'users', 'TEAPOT', 'short');
  insert into sync.held (run_id, resolved_at, resolution, batch_key, scope_key, users_before, kind, content_digest,
    organization_id, missing_user_ids)
  select run_id, now(), 'accepted', 1, 1, 9, 'organization', '\\x02', 'o', '{a,b}' from sync.runs;
  insert into sync.erasures (pseudonym, reason, finished_at) values ('erased-1', 'asked', now());
  insert into sync.access_tokens (name, rights, token_hash) values ('prometheus', 'read', sha256('t'));
  insert into sync.schedule (cron, time_zone) values ('0 3 * * *', 'UTC');
  insert into sync.pace values ('service', now(), now());
  insert into sync.workers (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit)
  values ('host:1:a', now(), now(), 0, 16);
  with noted as (insert into sync.notifications (thing, kind, facts) values ('t', 'run.partial', '{}') returning notification_id)
  insert into sync.notification_deliveries (notification_id, receiver) select notification_id, 'r' from noted`

const ANALYSTS = `
  create schema analyst authorization ${ANALYST};
  create view analyst.busy as
  select h.organization_id, h.author_name, count(*) as versions, max(c.raw ->> 'status') as status
  from reporting.comment_history h
  join collab.comments c using (organization_id, document_id, annotation_id, comment_id)
  join reporting.thread_summary using (organization_id, document_id, annotation_id)
  group by 1, 2;
  create materialized view analyst.counted as select organization_id, day, comments from reporting.comment_activity_daily;
  create index counted_by_day on analyst.counted (day);
  create table analyst.marked (annotation_key integer, comment_id bigint, note text,
    foreign key (annotation_key, comment_id) references collab_store.comments);
  insert into analyst.marked select annotation_key, comment_id, 'look' from collab_store.comments limit 5;
  create index mine_of_status on collab_store.comments (status) where deleted_at is null;
  create statistics collab_store.mine on organization_key, status from collab_store.comments;
  comment on index collab_store.mine_of_status is 'For the Monday report.';
  create publication mine_${suffix} for table collab_store.comments;
  grant select on analyst.busy to public;
  grant select (comment_id, status) on collab_store.comments to ${ANALYST};
  grant create on schema reporting to ${ANALYST};
  set role ${ANALYST};
  create view reporting.of_an_analyst as select organization_id, count(*) from collab.comments group by 1;
  grant select on reporting.of_an_analyst to public, collab_reader;
  reset role`
