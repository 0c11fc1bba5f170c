import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { requireSchema } from '../../src/core/database/schema.ts'
import { rolledBack } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { EnvironmentError } from '../../src/base/errors.ts'
import { openOwnPostgres } from '../faults/servers.ts'
import {
  createEmptyDatabase,
  createTestDatabase,
  onServer,
  openTestDatabase,
  urlWith,
} from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { revokingStatements } from './revoking-statements.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createEmptyDatabase()
})

test('the first migrate applies every migration, the second none', async () => {
  const first = await migrate(database.url)
  expect(first.applied[0]).toBe('001_catalog')
  expect(first.readerRole).toEqual({ granted: true })
  expect(await migrate(database.url)).toEqual({
    applied: [],
    readerRole: { granted: true },
    derived: null,
    privacy: [],
    rewritten: [],
  })
  await requireSchema(database.pool)
})

test('six at once apply every migration once', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => migrate(database.url)))
  const applied = all.filter((one) => one.applied.length > 0)
  expect(applied).toHaveLength(1)
  expect(all.every((one) => one.readerRole.granted)).toBe(true)
  const rows = await database.rows('select name from collab_sync.migrations order by applied_at')
  expect(rows.map((row) => row.name)).toEqual(applied[0]?.applied)
})

test('a migration that fails leaves nothing behind and says so', async () => {
  await database.pool.query('create schema reporting')
  await expect(migrate(database.url)).rejects.toThrow(
    /The migration 011_reporting_comments failed, and nothing was changed: .*"reporting" already exists/,
  )
  const rows = await database.rows(
    `select from pg_namespace where nspname in ('collab', 'collab_store', 'sync')`,
  )
  expect(rows).toHaveLength(0)
  await database.pool.query('drop schema reporting')
  expect((await migrate(database.url)).applied).toContain('011_reporting_comments')
})

describe('tables of another version', () => {
  const all = `update collab_sync.migrations set`
  const last = `where name = (select max(name) from collab_sync.migrations)`
  const other = `insert into collab_sync.migrations (name, checksum, works_with, version)`
  const unknown = `${other} values ('998_future', repeat('a', 64), null, '9.1.0')`
  const understood = `${other} values ('999_future', repeat('a', 64), '0.1.0', '9.2.0')`
  /** By state: what makes it, and the message of each command; null where all work. */
  const STATES: Record<string, { made: string[]; message: RegExp | null; isPending?: true }> = {
    current: { made: [], message: null },
    understood: { made: [understood], message: null },
    missing: {
      made: ['delete from collab_sync.migrations'],
      message:
        /^The database has no tables of collab-sync yet \(.+\)\. Run `collab-sync migrate`\.$/,
      isPending: true,
    },
    older: {
      made: [`delete from collab_sync.migrations ${last}`],
      message:
        /^The tables are older than this program: they lack the migration \d{3}_\w+\. Run `collab-sync migrate`\.$/,
      isPending: true,
    },
    unreleased: {
      made: ['alter table collab_sync.migrations drop column checksum'],
      message:
        /^The tables were made before version 0\.1\.0 and cannot be upgraded\. .*new database/,
    },
    edited: {
      made: [`${all} checksum = repeat('a', 64), version = '0.1.7' ${last}`],
      message:
        /^The migration \d{3}_\w+ of these tables, applied by a build of version 0\.1\.7, differs from that of this program\. Use the build that made the tables, or /,
    },
    foreign: {
      made: [`${all} name = '500_other' ${last}`],
      message:
        /^The tables have the migration 500_other, which this program does not have, and lack \d{3}_\w+\. Use the build /,
    },
    newer: {
      made: [understood, unknown],
      message:
        /^The tables were made by a newer version of collab-sync, 9\.2\.0 \(998_future, 999_future\)\. Update this program\.$/,
    },
    'newer than what is understood': {
      made: [`${other} values ('999_future', repeat('a', 64), '0.2.0', '0.2.0')`],
      message: /newer version of collab-sync, 0\.2\.0 \(999_future\)\. Update this program/,
    },
  }

  test.each(Object.entries(STATES))('%s', async (_state, { made, message, isPending = false }) => {
    const migrated = await createTestDatabase()
    for (const statement of made) await migrated.pool.query(statement)
    const before = await migrationsOf(migrated.pool)
    const refused = { message: expect.stringMatching(message ?? ''), isPending }
    if (message === null) await requireSchema(migrated.pool)
    else await expect(requireSchema(migrated.pool)).rejects.toMatchObject(refused)
    if (message === null) expect((await migrate(migrated.url)).applied).toEqual([])
    else if (!isPending) await expect(migrate(migrated.url)).rejects.toMatchObject(refused)
    if (!isPending) expect(await migrationsOf(migrated.pool)).toEqual(before)
  })

  test('no address is in a message that must not name the place', async () => {
    await expect(requireSchema(database.pool, '')).rejects.toThrow(
      'The database has no tables of collab-sync yet. Run `collab-sync migrate`.',
    )
  })

  async function migrationsOf(pool: Database) {
    return (await pool.query('select * from collab_sync.migrations order by name')).rows
  }
})

describe('roles', () => {
  const role = `cs_test_role_${randomBytes(5).toString('hex')}`

  async function asOwner(attributes: string, work: (url: string) => Promise<void>): Promise<void> {
    const name = new URL(database.url).pathname.slice(1)
    await onServer(async (server) => {
      await server.query(`create role ${role} login password 'pw' ${attributes}`)
      await server.query(`alter database ${name} owner to ${role}`)
    })
    try {
      await work(urlWith(database.url, { username: role, password: 'pw' }))
    } finally {
      await onServer((server) => server.query(`alter database ${name} owner to current_user`))
      await database.pool.query(`drop owned by ${role} cascade`)
      await onServer((server) => server.query(`drop role ${role}`))
    }
  }

  test('a role that owns the database and may create roles needs no superuser right', async () => {
    await asOwner('nosuperuser createrole', async (url) => {
      const { applied, readerRole } = await migrate(url)
      expect(applied.length).toBeGreaterThan(5)
      expect(readerRole.granted).toBe(true)
    })
  })

  test('a role that may not create roles gets the statements, and the tables all the same', async () => {
    // The role that is not there belongs to a whole server, so this one is the test's own.
    const server = await openOwnPostgres()
    const admin = openTestDatabase(server.url)
    await admin.rows(`create role ${role} login password 'pw' nosuperuser nocreaterole`)
    await admin.rows(`create database migrated owner ${role}`)
    const url = urlWith(server.url, { username: role, password: 'pw', database: 'migrated' })
    const { applied, readerRole } = await migrate(url)
    expect(applied.length).toBeGreaterThan(5)
    expect(readerRole.granted).toBe(false)
    await requireSchema(openTestDatabase(url).pool)
    const migrated = openTestDatabase(urlWith(server.url, { database: 'migrated' }))
    await migrated.rows(readerRole.statements ?? '')
    expect(await readsAs('collab_reader', 'collab.comments', migrated.pool)).toBe(true)
  })

  test('a role that may not create schemas is told what it lacks', async () => {
    await onServer((server) => server.query(`create role ${role} login password 'pw'`))
    try {
      const failed = migrate(urlWith(database.url, { username: role, password: 'pw' }))
      await expect(failed).rejects.toThrow(EnvironmentError)
      await expect(failed).rejects.toThrow(/may not create schemas .*grant create on database/)
    } finally {
      await onServer((server) => server.query(`drop role ${role}`))
    }
  })

  test('collab_reader reads collab and reporting, also what comes later, and nothing else', async () => {
    await migrate(database.url)
    await database.pool.query('create view reporting.later as select 1 as one')
    const relations = await relationsOf([
      'collab',
      'reporting',
      'sync',
      'collab_store',
      'collab_sync',
    ])
    expect(relations).toContain('reporting.later')
    for (const relation of relations) {
      const allowed = /^(collab|reporting)\./.test(relation)
      expect(await readsAs('collab_reader', relation), relation).toBe(allowed)
    }
    // Those of the feed have the rights of their owner.
    const rows = await database.rows(`
      select f.oid::regprocedure::text as name, has_function_privilege('collab_reader', f.oid, 'execute') as read,
        has_function_privilege('public', f.oid, 'execute') as all
      from pg_proc f where f.pronamespace in ('reporting'::regnamespace, 'collab_store'::regnamespace) and f.prosecdef`)
    expect(rows.length).toBeGreaterThan(4)
    for (const { name, read, all } of rows)
      expect([name, read, all]).toEqual([name, name.startsWith('reporting.'), false])
    const writes = [
      'delete from collab.comments',
      `update reporting.comments set comment_text = ''`,
      'create table collab.mine ()',
      `insert into collab_store.organizations (organization_id) values ('x')`,
      `select nextval('sync.claim_no')`,
    ]
    for (const statement of writes)
      expect(await failsAs('collab_reader', statement), statement).toMatch(/^(42501|55000)$/)
  })

  test('what every role may create, an administrator can revoke', async () => {
    await migrate(database.url)
    const creating = [
      'select lo_create(0)',
      'select lo_creat(0)',
      `select lo_from_bytea(0, 'x')`,
      'create temporary table mine ()',
    ]
    const others = [
      'set transaction read only; select pg_current_xact_id()',
      'select pg_advisory_lock(1)',
    ]
    for (const statement of [...creating, ...others])
      expect(await failsAs('collab_reader', statement), statement).toBeNull()
    await database.pool.query(revokingStatements(database.url))
    for (const statement of creating)
      expect(await failsAs('collab_reader', statement), statement).toBe('42501')
    // As SECURITY.md says, there is no right for these.
    for (const statement of others)
      expect(await failsAs('collab_reader', statement), statement).toBeNull()
  })

  test('a migration waits for an open transaction that has read its table', async () => {
    await migrate(database.url)
    const reader = await database.pool.connect()
    await reader.query('begin; set local role collab_reader; select from collab.comments')
    const changing = 'alter table collab_store.comments add column mine int'
    expect(await failsAs(null, `set local lock_timeout = 1; ${changing}`)).toBe('55P03')
    await reader.query('rollback')
    reader.release()
    expect(await failsAs(null, changing)).toBeNull()
  })
})

test('every table has what publications of all tables need: a key by which a deleted row is known', async () => {
  await migrate(database.url)
  const rows = await database.rows(
    `select c.oid::regclass as name from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
      and (c.relreplident = 'n' or c.relreplident = 'd'
        and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary))`,
  )
  expect(rows).toEqual([])
})

test('every schema, relation, column, sequence and function of ours has a COMMENT of its own', async () => {
  const migrated = await createTestDatabase()
  const { rows } = await migrated.pool.query<{ object: string; comment: string | null }>(OBJECTS)
  expect(rows.length).toBeGreaterThan(250)
  expect(rows.filter(({ comment }) => !comment?.trim()).map(({ object }) => object)).toEqual([])
})

// Sequences of identity columns belong to their column, whose comment says it.
const OBJECTS = `
  with ours as (
    select oid, nspname from pg_namespace
    where nspname in ('collab', 'collab_store', 'collab_sync', 'reporting', 'sync')
  ), relations as (
    select c.oid, nspname || '.' || relname as name, relkind
    from pg_class c join ours on ours.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'S', 'f') and not exists (
      select from pg_depend
      where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'i' and relkind = 'S'
    )
  )
  select nspname as object, obj_description(oid, 'pg_namespace') as comment from ours
  union all
  select name, obj_description(oid, 'pg_class') from relations
  union all
  select name || '.' || attname, col_description(attrelid, attnum)
  from relations join pg_attribute on attrelid = relations.oid
  where attnum > 0 and not attisdropped and relkind <> 'S'
  union all
  select nspname || '.' || proname || '()', obj_description(p.oid, 'pg_proc')
  from pg_proc p join ours on ours.oid = pronamespace`

async function relationsOf(schemas: string[]): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace n on n.oid = relnamespace
    where nspname = any($1) and relkind in ('r', 'v', 'S')`,
    schemas,
  )
  return rows.map(({ name }) => name)
}

async function readsAs(
  role: string,
  relation: string,
  pool: Database = database.pool,
): Promise<boolean> {
  const code = await failsAs(role, `select * from ${relation} limit 0`, pool)
  if (code !== null && code !== '42501') throw new Error(`${relation}: ${code}`)
  return code === null
}

/** The SQLSTATE a statement fails with, or null; its effect is rolled back. */
async function failsAs(
  role: string | null,
  statement: string,
  pool: Database = database.pool,
): Promise<string | null> {
  return rolledBack(pool, async (client) => {
    await client.query(`set local role ${role ?? 'none'}`)
    await client.query(statement)
    return null
  }).catch((error: { code: string }) => error.code)
}
