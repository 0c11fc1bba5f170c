import { beforeEach, describe, expect, test } from 'vitest'
import { decideImport } from '../../src/features/catalog/held-import.ts'
import { addToCatalog } from '../../src/features/catalog/change.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import type { CatalogLine } from '../../src/schemas/catalog-line.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import * as catalog from '../../src/core/database/statements/catalog.ts'
import { UsageError } from '../../src/base/errors.ts'
import { jobs } from '../../jobs/index.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { openLoaded } from '../helpers/live.ts'
import { askPages, wordsOf } from '../pages/open-pages.ts'
import { annotation, group, LINES, sourceOf, STAMPS } from './ninety-scopes.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
  await load(LINES)
})

function load(lines: Iterable<CatalogLine>, options: { acceptsAll?: boolean } = {}) {
  const redaction = readNameRedaction
  return importCatalog(database.pool, sourceOf(lines), { prune: true, redaction, ...options })
}

async function stamps(): Promise<unknown[]> {
  return database.rows(STAMPS)
}

async function active(): Promise<number> {
  const rows = await database.rows('select sum(scopes)::int as n from collab_store.batches')
  return rows[0].n
}

async function imports(): Promise<string[]> {
  const rows = await database.rows(
    `select concat_ws(' ', state, lacking, added, removed, reason) as text from sync.catalog_imports order by import_id`,
  )
  return rows.map(({ text }) => text)
}

/** The import that is held; 0 where none is. */
async function heldId(): Promise<number> {
  const rows = await database.rows(
    `select import_id::int as id from sync.catalog_imports where state = 'held'`,
  )
  return rows[0]?.id ?? 0
}

async function decide(state: 'accepted' | 'refused', importId?: number) {
  const decision = { state, decidedBy: 'somebody', reason: 'why' }
  return decideImport(database.pool, { ...decision, importId: importId ?? (await heldId()) })
}

async function troubles(): Promise<string[]> {
  const rows = await database.rows(
    `select kind, sentence from sync.attention where kind like 'catalog\\_%' and kind <> 'catalog_empty'`,
  )
  return rows.map(({ kind, sentence }) =>
    `${kind} ${/mport (\d+)/.exec(sentence)?.[1] ?? ''}`.trim(),
  )
}

describe('an import that lacks more than a tenth, and more than ten', () => {
  test('of the whole changes nothing and is held; accepted, what it lacks becomes inactive', async () => {
    const before = await stamps()
    const done = await load([
      ...LINES.slice(0, 5).map((line) => ({ ...line, organizationName: 'Acme' })),
      group(77),
    ])
    expect(done).toMatchObject({
      lines: 6,
      blanks: null,
      annotations: { added: 0, reactivated: 0, deactivated: 0 },
      held: {
        scopes: 90,
        lacking: 82,
        organizations: 1,
        firstOrganizationId: 'acme',
        isRefused: false,
      },
    })
    expect(await stamps()).toEqual(before)
    expect(await decide('accepted')).toMatchObject({ state: 'accepted', deactivated: 82 })
    expect(await active()).toBe(8)
    expect(await imports()).toEqual(['applied 90 0', 'accepted 82 0 82 why'])
    expect(await database.rows('select from sync.catalog_lacking')).toEqual([])
    // What it adds comes with the next one.
    const again = await load([...LINES.slice(0, 5), group(77)])
    expect(again).toMatchObject({ held: null, userGroups: { added: 1 } })
    await expect(decide('accepted')).rejects.toThrow(
      'Import 0 of the catalog is not held, none is: see collab-sync catalog show.',
    )
  })

  test('of one organization is held too', async () => {
    const large = Array.from({ length: 400 }, (_, n) => annotation(n, 'large'))
    await load([...LINES, ...large])
    const kept = [...LINES.slice(9), ...large]
    expect(await load(kept)).toMatchObject({ held: null, annotations: { deactivated: 9 } })
    const fewer = kept.filter(({ annotationId }, n) => n > 10 || annotationId === undefined)
    expect(await load(fewer)).toMatchObject({
      held: { lacking: 11, organizations: 1, firstOrganizationId: 'acme' },
    })
    expect(await load(fewer, { acceptsAll: true })).toMatchObject({
      held: null,
      annotations: { deactivated: 11 },
    })
  })

  test('or just that much of a small catalog, is applied; so is any that deactivates nothing', async () => {
    expect(await load(LINES.slice(9))).toMatchObject({
      held: null,
      annotations: { deactivated: 9 },
    })
    expect(await load([group(0)], { acceptsAll: true })).toMatchObject({ held: null })
    expect(await load([group(1), annotation(0)])).toMatchObject({ held: null })
    const source = sourceOf([group(2)])
    expect(await importCatalog(database.pool, source, { prune: false })).toMatchObject({
      held: null,
    })
  })
})

test('a dry run shows what would come and go, whether it would be held, and changes nothing', async () => {
  await load(LINES.slice(40))
  const [before, noted] = [await stamps(), await imports()]
  const dry = (lines: readonly CatalogLine[], acceptsAll = false) =>
    importCatalog(database.pool, sourceOf(lines), { prune: true, isDryRun: true, acceptsAll })
  const changes = { annotations: { added: 0, reactivated: 0, deactivated: 50 } }
  const added = { userGroups: { added: 1, reactivated: 0, deactivated: 0 } }
  const lines = [...LINES.slice(50), group(7)]
  expect(await dry(lines)).toMatchObject({ ...changes, ...added, held: { lacking: 50 } })
  expect(await dry(lines, true)).toMatchObject({ ...changes, ...added, held: null })
  expect(await dry([...LINES, group(7)])).toMatchObject({ ...added, held: null })
  expect(await stamps()).toEqual(before)
  expect(await imports()).toEqual(noted)
})

describe('what is held', () => {
  test('is one row while the answer is the same, and another one takes its place', async () => {
    const first = await load(LINES.slice(40))
    const second = await load(LINES.slice(40))
    expect(second.held).toEqual(first.held)
    const other = await load(LINES.slice(50))
    expect(other.held?.importId).not.toBe(first.held?.importId)
    expect(await imports()).toEqual(['applied 90 0', 'replaced 40 0 0', 'held 50 0 0'])
    await load(LINES)
    expect(await imports()).toEqual([
      'applied 90 0',
      'replaced 40 0 0',
      'replaced 50 0 0',
      'applied 0 0',
    ])
    await expect(decide('accepted')).rejects.toThrow(UsageError)
  })

  test('is decided on by its number: what was looked at, and not what took its place', async () => {
    const first = await load(LINES.slice(15))
    await load(LINES.slice(80))
    await expect(decide('accepted', first.held?.importId)).rejects.toThrow(
      'Import 2 of the catalog is not held, import 3 is: see collab-sync catalog show.',
    )
    expect(await active()).toBe(90)
    expect(await decide('accepted', 3)).toMatchObject({ deactivated: 80 })
  })

  test('and refused is not asked again while it is the same', async () => {
    const before = await stamps()
    await load(LINES.slice(40))
    expect(await decide('refused')).toMatchObject({ state: 'refused', deactivated: 0 })
    const again = await load(LINES.slice(40))
    expect(again.held).toMatchObject({ isRefused: true, lacking: 40 })
    expect(await imports()).toEqual(['applied 90 0', 'refused 40 0 0 why'])
    expect((await load(LINES.slice(41))).held).toMatchObject({ isRefused: false })
    expect(await stamps()).toEqual(before)
  })

  test('and refused of one source says nothing of another, which ends its own failure', async () => {
    await load(LINES.slice(40))
    await decide('refused')
    const failed = {
      source: 'CATALOG_SQL',
      requestedBy: 'schedule',
      problem: 'CATALOG_SQL failed: no.',
    }
    await catalog.insertFailedImport.run(database.pool, failed)
    expect(await troubles()).toEqual(['catalog_failed'])
    const query = { ...sourceOf(LINES.slice(40)), name: 'CATALOG_SQL' }
    const held = await importCatalog(database.pool, query, { prune: true })
    expect(held.held).toMatchObject({ isRefused: false })
    expect(await troubles()).toEqual(['catalog_held 4'])
    await decide('refused')
    await catalog.insertFailedImport.run(database.pool, failed)
    // Single things are no list; a list of any source is.
    await addToCatalog(database.pool, [group(9)], { source: 'catalog add', requestedBy: 'me' })
    expect(await troubles()).toEqual(['catalog_failed'])
    await load(LINES)
    expect(await troubles()).toEqual([])
  })

  test('leaves active what was named since, or is new, with its parents', async () => {
    await load([group(1)])
    expect(await troubles()).toEqual(['catalog_held 2'])
    const by = { source: 'catalog add', requestedBy: 'me' }
    // An active line is not a new one, and yet it must leave what the import lacks.
    for (const line of [annotation(3), annotation(99), group(2)])
      await addToCatalog(database.pool, [line], by)
    await importCatalog(database.pool, sourceOf([annotation(4)]), { prune: false })
    // acme with its document and three annotations, small with two groups.
    expect(await decide('accepted')).toMatchObject({ deactivated: 80 + 3 })
    expect(await active()).toBe(5 + 3)
    const rows = await database.rows(
      `select string_agg(annotation_id, ' ' order by annotation_id) as ids from collab.annotations where in_catalog`,
    )
    expect(rows[0].ids).toBe('a3 a4 a99')
  })

  test('is accepted once, beside imports at the same time', async () => {
    await load(LINES.slice(40))
    const decided = await Promise.allSettled([
      decide('accepted'),
      decide('accepted'),
      decide('refused'),
      load(LINES),
    ])
    expect(decided.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    const rows = await database.rows(
      `select count(*)::int as n from sync.catalog_imports where decided_at is not null`,
    )
    expect(rows[0].n).toBeLessThan(2)
    await load(LINES)
    expect(await active()).toBe(90)
  })
})

test('a night whose CATALOG_SQL fails, or lacks too much, runs with the catalog of before, and says so once', async () => {
  const live = await openLoaded('none')
  const night = async (text: string) => {
    const app = await live.openApp({
      CATALOG_SQL: text,
      CATALOG_DATABASE_URL: live.database.url,
      CATALOG_PRUNE: '1',
    })
    const started = await jobs['start-nightly-run'](app, { data: {}, requestKey: text } as never)
    await live.rows(`delete from sync.runs where run_id = $1`, (started as { runId: string }).runId)
    const pages = await askPages(app)
    return wordsOf(await pages.get('/'))
  }
  const failed = 'CATALOG_SQL failed: relation "nowhere" does not exist.'
  expect(await night('select * from nowhere')).toContain(failed)
  expect(await night('select  * from nowhere')).toContain(failed)
  const lacking = `select organization_id from collab.organizations order by 1 limit 1`
  const words = await night(lacking)
  expect(words).not.toContain(failed)
  expect(words).toMatch(
    /Import \d+ of the catalog is held: it lacks \d+ of \d+ scopes\. Nothing was changed\./,
  )
  const rows = await live.rows(
    `select state, requested_by, problem is null as fine from sync.catalog_imports order by import_id`,
  )
  expect(rows.slice(1)).toEqual([
    { state: 'failed', requested_by: 'schedule', fine: false },
    { state: 'held', requested_by: 'schedule', fine: true },
  ])
})
