import type { TestDatabase } from './database.ts'

/** Of every table of ours its rows and a digest of them all; not the pace of calls and the heartbeats of workers. */
export async function dumpTables(database: TestDatabase): Promise<Record<string, string>> {
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('collab_store', 'sync', 'collab_sync') and tablename not in ('pace', 'workers')
    order by 1`,
  )
  const dump: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await database.pool.query(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') as content
      from ${name} t`,
    )
    dump[name] = rows[0].content
  }
  return dump
}
