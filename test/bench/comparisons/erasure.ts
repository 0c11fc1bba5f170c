import { setTimeout } from 'node:timers/promises'
import { openDatabase, transaction } from '../../../src/database/pool.ts'
import type { Database } from '../../../src/database/pool.ts'
import { eraseUser } from '../../../src/erase/erase-user.ts'
import { figure, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { createBenchDatabase, walOf } from '../database.ts'
import { SIZE, generate } from '../reports/reports.ts'

const PERSON = {
  userId: 'person-zz-17',
  name: 'Wilhelmine Zzyzx',
  email: 'w.zzyzx@unlisted.example',
}

export const erasure: Comparison = {
  name: 'erasure',
  title: 'Erasing a person at 5,000,000 comments',
  explains:
    'A person with 2,000 comments of their own, edited ones too, who is listed in five organizations and stands in 2,000 records of others (an address in another case, in a link, an id in a list), is erased from generated rows of three years; beside it something takes batches and writes to them as commits do, all the time. Everything is looked through once: that is the time. What is written is what held the person, and the version of every batch. ERASURE_BENCH_URL names a database that has the rows already; BENCH_DATABASE_URL a server that others use writes WAL of theirs too.',
  isOnlyByName: true,
  async run(servers) {
    const given = process.env['ERASURE_BENCH_URL']
    const database = given === undefined ? await createBenchDatabase(servers, null) : null
    const url = given ?? (database?.url as string)
    const pool = openDatabase(url, { applicationName: 'bench' })
    const erasing = openDatabase(url, { applicationName: 'erase' })
    try {
      if (given === undefined) await generate(url, SIZE)
      await addPerson(pool)
      const watch = watchLocksOf(pool, 'erase')
      const commits = commitBeside(pool)
      const began = performance.now()
      const request = { userId: PERSON.userId, organizationId: null, reason: 'the benchmark' }
      const { walBytes, result } = await walOf(servers, () => eraseUser(erasing, request))
      const seconds = (performance.now() - began) / 1000
      const beside = await commits.stop()
      const locks = await watch.stop()
      const { erasureId, comments, mentionsInRecords, commentVersions, memberships } = result
      return {
        tables: [
          {
            title: `Erasure ${erasureId}`,
            head: ['', ''],
            rows: [
              ['seconds', short(seconds)],
              ['MB of WAL, that of the commits beside it too', short(walBytes / 1e6)],
              ['comments of the person', comments],
              ['their earlier versions, and others with the address', commentVersions],
              ['records of others', mentionsInRecords],
              ['memberships', memberships],
              ['commits beside it', beside.commits],
              ['longest of them, ms', short(beside.longestMs)],
              ['longest of as many seconds without an erasure, ms', short(await alone(pool))],
              ['longest wait of anybody for the erasure seen, ms', locks.blockedMs],
              ['deadlocks', locks.deadlocks],
            ],
          },
          {
            title: 'Locks that it held, looked at every 20 ms',
            head: ['mode', 'on', 'times seen'],
            rows: [...locks.held].map(
              ([what, times]) => [...what.split(' on '), times] as string[],
            ),
          },
        ],
        figures: [
          figure('erasure.seconds', 'seconds at 5,000,000 comments', [seconds], {
            unit: 's',
            better: 'lower',
          }),
          figure('erasure.blocked', 'longest wait for it seen', [locks.blockedMs], {
            unit: 'ms',
            better: 'lower',
          }),
        ],
      }
    } finally {
      await erasing.end()
      await pool.end()
      await database?.drop()
    }
  },
}

async function addPerson(pool: Database): Promise<void> {
  const { userId, name, email } = PERSON
  await pool.query('set statement_timeout = 0')
  await pool.query(
    `insert into collab_store.users (organization_key, source, listed, first_seen_at, changed_at, digest, user_id, name, email)
    select n, 3, true, now(), now(), '\\x00', $1, $2, $3 from generate_series(1, 5) n on conflict do nothing`,
    [userId, name, email],
  )
  await pool.query(
    `insert into collab_store.document_users (document_key, first_seen_at, joined_at, user_id)
    select document_key, now(), now(), $1 from collab_store.documents where organization_key <= 5 on conflict do nothing`,
    [userId],
  )
  await pool.query(
    `with chosen as (
      select annotation_key, comment_id, row_number() over () as n from collab_store.comments
      where organization_key <= 5 and hashint8(comment_id * 7919 + annotation_key) % 50 = 0 limit 4000
    )
    update collab_store.comments c
    set author_user_id = case when n.n % 2 = 0 then $1 else c.author_user_id end,
      author_name = case when n.n % 2 = 0 then $2 else c.author_name end,
      author_email = case when n.n % 2 = 0 then $3 else c.author_email end,
      rest = case when n.n % 2 = 0 then c.rest else jsonb_build_object('notifyEmails', jsonb_build_array(upper($3::text)), 'readBy', jsonb_build_array($1::text),
        'link', 'https://x.example/?mail=' || replace($3, '@', '%40')) end
    from chosen n where c.annotation_key = n.annotation_key and c.comment_id = n.comment_id`,
    [userId, name, email],
  )
}

/** Takes batch after batch, and writes to one of its comments, as a commit does. */
export function commitBeside(pool: Database) {
  let isOver = false
  let commits = 0
  let longestMs = 0
  const working = (async () => {
    while (!isOver) {
      const began = performance.now()
      await transaction(pool, async (client) => {
        const { rows } = await client.query(
          `select b.batch_key from collab_store.batches b where b.operation = 'comments' and b.batch_key >=
            (select (random() * max(batch_key))::int from collab_store.batches) order by 1 limit 1 for no key update`,
        )
        await client.query(
          `update collab_store.comments c set changed_at = now()
          from (select annotation_key from collab_store.annotations where batch_key = $1 limit 1) a
          where c.annotation_key = a.annotation_key`,
          [rows[0]?.batch_key],
        )
      })
      commits += 1
      longestMs = Math.max(longestMs, performance.now() - began)
      await setTimeout(5)
    }
  })()
  return {
    async stop() {
      isOver = true
      await working
      return { commits, longestMs }
    },
  }
}

async function alone(pool: Database): Promise<number> {
  const commits = commitBeside(pool)
  await setTimeout(20_000)
  return (await commits.stop()).longestMs
}

/** Looks every 20 ms what a program holds, known by its name among connections, and who waits for it. */
export function watchLocksOf(pool: Database, name: string) {
  const holder = `collab-sync ${name}%`
  const held = new Map<string, number>()
  let isOver = false
  let blockedMs = 0
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await pool.query(
        `select distinct l.mode || ' on ' || coalesce(l.relation::regclass::text, l.locktype) as what
        from pg_locks l join pg_stat_activity a using (pid)
        where a.application_name like $1 and a.datname = current_database() and l.granted
          and l.locktype <> 'virtualxid' and l.mode <> 'AccessShareLock'`,
        [holder],
      )
      for (const { what } of rows) held.set(what, (held.get(what) ?? 0) + 1)
      const waits = await pool.query(
        `select coalesce(max(extract(epoch from clock_timestamp() - l.waitstart) * 1000), 0)::int as ms
        from pg_locks l join pg_stat_activity e on e.pid = any(pg_blocking_pids(l.pid))
        where not l.granted and e.application_name like $1 and e.datname = current_database()`,
        [holder],
      )
      blockedMs = Math.max(blockedMs, waits.rows[0].ms)
      await setTimeout(20)
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      const { rows } = await pool.query(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      )
      return { held, blockedMs, deadlocks: rows[0].deadlocks as number }
    },
  }
}
