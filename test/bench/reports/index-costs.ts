import type pg from 'pg'
import type { Table } from '../bench.ts'

/** Rows for each measurement, in commits of the size that a batch makes. */
const FIRST_KEY = 100_000
const LAST_KEY = 140_000
const KEYS_A_COMMIT = 256

/** What each index on comments adds to writing them for the first time, by the same rows with and without it, the quickest of three. */
export async function indexCosts(client: pg.Client): Promise<Table> {
  const { rows: indexes } = await client.query(
    `select relname as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = 'collab_store.comments'::regclass and not indisprimary order by 1`,
  )
  await load(client, null) // the first one warms the cache
  const plain = await quickest(client, null)
  const rows: (string | number)[][] = [['(key only)', us(plain.seconds / plain.rows), '', '']]
  for (const { name, definition } of indexes) {
    const with_ = await quickest(client, definition)
    rows.push([
      name,
      us((with_.seconds - plain.seconds) / plain.rows),
      Math.round((with_.walBytes - plain.walBytes) / plain.rows),
      Math.round(with_.indexBytes / plain.rows),
    ])
  }
  return {
    title: `Added to each new comment by one index: ${plain.rows.toLocaleString('en')} comments inserted on the server`,
    head: ['index', 'microseconds a comment', 'bytes of WAL', 'bytes on disk'],
    rows,
  }
}

interface Load {
  readonly rows: number
  readonly seconds: number
  readonly walBytes: number
  readonly indexBytes: number
}

/** Of three: whatever else the machine does only adds. */
async function quickest(client: pg.Client, definition: string | null): Promise<Load> {
  const loads: Load[] = []
  for (let time = 0; time < 3; time += 1) loads.push(await load(client, definition))
  return loads.reduce((best, each) => (each.seconds < best.seconds ? each : best))
}

async function load(client: pg.Client, definition: string | null): Promise<Load> {
  await client.query('drop table if exists public.loaded')
  await client.query(
    'create table public.loaded (like collab_store.comments including defaults including constraints)',
  )
  await client.query('alter table public.loaded add primary key (annotation_key, comment_id)')
  if (definition !== null) {
    await client.query(
      definition
        .replace(/^CREATE INDEX \S+/, 'create index measured')
        .replace('collab_store.comments', 'public.loaded'),
    )
  }
  await client.query('checkpoint')
  const before = await client.query('select pg_current_wal_lsn() as at')
  const began = performance.now()
  let rows = 0
  for (let key = FIRST_KEY; key < LAST_KEY; key += KEYS_A_COMMIT) {
    const { rowCount } = await client.query(
      `insert into public.loaded select * from collab_store.comments where annotation_key between $1 and $2`,
      [key, key + KEYS_A_COMMIT - 1],
    )
    rows += rowCount ?? 0
  }
  const seconds = (performance.now() - began) / 1000
  const { rows: sizes } = await client.query(
    `select pg_current_wal_lsn() - $1::pg_lsn as wal,
      coalesce(pg_relation_size(to_regclass('public.measured')), 0) as index`,
    [before.rows[0].at],
  )
  await client.query('drop table public.loaded')
  return { rows, seconds, walBytes: Number(sizes[0].wal), indexBytes: Number(sizes[0].index) }
}

function us(seconds: number): string {
  return (seconds * 1e6).toFixed(1)
}
