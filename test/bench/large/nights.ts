import type { BenchDatabase } from '../database.ts'

const NIGHTS = 370

/**
 * Makes a year of nights out of the first load and one night after it: their runs with items, failures and imports, the times of
 * comments and their versions, small transactions in the feed of changes, and threads that changed recently.
 */
export async function makeNights({ pool }: BenchDatabase, annotations: number): Promise<void> {
  const columns = await columnsOf(pool)
  const client = await pool.connect()
  const copy = (table: string, from: string, values: Readonly<Record<string, string>>) => {
    const names = columns.get(table) ?? []
    const selected = names.map((name) => `${values[name] ?? `t.${name}`}`)
    return client.query(
      `insert into ${table} (${names}) select ${selected} from ${table} t ${from}`,
    )
  }
  try {
    // Triggers would log these writes in the feed.
    await client.query(`set session_replication_role = replica; set synchronous_commit = off`)
    const { rows } = await client.query(
      'select run_id from sync.runs order by requested_at desc limit 1',
    )
    const night = `'${rows[0].run_id}'::uuid`
    const ago = (n: string) => `interval '1 day' * ${n}`
    const shifted = (n: string, ...names: string[]) =>
      Object.fromEntries(names.map((name) => [name, `t.${name} - ${ago(n)}`]))
    const runOf = (n: string) => `md5('night ' || ${n})::uuid`

    await copy(
      'sync.runs',
      `cross join generate_series(1, ${NIGHTS - 1}) n where t.run_id = ${night}`,
      {
        ...shifted('n', 'requested_at', 'started_at', 'finished_at'),
        run_id: runOf('n'),
        trigger: `'schedule'`,
      },
    )
    await copy('sync.runs', `cross join generate_series(1, 1000) n where t.run_id = ${night}`, {
      ...shifted('n / 3.0', 'requested_at', 'started_at', 'finished_at'),
      run_id: 'gen_random_uuid()',
      scope: `jsonb_build_object('organizationIds', jsonb_build_array('org-' || lpad((n % 1000)::text, 9, '0')))`,
    })
    await copy(
      'sync.run_items',
      `cross join generate_series(1, ${NIGHTS - 1}) n where t.run_id = ${night}`,
      {
        ...shifted('n', 'claimed_at', 'finished_at'),
        run_id: runOf('n'),
      },
    )
    await copy(
      'sync.failures',
      `cross join generate_series(3, ${NIGHTS - 1}, 3) n where t.run_id = ${night}`,
      {
        ...shifted('n', 'at'),
        run_id: runOf('n'),
        resolved_at: `t.at - ${ago('(n - 1)')}`,
        resolved_by: runOf('(n - 1)'),
      },
    )
    await client.query(
      `insert into sync.catalog_imports (at, last_seen_at, source, requested_by, state, lines, added)
      select now() - ${ago('n')}, now() - ${ago('n')}, 'CATALOG_SQL', 'schedule', 'applied', $1, 100 from generate_series(1, $2) n`,
      [annotations, NIGHTS],
    )

    // A tenth of the comments was found after the first night; versions ended in some night.
    const found = `now() - ${ago(`case when annotation_key % 10 = 9 then annotation_key / 10 % ${NIGHTS} else ${NIGHTS} end`)}`
    const changed = `now() - ${ago(`(annotation_key / 7 % ${NIGHTS})`)}`
    // The patterns span 90 days: threads are spread over a year.
    const spread = (...names: string[]) =>
      names.map((name) => `${name} = ${name} - ${ago('40 * (annotation_key % 8)')}`).join()
    await client.query(
      `update collab_store.annotations set ${spread('first_comment_at', 'last_comment_at', 'first_answer_at')}
      where comment_count > 0`,
    )
    await client.query(
      `update collab_store.comments set ${spread('last_updated', 'first_updated', 'day')}, first_seen_at = ${found},
        changed_at = case when change = 'added' then ${found} else greatest(${found}, ${changed}) end,
        version_at = case when change = 'added' then ${found} else greatest(${found}, ${changed}) end,
        deleted_at = case when deleted_at is not null then greatest(${found}, ${changed}) end`,
    )
    await client.query(
      `update collab_store.comment_versions set valid_from = ${found}, valid_to = greatest(${found}, ${changed})`,
    )
    await client.query(`update collab_store.changes set at = at - ${ago(String(NIGHTS))}`)
    for (const table of ['users', 'document_users', 'user_group_members'])
      await client.query(
        `update collab_store.${table} set first_seen_at = first_seen_at - ${ago(String(NIGHTS))}`,
      )
    await client.query(
      `insert into collab_store.changes (at, run_id, lines, object, change, keys, comment_ids)
      select now() - ${ago('(n % $2)')}, md5('night ' || n % $2)::uuid, 1, case when n % 2 = 0 then 'annotation' else 'comment' end,
        'edited', array[1 + n * 7919 % $1], case when n % 2 = 1 then array[100000 + n % 10] end
      from generate_series(1, $1::bigint * $2::bigint / 1000) n order by n % $2 desc`,
      [annotations, NIGHTS],
    )
    await client.query(
      `insert into collab_store.recent_threads (annotation_key, batch_key, active_at)
      select annotation_key, batch_key, now() - interval '11 days' * random() from collab_store.annotations
      where annotation_key % 100 < 3 on conflict do nothing`,
    )
  } finally {
    client.release(true)
  }
  // As full as a load leaves them.
  await pool.query('vacuum full collab_store.comments, collab_store.comment_versions')
  await pool.query('vacuum (analyze)')
}

/** The columns of each table of ours that a row is copied with. */
async function columnsOf(pool: BenchDatabase['pool']): Promise<Map<string, string[]>> {
  const { rows } = await pool.query(`
    select table_schema || '.' || table_name as name, array_agg(column_name::text) as columns
    from information_schema.columns
    where table_schema = 'sync' and is_generated = 'NEVER' and is_identity = 'NO'
    group by 1`)
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}
