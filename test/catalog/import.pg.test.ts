import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { importCatalog } from '../../src/features/catalog/import.ts'
import type { CatalogSource, NumberedLine } from '../../src/features/catalog/lines.ts'
import type { CatalogLine } from '../../src/schemas/catalog-line.ts'
import { UsageError } from '../../src/base/errors.ts'
import { addToCatalog } from '../../src/features/catalog/change.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { STAMPS } from './ninety-scopes.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})

const NOTHING = { added: 0, reactivated: 0, deactivated: 0, renamed: 0 }

function sourceOf(lines: Iterable<CatalogLine | string>): CatalogSource {
  return {
    name: 'test',
    unit: 'line',
    async *lines() {
      let number = 0
      for (const line of lines) {
        number += 1
        yield (
          typeof line === 'string' ? { number, complaint: line } : { number, line }
        ) satisfies NumberedLine
      }
    },
  }
}

function load(lines: Iterable<CatalogLine | string>, prune = false) {
  return importCatalog(database.pool, sourceOf(lines), {
    prune,
    acceptsAll: true,
    redaction: readNameRedaction,
  })
}

async function rowsOf(statement: string): Promise<unknown[][]> {
  const { rows } = await database.pool.query({ text: statement, rowMode: 'array' })
  return rows
}

const ANNOTATION = { organizationId: 'acme', documentId: 'plan', annotationId: 'a1' }

test('a line implies its parents', async () => {
  const group = { organizationId: 'b', organizationUserGroupId: 'g' }
  const done = await load([ANNOTATION, group, group])
  expect(done).toEqual({
    lines: 3,
    blanks: null,
    organizations: { ...NOTHING, added: 2 },
    documents: { ...NOTHING, added: 1 },
    annotations: { ...NOTHING, added: 1 },
    userGroups: { ...NOTHING, added: 1 },
    held: null,
  })
  expect(await rowsOf('select * from collab.annotations')).toEqual([
    ['acme', 'plan', 'a1', true, 0, null, null, null, true, true],
  ])
  expect(
    await rowsOf('select organization_id, organization_user_group_id from collab.user_groups'),
  ).toEqual([['b', 'g']])
})

test('ids that begin or end with a blank are stored as they are, and counted with the first line', async () => {
  const { blanks } = await load([
    { organizationId: 'acme', documentId: 'a b' },
    { organizationId: 'acme ', documentId: ' plan' },
    { organizationId: 'acme', documentId: 'plan\u00a0' },
  ])
  expect(blanks).toEqual({ lines: 2, first: 2 })
  expect(await rowsOf('select organization_id from collab.organizations order by 1')).toEqual([
    ['acme'],
    ['acme '],
  ])
})

test('ids with quotes, tabs, line feeds, backslashes and any script land as they are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), { minLength: 1 }),
      async (ids) => {
        const wanted = [...ids, '\\N', '\\.', 'NULL', ' ', '\r\n'].filter(
          (id) => !id.includes('\0'),
        )
        await load(wanted.map((id) => ({ organizationId: 'o', documentId: id })))
        const found = await rowsOf(`select document_id from collab.documents where active`)
        expect(found.flat()).toEqual(expect.arrayContaining(wanted))
      },
    ),
    { numRuns: 10 },
  )
})

test('importing the same again writes no row of the catalog', async () => {
  const lines = [...twoOrganizations()]
  await load(lines)
  const before = await rowsOf(STAMPS)
  expect(before.length).toBeGreaterThan(600)
  for (const prune of [false, true])
    expect(await load(lines, prune)).toEqual({
      lines: lines.length,
      blanks: null,
      organizations: NOTHING,
      documents: NOTHING,
      annotations: NOTHING,
      userGroups: NOTHING,
      held: null,
    })
  expect(await rowsOf(STAMPS)).toEqual(before)
})

describe('names', () => {
  const ACME = { organizationId: 'acme' }
  const PLAN = { ...ACME, documentId: 'plan' }
  const STAFF = { ...ACME, organizationUserGroupId: 'staff' }
  const NAMES = `
    select organization_id, name from collab.organizations
    union all select organization_id || '/' || document_id, name from collab.documents
    union all select organization_id || '#' || organization_user_group_id, name from collab.user_groups
    order by 1`

  test('of several lines the last one that has a name counts, and a new thing is not renamed', async () => {
    const done = await load([
      { ...PLAN, documentName: 'Old', organizationName: 'Acme' },
      { ...ANNOTATION, documentName: 'The plan' },
      { ...ANNOTATION, annotationId: 'a2' },
      { ...STAFF, organizationUserGroupName: 'Ops \\N "t"' },
      { organizationId: 'b', documentId: 'plan', documentName: '' },
    ])
    expect(done.documents).toEqual({ ...NOTHING, added: 2 })
    expect(await rowsOf(NAMES)).toEqual([
      ['acme', 'Acme'],
      ['acme#staff', 'Ops \\N "t"'],
      ['acme/plan', 'The plan'],
      ['b', null],
      ['b/plan', null],
    ])
  })

  test('an absent name stays, an empty one is removed, and only what differs is written and counted', async () => {
    const lines = [
      { ...PLAN, documentName: 'Plan', organizationName: 'Acme' },
      { ...STAFF, organizationUserGroupName: 'Staff' },
    ]
    await load(lines)
    const before = await rowsOf(STAMPS)
    for (const same of [lines, [PLAN, STAFF], [{ ...PLAN, documentName: null }, STAFF]])
      expect(await load(same, true)).toMatchObject({
        organizations: NOTHING,
        documents: NOTHING,
        userGroups: NOTHING,
      })
    expect(await rowsOf(STAMPS)).toEqual(before)

    expect(
      await load([
        { ...PLAN, organizationName: '', documentName: 'Plan' },
        { ...STAFF, organizationUserGroupName: 'Staff of 2027' },
      ]),
    ).toMatchObject({
      organizations: { ...NOTHING, renamed: 1 },
      documents: NOTHING,
      annotations: NOTHING,
      userGroups: { ...NOTHING, renamed: 1 },
    })
    const { rows } = await database.pool.query(
      'select added, removed from sync.catalog_imports order by import_id desc limit 1',
    )
    expect(rows).toEqual([{ added: 0, removed: 0 }])
    const names = [
      ['acme', null],
      ['acme#staff', 'Staff of 2027'],
      ['acme/plan', 'Plan'],
    ]
    expect(await rowsOf(NAMES)).toEqual(names)
    // What leaves the catalog keeps its name, and is renamed where a line brings it back with another one.
    await load([{ organizationId: 'b' }], true)
    expect(await rowsOf(NAMES)).toEqual([...names, ['b', null]])
    expect(await load([{ ...PLAN, documentName: 'Plan B' }])).toMatchObject({
      documents: { ...NOTHING, reactivated: 1, renamed: 1 },
    })
  })

  test('a line that is added again with another name renames; with the same name nothing is written', async () => {
    const add = (line: CatalogLine) =>
      addToCatalog(database.pool, [line], {
        source: 'catalog add',
        requestedBy: 'ann',
        redaction: readNameRedaction,
      })
    await load([PLAN, STAFF])
    const renamed = { ...NOTHING, renamed: 1 }
    expect(await add({ ...PLAN, documentName: 'Plan' })).toMatchObject({ documents: renamed })
    expect(await add({ ...STAFF, organizationName: 'A' })).toMatchObject({ organizations: renamed })
    const imports = await rowsOf('select import_id from sync.catalog_imports')
    expect(await add({ ...PLAN, documentName: 'Plan' })).toMatchObject({ documents: NOTHING })
    expect(await add({ ...PLAN, organizationName: 'A' })).toMatchObject({ organizations: NOTHING })
    expect(await rowsOf('select import_id from sync.catalog_imports')).toEqual(imports)
    expect(await add({ ...PLAN, documentName: '' })).toMatchObject({ documents: renamed })
  })
})

describe('all or nothing', () => {
  test('bad lines are told by their numbers, twenty at most, and nothing is loaded', async () => {
    const lines = [ANNOTATION, 'is bad', ANNOTATION, 'is worse']
    const failed = load(lines)
    await expect(failed).rejects.toThrow(UsageError)
    await expect(failed).rejects.toThrow(
      'test: nothing was imported, because of 2 wrong lines:\n  line 2 is bad.\n  line 4 is worse.',
    )
    const many = await load(Array.from({ length: 5000 }, () => 'is bad')).catch(String)
    expect(many).toMatch(/because of at least 20 wrong lines/)
    expect(String(many).split('\n')).toHaveLength(21)
    expect(await rowsOf('select from collab.organizations')).toEqual([])
  })

  test('a source that fails after a million characters of good lines leaves nothing, and the pool works', async () => {
    const source: CatalogSource = {
      ...sourceOf([]),
      async *lines() {
        for (let number = 1; number <= 20_000; number += 1)
          yield { number, line: { organizationId: `organization ${number} of many` } }
        throw new Error('the source broke')
      },
    }
    await expect(importCatalog(database.pool, source, { prune: false })).rejects.toThrow(
      'the source broke',
    )
    expect(await rowsOf('select from collab.organizations')).toEqual([])
  })

  test('an empty source imports nothing, and with prune it is refused', async () => {
    await load([ANNOTATION])
    expect((await load([])).lines).toBe(0)
    await expect(load([], true)).rejects.toThrow(/lists nothing: .* deactivate the whole catalog/)
    expect(await rowsOf('select from collab.annotations where active')).toHaveLength(1)
  })
})

describe('prune', () => {
  test('what is no longer listed is deactivated with all below it, keeps its time, and comes back', async () => {
    await load(twoOrganizations())
    await database.pool.query(`update collab_store.batches set checked_at = '2026-01-02T03:04:05Z'`)
    const pruned = await load(
      [{ organizationId: 'large', documentId: 'd1', annotationId: 'a1' }],
      true,
    )
    expect(pruned).toMatchObject({
      organizations: { ...NOTHING, deactivated: 1 },
      documents: { ...NOTHING, deactivated: 3 },
      userGroups: { ...NOTHING, deactivated: 1 },
    })
    expect(pruned.annotations.deactivated).toBe(601)
    expect(
      await rowsOf(
        'select organization_id, document_id, annotation_id from collab.annotations where active',
      ),
    ).toEqual([['large', 'd1', 'a1']])

    // A run goes on without what is inactive.
    await database.pool.query(`update collab_store.batches set checked_at = '2026-05-05T05:05:05Z'`)
    const back = await load(twoOrganizations())
    expect(back).toMatchObject({
      organizations: { ...NOTHING, reactivated: 1 },
      documents: { ...NOTHING, reactivated: 3 },
      userGroups: { ...NOTHING, reactivated: 1 },
    })
    const times = await rowsOf(
      `select checked_at at time zone 'UTC' = '2026-01-02T03:04:05', count(*)::int from (
        select checked_at from collab.annotations union all select checked_at from collab.documents
        union all select checked_at from collab.organizations union all select checked_at from collab.user_groups
      ) x group by 1 order by 1`,
    )
    expect(times).toEqual([
      [false, 3], // the one annotation that stayed active, with its document and organization
      [true, 606],
    ])
    await expectConsistent()
  })
})

describe('batches', () => {
  test('a scope that joins a batch which was there before is not taken for checked', async () => {
    await load([ANNOTATION])
    await database.pool.query('update collab_store.batches set checked_at = now()')
    await load([
      { ...ANNOTATION, annotationId: 'a2' },
      { organizationId: 'acme', organizationUserGroupId: 'g' },
      { organizationId: 'acme', documentId: 'new' },
    ])
    expect(
      await rowsOf(`select annotation_id, checked_at is null from collab.annotations
        union all select document_id, checked_at is null from collab.documents
        union all select organization_user_group_id, checked_at is null from collab.user_groups order by 1`),
    ).toEqual([
      ['a1', false],
      ['a2', true],
      ['g', true],
      ['new', true],
      ['plan', false],
    ])
    expect(
      await rowsOf('select from collab_store.annotations where own_checked_at is null'),
    ).toHaveLength(1)
  })

  test('a batch that was there but never checked counts too: a run may be asking for it now', async () => {
    await load([ANNOTATION])
    await load([{ ...ANNOTATION, annotationId: 'a2' }])
    expect(
      await rowsOf(`select annotation_id, own_checked_at from collab_store.annotations order by 1`),
    ).toEqual([
      ['a1', null],
      ['a2', -Infinity],
    ])
  })
})

test('imports at the same time wait for each other and number every scope once', async () => {
  await Promise.all(
    Array.from({ length: 5 }, (_, turn) =>
      load(
        Array.from({ length: 300 }, (_, index) => ({
          organizationId: 'shared',
          documentId: `d${(index + turn * 100) % 7}`,
          annotationId: `a${index + turn * 100}`,
        })),
      ),
    ),
  )
  expect(await rowsOf('select from collab.annotations')).toHaveLength(700)
  await expectConsistent()
})

test('a deadlock with a run repeats the merge, without reading the source again', async () => {
  await load([ANNOTATION, { organizationId: 'b' }])
  const other = await database.pool.connect()
  await other.query('begin')
  await other.query(
    `update collab_store.listings set body_digest = '\\x00' where kind = 'document'`,
  )
  let reads = 0
  const source = sourceOf([{ organizationId: 'b' }])
  const counted = { ...source, lines: () => ((reads += 1), source.lines()) }
  const importing = importCatalog(database.pool, counted, { prune: true })
  // Let the import deactivate the organization, then wait for the document; then ask for the organization.
  await until('the import waits for a lock', async () => {
    const waiting = await rowsOf(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    )
    return waiting.length > 0
  })
  await other.query(`update collab_store.organizations set name = 'x'`).then(
    () => other.query('commit'),
    () => other.query('rollback'),
  )
  other.release()
  expect(await importing).toMatchObject({ documents: { deactivated: 1 } })
  expect(reads).toBe(1)
})

test('after any imports the catalog is what they said, and its batches add up', async () => {
  const id = fc.constantFrom('a', 'b', 'c')
  const line: fc.Arbitrary<CatalogLine> = fc.oneof(
    fc.record({ organizationId: id }),
    fc.record({ organizationId: id, documentId: id }),
    fc.record({ organizationId: id, documentId: id, annotationId: id }),
    fc.record({ organizationId: id, organizationUserGroupId: id }),
  )
  const imports = fc.array(
    fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 12 }), prune: fc.boolean() }),
    { minLength: 1, maxLength: 5 },
  )
  await fc.assert(
    fc.asyncProperty(imports, async (steps) => {
      await database.pool.query('truncate collab_store.organizations restart identity cascade')
      const known = new Map<string, boolean>()
      for (const { lines, prune } of steps) {
        if (prune) for (const key of known.keys()) known.set(key, false)
        for (const key of lines.flatMap(keysOf)) known.set(key, true)
        await load(lines, prune)
        expect(new Map((await rowsOf(CATALOG)) as [string, boolean][])).toEqual(known)
        await expectConsistent()
      }
    }),
    { numRuns: 10 },
  )
})

function keysOf(line: CatalogLine): string[] {
  const { organizationId: organization, documentId, annotationId, organizationUserGroupId } = line
  const keys = [organization]
  if (documentId) keys.push(`${organization}/${documentId}`)
  if (annotationId) keys.push(`${organization}/${documentId}/${annotationId}`)
  if (organizationUserGroupId) keys.push(`${organization}#${organizationUserGroupId}`)
  return keys
}

const CATALOG = `
  select organization_id, active from collab.organizations
  union all select organization_id || '/' || document_id, active from collab.documents
  union all select concat_ws('/', organization_id, document_id, annotation_id), active from collab.annotations
  union all select organization_id || '#' || organization_user_group_id, active from collab.user_groups`

/** Every scope has a place of its own in a batch of its organization, numbers have no gap, counts are right. */
async function expectConsistent(): Promise<void> {
  const faults = await rowsOf(`
    with listed as (
      select 'organization' as kind, organization_key as scope_key, organization_key, active from collab_store.organizations
      union all select 'document', document_key, organization_key, active from collab_store.documents
      union all select 'group', user_group_key, organization_key, active from collab_store.user_groups
    ), scopes as (
      select organization_key, operation, batch_key, scope_no, active
      from listed left join collab_store.listings using (kind, scope_key, active)
      union all
      select organization_key, 'comments', a.batch_key, a.scope_no, a.active
      from collab_store.annotations a join collab_store.documents using (document_key)
    ), numbered as (
      select s.*, b.batch_no * 256 + s.scope_no as number, b.scopes,
        b.organization_key = s.organization_key and b.operation = s.operation as belongs
      from scopes s left join collab_store.batches b using (batch_key)
    )
    select 'place', organization_key::text, operation from numbered
    where belongs is not true or scope_no not between 0 and 255
    union all
    select 'numbers', o.organization_key::text, operation
    from collab_store.organizations o cross join (values ('users'), ('comments')) v (operation)
    left join numbered n using (organization_key, operation)
    group by o.organization_key, operation
    having count(n) <> (
        select coalesce(sum(b.assigned), 0) from collab_store.batches b
        where (b.organization_key, b.operation) = (o.organization_key, v.operation)
      )
      or count(distinct n.number) <> count(n) or coalesce(max(n.number), -1) <> count(n) - 1
    union all
    select 'count', b.batch_key::text, b.operation
    from collab_store.batches b left join numbered n using (batch_key)
    group by b.batch_key having b.scopes <> count(*) filter (where n.active)`)
  expect(faults).toEqual([])
}

function* twoOrganizations(): Generator<CatalogLine> {
  yield { organizationId: 'large', organizationUserGroupId: 'staff' }
  for (let index = 0; index < 600; index += 1)
    yield {
      organizationId: 'large',
      documentId: `d${(index % 3) + 1}`,
      annotationId: `a${Math.floor(index / 3) + 1}`,
    }
  yield { organizationId: 'small', documentId: 'd', annotationId: 'x' }
  yield { organizationId: 'small', documentId: 'd', annotationId: 'y' }
}
