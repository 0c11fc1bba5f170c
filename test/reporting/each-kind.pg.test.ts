import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { NothingFailsError } from '../../src/base/errors.ts'
import type { Operation } from '../../src/base/operations.ts'
import type { ScopeKind } from '../../src/core/database/scopes.ts'
import { countScopes } from '../../src/core/run/start.ts'
import { removeFromCatalog } from '../../src/features/catalog/change.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import type { CatalogLine } from '../../src/schemas/catalog-line.ts'
import { onApp } from '../client/on-app.ts'
import { ageChecks } from '../helpers/age-checks.ts'
import { openLive } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'

/** Whatever the kind of a scope, all that counts scopes counts one more when something becomes of it. */

interface Listed {
  readonly operation: Operation
  /** In reporting.freshness and reporting.coverage. */
  readonly level: string
  /** Has nothing beneath it in the catalog. */
  readonly line: CatalogLine
  /** The filter of its call. */
  readonly filter: Readonly<Record<string, unknown>>
}

const live = await openLive('none', { settings: { SYNC_RETRIES: '0' } })
const app = await live.openApp()
const [organizationId = '', other = ''] = live.world.organizationIds()
const [documentId = '', bare = ''] = live.world.documentIds(organizationId)
const [annotationId = '', last = ''] = live.world.annotationIds(organizationId, documentId)
const [organizationUserGroupId = ''] = live.world.groupIds(organizationId)
await load({ organizationId, documentId, annotationId })
const organization = { organizationId: other }
const document = { organizationId, documentId: bare }
const annotation = { organizationId, documentId, annotationId: last }
const kinds: Readonly<Record<ScopeKind, Listed>> = {
  organization: {
    operation: 'users',
    level: 'organization',
    line: organization,
    filter: organization,
  },
  group: {
    operation: 'users',
    level: 'user group',
    line: { organizationId, organizationUserGroupId },
    filter: { organizationId, organizationUserGroupIds: [organizationUserGroupId] },
  },
  document: { operation: 'users', level: 'document', line: document, filter: document },
  annotation: {
    operation: 'comments',
    level: 'annotation',
    line: annotation,
    filter: annotation,
  },
}

const GOOD = { scopes: 1, failing: 0, overdue: 0, never: 0, stale: 0, away: 0 }
const FAILING = { ...GOOD, failing: 1, stale: 1 }

test.each(['organization', 'group', 'document', 'annotation'] as const satisfies ScopeKind[])(
  'a scope of kind %s that is new, fails, is overdue and leaves the catalog',
  async (kind) => {
    const of = kinds[kind]
    await run()
    const before = await counts(of)
    const expectMore = async (more: typeof GOOD, lastRun?: RunRow) => {
      const now = await counts(of, lastRun)
      const added = mapEach(now, (by, name, n) => n - (before[by]?.[name] ?? 0))
      expect(added).toEqual(mapEach(now, (_, name) => more[name as keyof typeof GOOD]))
    }

    await load(of.line)
    await expectMore({ ...GOOD, never: 1, stale: 1 })
    await run()
    await expectMore(GOOD)
    const failed = await run(of)
    expect(failed['scopes_failed']).toBe(1)
    await expectMore(FAILING, failed)
    await ageChecks(live.database, 30)
    await expectMore({ ...FAILING, overdue: 1 }, await run(of))
    await removeFromCatalog(live.database.pool, [of.line], { source: 'test', requestedBy: 'test' })
    await expectMore({ ...GOOD, scopes: 0, away: 1 }, failed)
  },
)

/** A run in which only this scope cannot be fetched; none of them if it is left out. */
async function run(of?: Listed): Promise<RunRow> {
  live.standIn.setFaults([
    {
      kind: 'bad-request',
      match: ({ operation, data }) =>
        operation === of?.operation && isDeepStrictEqual({ ...data }, of.filter),
    },
  ])
  return live.run()
}

async function load(line: CatalogLine): Promise<void> {
  await importCatalog(live.database.pool, listSource('test', [line]), { prune: null })
}

/** The numbers of scopes, by what counts them. */
type Counts = Record<string, Record<string, number>>

/** Each number of scopes like this one, by what counts it. @param lastRun whose failed scopes are to be retried */
async function counts({ operation, level }: Listed, lastRun?: RunRow): Promise<Counts> {
  const [checks] = await live.rows(
    `select coalesce(sum(scopes), 0)::int as scopes,
      coalesce(sum(scopes) filter (where failing_since is not null), 0)::int as failing,
      coalesce(sum(scopes) filter (where is_overdue), 0)::int as overdue,
      coalesce(sum(scopes) filter (where checked_at is null), 0)::int as never,
      coalesce(sum(scopes) filter (where is_stale), 0)::int as stale
    from collab_store.checks where operation = $1`,
    operation,
  )
  const [failingScopes] = await live.rows(
    `select count(*)::int as failing from sync.failing_scopes join collab_store.batches using (batch_key) where operation = $1`,
    operation,
  )
  const [attention] = await live.rows(
    `select coalesce(sum(count) filter (where kind = 'failing'), 0)::int as failing,
      coalesce(sum(count) filter (where kind = 'never_checked'), 0)::int as never from sync.attention`,
  )
  const [freshness] = await live.rows(
    `select count(*)::int as scopes, count(failing_since)::int as failing,
      (count(*) filter (where checked_at is null))::int as never, (count(*) filter (where is_stale))::int as stale
    from reporting.freshness where level = $1`,
    level,
  )
  const [coverage] = await live.rows(
    `select coalesce(sum(known), 0)::int as scopes, coalesce(sum(failing), 0)::int as failing,
      coalesce(sum(never_synced), 0)::int as never, coalesce(sum(not_in_catalog), 0)::int as away,
      coalesce(sum(stale + never_synced), 0)::int as stale
    from reporting.coverage where level = $1`,
    level,
  )
  const { items } = await onApp(app).listOrganizations()
  const onPage = (name: 'scopes' | 'failing' | 'overdue' | 'neverChecked' | 'stale') =>
    items.reduce((sum, organization) => sum + organization[name], 0)
  return {
    checks,
    failingScopes,
    attention,
    freshness,
    coverage,
    page: {
      scopes: onPage('scopes'),
      failing: onPage('failing'),
      overdue: onPage('overdue'),
      never: onPage('neverChecked'),
      stale: onPage('stale'),
    },
    retry: { failing: await retried(lastRun) },
  } as Counts
}

function mapEach(of: Counts, numberOf: (by: string, name: string, n: number) => number): Counts {
  return Object.fromEntries(
    Object.entries(of).map(([by, each]) => [
      by,
      Object.fromEntries(Object.entries(each).map(([name, n]) => [name, numberOf(by, name, n)])),
    ]),
  )
}

/** How many scopes `run --failed-of` would fetch. */
async function retried(lastRun?: RunRow): Promise<number> {
  if (lastRun === undefined) return 0
  return countScopes(app.sync, { scope: {}, failedOf: lastRun.run_id }).catch((error: unknown) => {
    if (error instanceof NothingFailsError) return 0
    throw error
  })
}
