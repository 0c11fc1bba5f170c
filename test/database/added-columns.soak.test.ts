import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addColumn, listColumns, removeColumn } from '../../src/database/added-columns.ts'
import { readExportObjects } from '../../src/database/export.ts'
import { grantRole } from '../../src/database/grants.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/pool.ts'
import * as columns from '../../src/database/statements/columns.ts'
import { readDictionary } from '../../src/dictionary/dictionary.ts'
import type { ColumnRequest } from '../../src/documents/column.ts'
import { EnvironmentError, UsageError } from '../../src/errors.ts'
import { readAll } from '../changes/copy.ts'
import { fillComments } from '../export/fill-comments.ts'
import { createTestDatabase, onServer } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { describeCatalog } from './describe-catalog.ts'

const suffix = randomBytes(5).toString('hex')
const READER = `cs_columns_${suffix}`
const ONE = `cs_columns_one_${suffix}`

const SEVERITY = {
  object: 'comments',
  name: 'severity',
  member: 'data.severity',
  type: 'integer',
  index: true,
} as const
const DUE = {
  ...SEVERITY,
  name: 'due',
  member: 'data.due',
  type: 'timestamptz',
  index: false,
} as const
const FLAGGED = {
  ...SEVERITY,
  name: 'flagged',
  member: 'flagged',
  type: 'boolean',
  index: false,
} as const
const TEAM = {
  ...DUE,
  object: 'users',
  name: 'team',
  member: 'profile.team',
  type: 'text',
} as const

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await fillComments(database, 300)
  await database.pool.query(`
    update collab_store.comments set rest = case comment_id % 3
      when 0 then jsonb_build_object('data', jsonb_build_object('severity', comment_id, 'due', '2026-03-01T12:00:00+02:00'))
      when 1 then '{"data": {"severity": "high", "due": "2026-02-30"}, "flagged": true}'
      else '{"data": {"severity": null}}' end;
    insert into collab_store.users (organization_key, user_id, rest, listed, first_seen_at, changed_at, source, digest)
    select organization_key, 'person-' || n, '{"profile": {"team": "red"}}', true, now(), now(), 3, '\\x00'
    from collab_store.organizations, generate_series(1, 3) n`)
  await onServer((server) => server.query(`create role ${READER}; create role ${ONE}`))
})
afterAll(async () => {
  await database.drop()
  await onServer((server) => server.query(`drop role if exists ${READER}, ${ONE}`))
})

const add = (request: ColumnRequest) => addColumn(database.url, request, true)

async function query(text: string, values: unknown[] = []) {
  return (await database.pool.query(text, values)).rows
}

const columnsOf = async (view: string): Promise<string[]> =>
  (
    await query(
      `select attname::text as name from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum`,
      [view],
    )
  ).map(({ name }) => name)

/** But for the texts of our views, and for the numbers of columns, which change where one before them goes. */
const catalogWithoutTexts = async (): Promise<string[]> =>
  (await describeCatalog(database.pool)).map((line) =>
    line
      .replace(/^(column \S+) \d+/, '$1')
      .replace(
        /^(relation (?:collab\.|reporting\.|collab_store\.comment_lines).*)"definition": "(?:[^"\\]|\\.)*"/,
        '$1',
      ),
  )

const COMMENT_VIEWS = ['collab.comments', 'reporting.comments', 'reporting.comments_with_deleted']

describe('column add', () => {
  test('shows a member as a column, of the past too, and counts what does not fit', async () => {
    const before = await query(
      'select ctid::text, xmin::text from collab_store.comments order by 1',
    )
    expect(await add(SEVERITY)).toEqual({ ...SEVERITY, index: 'whole', values: 200, misfits: 100 })
    expect(await add(DUE)).toEqual({ ...DUE, index: 'none', values: 200, misfits: 100 })
    expect(await add(FLAGGED)).toMatchObject({ values: 100, misfits: 0 })
    expect(await add(TEAM)).toMatchObject({ values: 3, misfits: 0 })
    expect(
      await query('select ctid::text, xmin::text from collab_store.comments order by 1'),
    ).toEqual(before)
    for (const view of COMMENT_VIEWS) {
      expect((await columnsOf(view)).slice(-3)).toEqual(['severity', 'due', 'flagged'])
      const rows = await query(
        `select count(*)::int as n, severity, due, flagged from ${view} where comment_id <= 3 group by severity, due, flagged order by severity`,
      )
      expect(rows, view).toEqual([
        { n: 1, severity: 3, due: new Date('2026-03-01T10:00:00Z'), flagged: null },
        { n: 1, severity: null, due: null, flagged: true },
        { n: 1, severity: null, due: null, flagged: null },
      ])
    }
    expect(await listColumns(database.pool)).toEqual([
      { ...SEVERITY, index: 'whole', values: 200, misfits: 100 },
      { ...DUE, index: 'none', values: 200, misfits: 100 },
      { ...FLAGGED, index: 'none', values: 100, misfits: 0 },
      { ...TEAM, index: 'none', values: 3, misfits: 0 },
    ])
  })

  test('puts it into exports, the dictionary and the feed of changes', async () => {
    const exported = await readExportObjects(database.pool)
    const comments = exported.find(({ schema, name }) => schema === 'collab' && name === 'comments')
    expect(comments?.columns).toContainEqual({ name: 'severity', type: 'integer' })
    const { relations } = await readDictionary(database.pool)
    const users = relations.find(({ schema, name }) => schema === 'collab' && name === 'users')
    expect(users?.columns).toContainEqual(
      expect.objectContaining({ name: 'team', comment: expect.stringContaining('profile.team') }),
    )
    const { changes } = await readAll(database.pool, null, 2000)
    const rows = changes.map(({ row }) => JSON.parse(row ?? '{}'))
    expect(rows.filter(({ severity }) => severity === 3)).not.toEqual([])
    expect(rows.filter(({ team }) => team === 'red')).not.toEqual([])
  })

  test('makes an index that is found through the views', async () => {
    const client = await database.pool.connect()
    try {
      await client.query('begin; set local enable_seqscan = off')
      for (const view of ['reporting.comments', 'collab.comments']) {
        const { rows } = await client.query(
          `explain select comment_id from ${view} where severity = 3`,
        )
        expect(JSON.stringify(rows), view).toContain('comments_added_')
      }
    } finally {
      client.release(true)
    }
  })

  test('keeps each of them guarded for a role of one organization', async () => {
    await grantRole(database.pool, ONE, 'o')
    for (const view of [...COMMENT_VIEWS, 'collab.users']) {
      const [{ definition, owner }] = await query(
        `select pg_get_viewdef(oid) as definition, relowner::regrole::text as owner from pg_class where oid = $1::regclass`,
        [view],
      )
      expect(owner).toBe('collab_views')
      for (const name of (await columnsOf(view)).filter((each) =>
        /severity|due|flagged|team/.test(each),
      ))
        expect(definition, view).toMatch(
          new RegExp(
            `reads_granted_only\\(\\)\\) OR \\(num_nonnulls\\((guarded\\.)?${name}\\) > 0\\)`,
          ),
        )
    }
  })

  const WRONG: [string, Partial<ColumnRequest>, RegExp][] = [
    ['a name in use', { name: 'severity' }, /^The name severity is in use/],
    ['a name of one view only', { name: 'is_deleted' }, /^The name is_deleted is in use/],
    ['no name', { name: 'Größe; drop' }, /^The name of a column is/],
    ['a member that is nowhere', { member: 'data.sverity' }, /^No stored record of comments has/],
    ['no path', { member: 'data..severity' }, /^--member is a name/],
    [
      'what would mislead our reading of views',
      { member: 'x FROM ( SELECT y' },
      /^--member is a name/,
    ],
    ['a key', { member: 'commentId' }, /^Member commentId is in columns already/],
    ['an id of a person', { member: 'likes.person-1' }, /^The member is called like the id/],
    [
      'a type that fits nothing',
      { member: 'flagged', type: 'date' },
      /^Type date fits none of the 100/,
    ],
  ]
  test.each(WRONG)(
    'refuses %s in one sentence, and changes nothing',
    async (_, wrong, sentence) => {
      const before = await describeCatalog(database.pool, true)
      const request = { ...DUE, name: 'later', ...wrong }
      await expect(add(request)).rejects.toThrow(UsageError)
      await expect(add(request)).rejects.toThrow(sentence)
      expect(await describeCatalog(database.pool, true)).toEqual(before)
    },
  )

  test('takes a member that is stored nowhere where PRIVACY_RAW drops such members', async () => {
    const request = { ...DUE, name: 'unseen', member: 'unseen' }
    expect(await addColumn(database.url, request, false)).toMatchObject({ values: 0, misfits: 0 })
    await removeColumn(database.url, request)
  })

  test('shows a member that has a column of ours from there, and follows where a later version stores it', async () => {
    const request = { ...DUE, name: 'kind', member: 'type', type: 'text', index: true } as const
    expect(await add(request)).toMatchObject({ index: 'whole', values: 300, misfits: 0 })
    // As before a version that gave the member its column.
    await query(`select collab_store.move_column('comments', 'kind', null)`)
    expect(await query('select from collab.comments where kind is not null')).toEqual([])
    expect(await migrate(database.url)).toMatchObject({ applied: [] })
    expect(await query('select from collab.comments where kind is distinct from type')).toEqual([])
    expect((await listColumns(database.pool)).at(-2)).toMatchObject({
      name: 'kind',
      index: 'broken',
    })
    expect(await add(request)).toMatchObject({ index: 'whole' })
    await removeColumn(database.url, request)
    expect(await query(`select from pg_class where relname like 'comments_added_%'`)).toHaveLength(
      1,
    )
  })

  test('says who is in the way, and leaves everything as it was; who writes is not', async () => {
    const request = { ...DUE, name: 'late', index: false }
    const reader = await database.pool.connect()
    const writer = await database.pool.connect()
    try {
      await writer.query(
        `begin; update collab_store.comments set status = 'x' where comment_id = 1`,
      )
      await reader.query('begin; select from reporting.comments limit 1')
      const [{ pid }] = (await reader.query('select pg_backend_pid() as pid')).rows
      const before = await describeCatalog(database.pool, true)
      const refused = await add(request).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(EnvironmentError)
      expect(String(refused)).toMatch(
        new RegExp(`The views of comments are in use by process ${pid} \\(role `),
      )
      expect(await describeCatalog(database.pool, true)).toEqual(before)
      await reader.query('rollback')
      expect(await add(request)).toMatchObject({ values: 200 })
      await removeColumn(database.url, request)
    } finally {
      writer.release(true)
      reader.release(true)
    }
  })

  test('waits a moment for another one that is at it, then refuses', async () => {
    const other = await database.pool.connect()
    try {
      // The server may take a moment to see that the session before has gone.
      await expect.poll(async () => (await columns.lock.one(other)).taken).toBe(true)
      await expect(add({ ...DUE, name: 'late' })).rejects.toThrow(
        /^Columns are being changed by another process\.$/,
      )
      const waiting = add({ ...DUE, name: 'late' })
      await other.query('select pg_advisory_unlock_all()')
      expect(await waiting).toMatchObject({ name: 'late' })
      await removeColumn(database.url, { ...DUE, name: 'late' })
    } finally {
      other.release(true)
    }
  })

  test('mends an index whose making was killed', async () => {
    const holder = await database.pool.connect()
    const request = { ...DUE, name: 'killed', index: true }
    try {
      await holder.query(
        `begin; update collab_store.comments set status = 'x' where comment_id = 1`,
      )
      const broken = add(request).then(
        () => null,
        (error: unknown) => error,
      )
      const making = `select pid from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock' and datname = current_database()`
      await expect.poll(async () => (await query(making)).length, { timeout: 20_000 }).toBe(1)
      await query(`select pg_terminate_backend(pid) from (${making}) x`)
      expect(await broken).toBeInstanceOf(Error)
    } finally {
      holder.release(true)
    }
    expect((await listColumns(database.pool)).find(({ name }) => name === 'killed')?.index).toBe(
      'broken',
    )
    expect(await add(request)).toMatchObject({ index: 'whole' })
    await removeColumn(database.url, request)
  })
})

test.each([
  ['integer', '1.0', '1'],
  ['integer', '"-12"', '-12'],
  ['integer', '1.5', null],
  ['integer', '2147483648', null],
  ['integer', '"٣"', null],
  ['numeric', '"1.50e2"', '150'],
  ['numeric', '"12 "', null],
  ['numeric', '{"a": 1}', null],
  ['boolean', '"False"', 'false'],
  ['boolean', '1', null],
  ['text', '[1]', '[1]'],
  ['text', 'null', null],
  ['timestamptz', '"2026-02-28T23:30:00.25-05:30"', '2026-03-01 05:00:00.25+00'],
  ['timestamptz', '"2026-02-30T00:00:00Z"', null],
  ['timestamptz', '"2026-13-01"', null],
  ['timestamptz', '"yesterday"', null],
  ['timestamptz', '1700000000123', '2023-11-14 22:13:20.123+00'],
  ['timestamptz', '{"_seconds": 5, "_nanoseconds": 500000000}', '1970-01-01 00:00:05.5+00'],
  ['timestamptz', '{"seconds": "5"}', null],
  ['date', '"2026-02-28T23:30:00-05:30"', '2026-03-01'],
  ['date', '1e300', null],
])('as %s, %s is %s', async (type, value, expected) => {
  const client = await database.pool.connect()
  try {
    await client.query(`begin; set local timezone = 'UTC'`)
    const { rows } = await client.query(`select collab_store.as_${type}($1)::text as value`, [
      value,
    ])
    expect(rows).toEqual([{ value: expected }])
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test.each([
  ['record', `odd "member" {(,\\'`],
  ['order', 'größe ) shown'],
])('the name %s and the member %s make a column like any other', async (name, member) => {
  await query(
    `update collab_store.comments set rest = rest || jsonb_build_object($1::text, 'here') where comment_id = 6`,
    [member],
  )
  const request = { ...DUE, name, member, type: 'text', index: true } as const
  expect(await add(request)).toMatchObject({ values: 1, misfits: 0, index: 'whole' })
  await add({ ...DUE, name: 'behind' })
  for (const view of COMMENT_VIEWS)
    expect(await query(`select "${name}" as shown from ${view} where comment_id = 6`)).toEqual([
      { shown: 'here' },
    ])
  await removeColumn(database.url, { ...DUE, name: 'behind' })
  await removeColumn(database.url, request)
})

describe('column remove', () => {
  test('names the views that use the column; others, grants and comments outlive it', async () => {
    await query(`
      create schema analyst;
      create view analyst.urgent as select comment_id from reporting.comments where severity > 2;
      create view analyst.others with (security_barrier) as select comment_id, flagged from collab.comments;
      create view analyst.more as select count(*) from analyst.others;
      comment on column analyst.others.flagged is 'Mine.';
      grant select on analyst.others to ${READER};
      grant select on collab.comments to ${READER} with grant option;
      grant select (status) on reporting.comments to ${READER}`)
    await expect(removeColumn(database.url, SEVERITY)).rejects.toThrow(
      /^Column severity of comments is used by view analyst\.urgent\.$/,
    )
    await query(
      'drop view analyst.urgent; create function analyst.f(collab.comments) returns int return 1',
    )
    await expect(removeColumn(database.url, SEVERITY)).rejects.toThrow(
      /^In the way: function analyst\.f/,
    )
    await query('drop function analyst.f')
    const before = await catalogWithoutTexts()
    await removeColumn(database.url, SEVERITY)
    const after = await catalogWithoutTexts()
    // What is gone are the lines of the column and of its index.
    const isOfColumn = (line: string) => /severity|comments_added_/.test(line)
    expect(before.filter((line) => !after.includes(line) && !isOfColumn(line))).toEqual([])
    expect(after.filter((line) => !before.includes(line))).toEqual([])
    expect(await columnsOf('collab.comments')).not.toContain('severity')
    expect(await query('select count from analyst.more')).toEqual([{ count: 300 }])
    expect(await query(`select from pg_class where relname like 'comments_added_%'`)).toEqual([])
    await add(SEVERITY)
  })

  test('takes it from collab.users too, which views of ours read', async () => {
    const before = await catalogWithoutTexts()
    await removeColumn(database.url, TEAM)
    const after = await catalogWithoutTexts()
    expect(before.filter((line) => !after.includes(line))).toEqual([
      expect.stringMatching(/^column collab\.users team /),
    ])
    expect(after.filter((line) => !before.includes(line))).toEqual([])
    expect(
      await query(
        `select sum(fresh + stale + never_synced)::int as n from reporting.coverage where level = 'user'`,
      ),
    ).toEqual([{ n: 3 }])
    await add(TEAM)
  })

  test('refuses what nobody added', async () => {
    await expect(removeColumn(database.url, { ...DUE, name: 'status' })).rejects.toThrow(
      /^Nobody added a column "status" to comments\.$/,
    )
  })
})

describe('a later migration of ours', () => {
  test('defines a view that shows added columns by collab_store.define_view()', () => {
    const directory = new URL(`${import.meta.resolve('#sql/migrations')}/`)
    const later = readdirSync(directory).filter((name) => name > '0020_added_columns.sql')
    const direct =
      /(?:create or replace|create|drop) view (?:collab\.(?:comments|users)|reporting\.comments(?:_with_deleted)?)\b/
    expect(
      later.filter((name) => direct.test(readFileSync(new URL(name, directory), 'utf8'))),
    ).toEqual([])
  })

  test('adds columns of its own behind those that were added, which stay with all that hangs on them', async () => {
    const before = new Map<string, string[]>()
    for (const view of [...COMMENT_VIEWS, 'collab.users']) before.set(view, await columnsOf(view))
    await query(
      `create view analyst.late as select comment_id, due, severity from reporting.comments`,
    )
    const catalog = await catalogWithoutTexts()
    const client = await database.pool.connect()
    try {
      await client.query(
        'begin; alter table collab_store.comments add column language text; alter table collab_store.users add column phone text',
      )
      for (const [view, column] of [
        ['collab.comments', 'c.language'],
        ['reporting.comments', 'c.language'],
        ['collab.users', 'u.phone'],
      ] as const) {
        const { rows } = await client.query('select collab_store.own_definition($1) as text', [
          view,
        ])
        const own = rows[0].text.replace(
          /(\s)FROM (\(*collab_store\.(?:comments|users) [cu]\b)/,
          `, ${column}$1FROM $2`,
        )
        expect(own).toContain(column)
        await client.query('select collab_store.define_view($1, $2)', [view, own])
      }
      await client.query('commit')
    } finally {
      client.release(true)
    }
    await migrate(database.url)
    expect(await columnsOf('collab.comments')).toEqual([
      ...(before.get('collab.comments') ?? []),
      'language',
    ])
    expect(await columnsOf('reporting.comments')).toEqual([
      ...(before.get('reporting.comments') ?? []),
      'language',
    ])
    expect(await columnsOf('collab.users')).toEqual([
      ...(before.get('collab.users') ?? []),
      'phone',
    ])
    expect(
      await query('select severity, flagged, language from collab.comments where comment_id = 3'),
    ).toEqual([{ severity: 3, flagged: null, language: null }])
    expect(
      await query('select count(*)::int as n from analyst.late where severity is not null'),
    ).toEqual([{ n: 100 }])
    const now = await catalogWithoutTexts()
    expect(catalog.filter((line) => !now.includes(line))).toEqual([])
    // And a person adds and removes behind it.
    await add({ ...DUE, name: 'after', index: false })
    await removeColumn(database.url, FLAGGED).catch((error: unknown) =>
      expect(String(error)).toMatch(/analyst\.others/),
    )
    await removeColumn(database.url, { ...DUE, name: 'after' })
    // Whoever reads the views has no rights on what is beneath them, and sees the organizations granted.
    await add({ ...SEVERITY, name: 'amount', type: 'numeric', index: false })
    await add({ ...DUE, name: 'day', type: 'date' })
    const readers = openDatabase(database.url, { max: 1 })
    try {
      await readers.query(`set role ${ONE}`)
      const { rows } = await readers.query(
        'select organization_id, severity, amount::int, day::text, due, flagged from reporting.comments where comment_id in (3, 4) order by comment_id',
      )
      expect(rows).toEqual([
        {
          organization_id: 'o',
          severity: 3,
          amount: 3,
          day: '2026-03-01',
          due: new Date('2026-03-01T10:00:00Z'),
          flagged: null,
        },
        { organization_id: 'o', severity: null, amount: null, day: null, due: null, flagged: true },
      ])
      expect(
        (await readers.query('select team from collab.users where team is not null')).rows,
      ).toHaveLength(3)
    } finally {
      await readers.end()
    }
    await query(`delete from collab_store.organization_grants_by_role`)
    const revoked = openDatabase(database.url, { max: 1 })
    try {
      await revoked.query(`set role ${ONE}`)
      expect((await revoked.query('select severity from reporting.comments')).rows).toEqual([])
    } finally {
      await revoked.end()
    }
  })
})
