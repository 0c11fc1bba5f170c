import type { TestDatabase } from '../helpers/database.ts'

/** Every row of every table of ours as text, the queue's tables too, by table: what a dump of the database would hold. */
export async function textsOf(database: TestDatabase): Promise<Map<string, string>> {
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') and schemaname not like 'pg\\_temp%' order by 1`,
  )
  const texts = new Map<string, string>()
  for (const { name } of tables) {
    const { rows } = await database.pool.query(`select t::text as row from ${name} t`)
    texts.set(name, rows.map(({ row }) => row).join('\n'))
  }
  // Samples of values, which the planner keeps.
  const { rows } = await database.pool.query(
    `select s::text as row from pg_stats s where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  texts.set('pg_stats', rows.map(({ row }) => row).join('\n'))
  return texts
}
