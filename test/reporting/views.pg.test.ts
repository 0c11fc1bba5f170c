import fc from 'fast-check'
import { expect, test } from 'vitest'
import { catalogLines, named } from '../../src/demo/catalog.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { counted } from './counted.ts'
import { Known } from './known.ts'

const CASES = 2

test('every number of every view is what plain counting finds, after edits, deletions, come-backs and departures', async () => {
  const cases = fc.record({
    seed: fc.integer({ min: 1, max: 1_000_000 }),
    changes: fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 2, maxLength: 3 }),
  })
  await fc.assert(fc.asyncProperty(cases, checkCase), {
    numRuns: CASES,
    endOnFailure: true,
  })
})

async function checkCase({ seed, changes }: { seed: number; changes: number[] }): Promise<void> {
  const world = {
    seed,
    organizations: 2,
    documentsPerOrganization: 3,
    annotationsPerDocument: 4,
    commentsPerAnnotation: 4,
    usersPerOrganization: 8,
    // Delays are of the last 400 days.
    now: new Date(Date.now() - 86_400_000),
  }
  const live = await openLive('none', { world })
  try {
    const known = new Known()
    const moments: Moment[] = []
    await importWithNames(live)
    for (const [round, count] of [0, ...changes].entries()) {
      randomChanges(live.world, { count, seed: seed + round })
      // Several times in one thread, so that something is edited, deleted and back.
      if (round > 0) {
        const kinds = ['deleteComment', 'restoreComment', 'edit', 'joinGroup'] as const
        randomChanges(live.world, { count: 6, seed: seed + 100 + round, kinds })
      }
      await live.run()
      known.look(live.world)
      moments.push(await momentOf(live, known))
    }
    await expectViews(live, known)
    for (const moment of moments) await expectMoment(live, moment)
  } finally {
    await live.close()
  }
}

async function importWithNames({ world, database }: Live): Promise<void> {
  const source = listSource('world', [...catalogLines(world)].map(named))
  await importCatalog(database.pool, source, { prune: false, redaction: readNameRedaction })
}

/** Our clock after a run, and what was known then. */
interface Moment {
  at: string
  comments: unknown[]
  memberships: unknown[]
  directory: Record<string, unknown>[]
}

async function momentOf(live: Live, known: Known): Promise<Moment> {
  const { rows } = await live.database.pool.query('select clock_timestamp()::text as at')
  return {
    at: rows[0].at,
    comments: known
      .live()
      .map(({ place, comment }) => [
        place.organizationId,
        place.documentId,
        place.annotationId,
        comment.commentId,
        comment.commentText ?? null,
      ]),
    memberships: known.stays
      .filter(({ until }) => until === null)
      .map(({ organizationId, kind, id, userId }) => [organizationId, kind, id, userId]),
    directory: (counted['user_directory']?.(known, live.world, new Date()) ?? []).map((row) => ({
      ...row,
      is_known_then: true,
    })),
  }
}

async function expectMoment(
  live: Live,
  { at, comments, memberships, directory }: Moment,
): Promise<void> {
  const rows = async (text: string) =>
    (await live.database.pool.query({ text, values: [at], rowMode: 'array' })).rows
  const stored = await rows(
    `select organization_id, document_id, annotation_id, comment_id, comment_text from reporting.comments_at($1)`,
  )
  expectSame(`comments_at ${at}`, stored, comments)
  const stays = await rows(
    `select organization_id, kind, coalesce(document_id, organization_user_group_id), user_id
    from reporting.memberships_at($1)`,
  )
  expectSame(`memberships_at ${at}`, stays, memberships)
  const people = await live.database.pool.query(
    `select ${SHOWN['user_directory']} from reporting.user_directory_at($1) v`,
    [at],
  )
  const columns = Object.keys(directory[0] ?? {})
  const inOrder = (row: Record<string, unknown>) =>
    columns.map((column) => plain(column, row[column]))
  expectSame(`user_directory_at ${at}`, people.rows.map(inOrder), directory.map(inOrder))
}

/** Columns that stand for others: times of our clock are only compared for being there. */
const SHOWN: Record<string, string> = {
  user_directory: 'v.*, v.left_at is not null as left',
  memberships: 'v.*, v.until is not null as over, v.removal_held_since is not null as is_held',
}

async function expectViews(live: Live, known: Known): Promise<void> {
  const client = await live.database.pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query(`select date_trunc('milliseconds', now()) as now`)
    const views = await client.query(
      `select relname from pg_class where relnamespace = 'reporting'::regnamespace and relkind = 'v'`,
    )
    const names = views.rows.map(({ relname }) => relname as string)
    // Freshness is counted below by level; the others have tests of their own.
    const others =
      'attention days freshness nightly observed_members runs run_failures settings'.split(' ')
    expect(names.filter((name) => !others.includes(name)).toSorted()).toEqual(
      Object.keys(counted).toSorted(),
    )
    for (const [view, count] of Object.entries(counted)) {
      const expected = count(known, live.world, rows[0].now)
      const stored = await client.query(`select ${SHOWN[view] ?? 'v.*'} from reporting.${view} v`)
      const columns = Object.keys(expected[0] ?? {})
      expect(columns.length > 0 || stored.rows.length === 0, view).toBe(true)
      expectSame(
        view,
        stored.rows.map((row) => columns.map((column) => plain(column, row[column]))),
        expected.map((row) => columns.map((column) => row[column] ?? null)),
      )
    }
    const fresh = await client.query(
      `select level, count(*)::int as rows, count(*) filter (where checked_at is null)::int as never,
        bool_and(organization_name = 'Name of ' || organization_id and document_name is not distinct from 'Name of ' || document_id
          and user_group_name is not distinct from 'Name of ' || organization_user_group_id) as named
      from reporting.freshness group by level`,
    )
    const coverage = counted['coverage']?.(known, live.world, rows[0].now) ?? []
    for (const { level, rows: count, never, named: isNamed } of fresh.rows) {
      const known = coverage.filter((row) => row['level'] === level)
      expect([level, count, never, isNamed]).toEqual([
        level,
        known.reduce((sum, row) => sum + Number(row['known']), 0),
        0,
        true,
      ])
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const TEXTS =
  /(_id|_ids|_text|text_before|name|email|status|status_before|type|kind|level|field|value|change)$/

function plain(column: string, value: unknown): unknown {
  if (value instanceof Date) {
    return /^(day|week)$/.test(column) ? localDay(value) : value.toISOString()
  }
  // bigint and numeric come as text
  const isNumber = typeof value === 'string' && (!TEXTS.test(column) || column === 'comment_id')
  return isNumber && /^-?[\d.]+$/.test(value) ? Number(value) : (value ?? null)
}

/** pg reads a date as midnight of this machine's zone. */
function localDay(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

function expectSame(name: string, stored: unknown[], expected: unknown[]): void {
  const texts = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted()
  const [storedTexts, expectedTexts] = [texts(stored), texts(expected)]
  const extra = storedTexts.filter((each) => !expectedTexts.includes(each))
  const missing = expectedTexts.filter((each) => !storedTexts.includes(each))
  expect({
    name,
    rows: stored.length,
    extra: extra.slice(0, 3),
    missing: missing.slice(0, 3),
  }).toEqual({ name, rows: expected.length, extra: [], missing: [] })
}
