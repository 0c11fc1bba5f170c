import type { TestDatabase } from './database.ts'

/** Lets hours pass for all checks: moves every stored time of a check back. */
export async function ageChecks({ pool }: TestDatabase, hours: number): Promise<void> {
  const { rows } = await pool.query<{ table: string; column: string }>(
    `select format('%I.%I', table_schema, table_name) as table, column_name as column
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'collab_store' and table_type = 'BASE TABLE' and column_name in ('checked_at', 'own_checked_at')`,
  )
  for (const { table, column } of rows)
    await pool.query(`update ${table} set ${column} = ${column} - make_interval(hours => $1)`, [
      hours,
    ])
}
