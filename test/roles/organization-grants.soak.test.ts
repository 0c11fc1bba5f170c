import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { grantRole, revokeRole } from '../../src/database/grants.ts'
import { migrate } from '../../src/database/migrate.ts'
import { EnvironmentError, UsageError } from '../../src/errors.ts'
import { onServer } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

const suffix = randomBytes(5).toString('hex')
const ONE = `cs_one_${suffix}`
const MEMBER = `cs_member_${suffix}`
const ALL = `cs_all_${suffix}`
const NOBODY = `cs_nobody_${suffix}`
const ROLES = [ONE, MEMBER, ALL, NOBODY]

let live: Live
let own: string
let others: string[]

beforeAll(async () => {
  live = await openLive('none', { world: { seed: 11 } })
  await live.importCatalog()
  expect((await live.run())['status']).toBe('succeeded')
  ;[own = '', ...others] = live.world.organizationIds()
  for (const role of ROLES) await live.database.pool.query(`create role ${role} login`)
  await live.database.pool.query(`grant ${ONE} to ${MEMBER}`)
  await grantRole(live.database.pool, ALL, null)
  await grantRole(live.database.pool, ONE, own)
})

afterAll(async () => {
  await live.close()
  await onServer(async (server) => {
    for (const role of ROLES) await server.query(`drop role if exists ${role}`)
  })
})

/** Rows as a role sees them, and what its queries raised on the way. */
async function as(
  role: string,
  text: string,
): Promise<{ rows: pg.QueryResultRow[]; notices: string[] }> {
  const client = await live.database.pool.connect()
  const notices: string[] = []
  const listener = ({ message }: { message?: string | undefined }) => notices.push(message ?? '')
  client.on('notice', listener)
  try {
    await client.query(`begin; set local role ${role}`)
    return { rows: (await client.query(text)).rows, notices }
  } finally {
    await client.query('rollback')
    client.off('notice', listener)
    client.release()
  }
}

async function viewsOfOurs(): Promise<string[]> {
  const { rows } = await live.database.pool.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('collab', 'reporting') and c.relkind in ('v', 'r', 'm', 'p') order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** Functions that give rows, called with sensible arguments. */
async function functionsOfOurs(): Promise<string[]> {
  const { rows } = await live.database.pool.query<{ name: string; types: string[] }>(
    `select format('%I.%I', n.nspname, p.proname) as name,
      array(select case when p.proargnames[n] = 'time_zone' then 'time zone' else format_type(t, null) end
        from unnest(p.proargtypes) with ordinality a (t, n)) as types
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('collab', 'reporting') order by 1`,
  )
  const sensible: Record<string, string> = {
    'timestamp with time zone': 'now()',
    'time zone': `'Europe/Berlin'`,
  }
  const argument = (type: string, place: number) => sensible[type] ?? (place === 0 ? `'a'` : 'null')
  // The feed is read from its beginning.
  return rows.map(({ name, types }) =>
    ['reporting.changes', 'reporting.changes_as_json'].includes(name)
      ? `${name}(max_changes => 1000000)`
      : `${name}(${types.map(argument).join(', ')})`,
  )
}

/** Everything that a role reads through every view and function, as one text a view. */
async function everything(role: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const source of [...(await viewsOfOurs()), ...(await functionsOfOurs())]) {
    const { rows } = await as(role, `select x::text as row from ${source} x`)
    texts.set(source, rows.map(({ row }) => row as string).join('\n'))
  }
  return texts
}

async function rowsOf(role: string, relation: string): Promise<number> {
  return (await as(role, `select count(*)::int as n from ${relation}`)).rows[0]?.['n']
}

/** What only the other organizations hold: their ids, and words of theirs. */
async function textsOfOthers(): Promise<string[]> {
  const { rows } = await live.database.pool.query<{ text: string }>(
    `select comment_text as text from collab.comments where organization_id = any($1) and length(comment_text) > 20
      and comment_text not in (select comment_text from collab.comments where organization_id = $2 and comment_text is not null)
    union all select email from collab.users where organization_id = any($1) and email is not null
      and email not in (select email from collab.users where organization_id = $2 and email is not null)`,
    [others, own],
  )
  const { rows: all } = await live.database.pool.query<{ text: string }>(
    `select string_agg(c::text, ' ') as text from collab.comments c where organization_id = $1
    union all select string_agg(u::text, ' ') from collab.users u where organization_id = $1
    union all select string_agg(v::text, ' ') from collab.comment_versions v where organization_id = $1`,
    [own],
  )
  const ownText = all.map(({ text }) => text).join(' ')
  return rows
    .map(({ text }) => text.replaceAll('"', '""'))
    .filter((text) => !ownText.includes(text))
}

describe('a role that was granted one organization', () => {
  test('reads all of it, through every view', async () => {
    for (const relation of [
      'users',
      'user_versions',
      'comments',
      'comment_versions',
      'document_users',
      'documents',
      'annotations',
      'user_group_members',
      'user_groups',
      'organizations',
    ]) {
      const { rows } = await live.database.pool.query(
        `select count(*)::int as n from collab.${relation} where organization_id = $1`,
        [own],
      )
      expect(rows[0].n, relation).toBeGreaterThan(0)
      expect(await rowsOf(ONE, `collab.${relation}`), relation).toBe(rows[0].n)
    }
  })

  test('reads nothing of another through any view or function', async () => {
    const hidden = await textsOfOthers()
    expect(hidden.length).toBeGreaterThan(100)
    const seen = await everything(ONE)
    expect(seen.size).toBeGreaterThan(10)
    expect(seen.get('collab.comments')?.length).toBeGreaterThan(1000)
    for (const [source, text] of seen) {
      for (const each of hidden) expect(text.includes(each), `${source}: ${each}`).toBe(false)
    }
    // Views with an organization in each row, by the row.
    const { rows } = await live.database.pool.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.columns
      where table_schema in ('collab', 'reporting') and column_name = 'organization_id'`,
    )
    for (const { name } of rows) {
      const ids = (await as(ONE, `select distinct organization_id as id from ${name}`)).rows
      expect(
        ids.filter(({ id }) => id !== own && id !== null),
        name,
      ).toEqual([])
    }
  })

  test('learns nothing by a function in its query that tells what it is called with', async () => {
    const client = live.database.pool
    await client.query(
      `create schema leaky_${suffix}; grant usage, create on schema leaky_${suffix} to ${ONE}`,
    )
    const leak = `leaky_${suffix}.leak`
    await client.query(
      `create function ${leak}(text) returns boolean language plpgsql cost 0.0000001 as
      $$ begin raise notice '%', $1; return true; end $$`,
    )
    const hidden = new Set(await textsOfOthers())
    const queries = [
      `select 1 from collab.comments where ${leak}(comment_text)`,
      `select 1 from reporting.comments where ${leak}(comment_text)`,
      `select 1 from collab.comment_versions where ${leak}(comment_text)`,
      `select 1 from collab.users where ${leak}(email)`,
      `select 1 from collab.users u join collab.comments c on ${leak}(u.email || c.comment_text) where u.user_id = c.author_user_id`,
      `select 1 from collab.organizations where ${leak}(organization_id)`,
      `select 1 from collab.comments where ${leak}(comment_text) order by ${leak}(author_email) limit 3`,
    ]
    for (const query of queries) {
      const { notices } = await as(ONE, query)
      expect(notices.length, query).toBeGreaterThan(0)
      expect(
        notices.filter((notice) => hidden.has(notice) || others.includes(notice)),
        query,
      ).toEqual([])
    }
  })

  test('learns nothing by an error that only rows of others would raise', async () => {
    const { rows } = await live.database.pool.query<{ id: string }>(
      `select comment_id::text as id from collab.comments where organization_id = any($1)
      and comment_id not in (select comment_id from collab.comments where organization_id = $2) limit 1`,
      [others, own],
    )
    const id = rows[0]?.id
    if (id === undefined) throw new Error('no comment id of others alone')
    await as(
      ONE,
      `select 1 / (comment_id - ${id}) from collab.comments where 1 / (comment_id - ${id}) = 7`,
    )
    await expect(
      as(ALL, `select 1 from collab.comments where 1 / (comment_id - ${id}) = 7`),
    ).rejects.toThrow('division by zero')
  })

  test('cannot read, write or change anything beneath', async () => {
    for (const statement of [
      'select * from collab_store.comments',
      'select * from collab_store.organization_grants',
      'select * from sync.erasures',
      'select * from sync.privacy',
      'select * from sync.rejected_records',
      `insert into collab_store.organization_grants select organization_key, '${ONE}' from collab_store.organizations`,
      `delete from collab.comments`,
      `alter table collab_store.comments disable row level security`,
      `create view collab.mine as select 1`,
    ]) {
      await expect(as(ONE, statement), statement).rejects.toThrow(
        /permission denied|must be owner|cannot delete/,
      )
    }
  })

  test('is no member of the role that owns the views', async () => {
    const { rows } = await live.database.pool.query(
      `select pg_has_role($1, 'collab_views', 'member') as is_member`,
      [ONE],
    )
    expect(rows[0].is_member).toBe(false)
  })

  test('searches its own organization only, and who may not read comments cannot search them', async () => {
    const { rows } = await live.database.pool.query(
      `select distinct organization_id as id from reporting.search_comments('page', null, 100000)`,
    )
    expect(rows.length).toBeGreaterThan(1)
    const search = `select distinct organization_id as id from reporting.search_comments('page', null, 100000)`
    expect((await as(ONE, search)).rows).toEqual([{ id: own }])
    expect((await as(ALL, search)).rows.length).toBe(rows.length)
    await live.database.pool.query(`grant usage on schema reporting to ${NOBODY}`)
    await expect(as(NOBODY, search)).rejects.toThrow(
      'permission denied for view reporting.comments',
    )
  })

  test('searches by author, time and page within its own organization only, and counts nothing else', async () => {
    const { rows: known } = await live.database.pool.query<{ author: string; own: number }>(
      `select author_user_id as author, count(*) filter (where organization_id = $1)::int as own
      from reporting.comments where comment_text ~* '\\mpage' group by 1 having count(*) > count(*) filter (where organization_id = $1)`,
      [own],
    )
    expect(known.some((row) => row.own > 0)).toBe(true)
    for (const { author, own: expected } of known) {
      const { rows } = await as(
        ONE,
        `select organization_id, matches from reporting.search('page', author_user_id => ${pg.escapeLiteral(author)}, updated_from => '-infinity')`,
      )
      expect(rows, author).toEqual(
        Array.from({ length: expected }, () => ({
          organization_id: own,
          matches: String(expected),
        })),
      )
    }
    // A page's last comment is of others: what follows is still of its own only.
    const { rows } = await live.database.pool.query<{ cursor: string }>(
      `select cursor from reporting.search('page', max_results => 1000) where organization_id <> $1 limit 1`,
      [own],
    )
    const after = `after => '${rows[0]?.cursor}'`
    const behind = `select distinct organization_id as id from reporting.search('page', ${after}, max_results => 1000)`
    expect((await as(ONE, behind)).rows).toEqual([{ id: own }])
    expect((await as(ALL, behind)).rows.length).toBeGreaterThan(1)
    expect(
      (
        await as(
          ONE,
          `select from reporting.search('page', organization_id => ${pg.escapeLiteral(others[0] ?? '')})`,
        )
      ).rows,
    ).toEqual([])
    await expect(as(NOBODY, `select from reporting.search('page')`)).rejects.toThrow(
      'permission denied for view reporting.comments',
    )
  })

  test('shares what it sees with its members, and sees more when it is granted more', async () => {
    const before = await rowsOf(ONE, 'collab.comments')
    expect(await rowsOf(MEMBER, 'collab.comments')).toBe(before)
    const second = others[0] ?? ''
    expect(await grantRole(live.database.pool, ONE, second)).toEqual({
      organizationIds: [own, second].sort(),
    })
    expect(await rowsOf(ONE, 'collab.comments')).toBeGreaterThan(before)
    expect(await revokeRole(live.database.pool, ONE, second)).toEqual({ organizationIds: [own] })
    expect(await rowsOf(ONE, 'collab.comments')).toBe(before)
  })
})

test('a role that was granted everything, and the owner, see all organizations', async () => {
  const { rows } = await live.database.pool.query(
    'select count(*)::int as n from collab_store.comments',
  )
  expect(await rowsOf(ALL, 'collab.comments')).toBe(rows[0].n)
  const { rows: owner } = await live.database.pool.query(
    'select count(*)::int as n from collab.comments',
  )
  expect(owner[0].n).toBe(rows[0].n)
})

test('a sync costs the worker nothing more: no policy is in its plans', async () => {
  const { rows } = await live.database.pool.query(
    'explain select digest from collab_store.comments where annotation_key = any(array[1, 2])',
  )
  expect(JSON.stringify(rows)).not.toContain('organization_grants')
  const seen = await live.database.pool.query('explain select * from collab.comments')
  expect(JSON.stringify(seen.rows)).toContain('organization_grants')
})

test('every table beneath the views has a policy, so that none is left open or shut by mistake', async () => {
  const { rows } = await live.database.pool.query(
    `select c.oid::regclass::text as name from pg_class c
    where c.relnamespace = 'collab_store'::regnamespace and c.relkind in ('r', 'p')
      and not exists (select from pg_policy p where p.polrelid = c.oid)`,
  )
  expect(rows).toEqual([])
})

test('views that an upgrade brings are closed to such roles until migrate has put them under the policies', async () => {
  await live.database.pool.query(
    'create view reporting.brought_later as select comment_text from collab_store.comments',
  )
  await expect(rowsOf(ONE, 'reporting.brought_later')).rejects.toThrow('permission denied')
  await migrate(live.database.url)
  expect(await rowsOf(ONE, 'reporting.brought_later')).toBe(await rowsOf(ONE, 'collab.comments'))
  expect(await rowsOf(ALL, 'reporting.brought_later')).toBe(await rowsOf(ALL, 'collab.comments'))
  await live.database.pool.query('drop view reporting.brought_later')
})

test('what cannot be granted is said in one sentence', async () => {
  const grant = (role: string, organization: string | null) =>
    grantRole(live.database.pool, role, organization)
  await expect(grant('nobody_here', null)).rejects.toThrow(
    'There is no role nobody_here in PostgreSQL.',
  )
  await expect(grant(ONE, 'nowhere')).rejects.toThrow(
    'There is no organization "nowhere" in the catalog.',
  )
  await expect(grant('postgres', own)).rejects.toThrow(UsageError)
  await expect(revokeRole(live.database.pool, ONE, others[0] ?? '')).rejects.toThrow(
    'was not granted',
  )
})

test('a worker that may not make roles is told who can', async () => {
  const weak = `cs_weak_${suffix}`
  await live.database.pool.query(`create role ${weak} login password 'x'`)
  try {
    const { Pool } = (await import('pg')).default
    const pool = new Pool({ connectionString: live.database.url, options: `-c role=${weak}` })
    try {
      await live.database.pool.query(
        `grant usage on schema collab_store to ${weak};
        grant all on all tables in schema collab_store to ${weak}`,
      )
      await expect(grantRole(pool, ALL, null)).rejects.toThrow(EnvironmentError)
    } finally {
      await pool.end()
    }
  } finally {
    await live.database.pool.query(`drop owned by ${weak}; drop role ${weak}`)
  }
})

test('taking everything back leaves a role without any right', async () => {
  await revokeRole(live.database.pool, ONE, null)
  await expect(rowsOf(ONE, 'collab.comments')).rejects.toThrow('permission denied')
  await revokeRole(live.database.pool, ALL, null)
  await expect(rowsOf(ALL, 'collab.comments')).rejects.toThrow('permission denied')
})
