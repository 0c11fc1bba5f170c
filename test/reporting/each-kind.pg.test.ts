import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { NothingFailsError } from '../../src/base/errors.ts'
import { OPERATION_NAMES, OPERATIONS } from '../../src/base/operations.ts'
import type { Operation, ScopeKind } from '../../src/base/operations.ts'
import { readFreshness } from '../../src/client/freshness.ts'
import { freshness as readDemoFreshness } from '../../src/core/database/statements/demo.ts'
import { countScopes } from '../../src/core/run/start.ts'
import { moduleOf } from '../../src/core/sync/operation.ts'
import { removeFromCatalog } from '../../src/features/catalog/change.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import type { CatalogLine } from '../../src/schemas/catalog-line.ts'
import { onApp } from '../client/on-app.ts'
import { ageChecks } from '../helpers/age-checks.ts'
import { openLive } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'

/** Whatever the operation and the kind of a scope, all that counts scopes counts one more when something becomes of it. */

interface Listed {
  readonly operation: Operation
  /** In reporting.freshness and reporting.coverage. */
  readonly level: string
  /** Has nothing beneath it in the catalog. */
  readonly line: CatalogLine
}

const live = await openLive('none', {
  settings: { SYNC_RETRIES: '0' },
  world: { organizations: 5 },
})
const app = await live.openApp()
const { pool } = live.database
const [organizationId = '', ...organizations] = live.world.organizationIds()
const [documentId = '', ...documents] = live.world.documentIds(organizationId)
const [annotationId = '', ...annotations] = live.world.annotationIds(organizationId, documentId)
await load({ organizationId, documentId, annotationId })
const KINDS: Readonly<Record<ScopeKind, { level: string; lines: readonly CatalogLine[] }>> = {
  organization: {
    level: 'organization',
    lines: organizations.map((id) => ({ organizationId: id })),
  },
  group: {
    level: 'user group',
    lines: Array.from(live.world.groupIds(organizationId), (organizationUserGroupId) => ({
      organizationId,
      organizationUserGroupId,
    })),
  },
  document: {
    level: 'document',
    lines: documents.map((id) => ({ organizationId, documentId: id })),
  },
  annotation: {
    level: 'annotation',
    lines: annotations.map((id) => ({ organizationId, documentId, annotationId: id })),
  },
}
/** The scopes of every operation; each has a catalog line of its own. */
const CASES = OPERATION_NAMES.flatMap((operation) =>
  OPERATIONS[operation].kinds.map((kind) => ({ operation, kind })),
)

const BY = { source: 'test', requestedBy: 'test' }
const GOOD = { scopes: 1, failing: 0, overdue: 0, never: 0, stale: 0, away: 0 }
const FAILING = { ...GOOD, failing: 1, stale: 1 }

test.each(CASES)(
  'a scope of $operation of kind $kind that is new, fails, is overdue and leaves the catalog',
  async ({ operation, kind }) => {
    const { level, lines } = KINDS[kind]
    const line =
      lines[
        CASES.filter((each) => each.kind === kind).findIndex((each) => each.operation === operation)
      ]
    if (line === undefined) throw new Error(`The world has too few entries of kind ${kind}.`)
    const of = { operation, level, line }
    await run()
    const before = await counts(of)
    const expectMore = async (more: typeof GOOD, lastRun?: RunRow) => {
      const now = await counts(of, lastRun)
      const added = mapEach(now, (name, by, n) => n - (before[name]?.[by] ?? 0))
      expect(added).toEqual(mapEach(now, (name) => more[name as keyof typeof GOOD]))
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
    const rest = OPERATION_NAMES.filter((each) => each !== operation)
    await live.define({ SYNC_OPERATIONS: rest.join() })
    // Its last fetch failed, whether it is synced or not.
    const counted = mapEach(await counts(of, failed), (_, by, n) =>
      by === 'failingScopes' ? 0 : n,
    )
    expect(counted).toEqual(mapEach(counted, (_, by) => (by === 'retry' ? 1 : 0)))
    await live.define({})
    await removeFromCatalog(pool, [of.line], BY)
    await expectMore({ ...GOOD, scopes: 0, away: 1 }, failed)
  },
)

test('the totals of an organization, and of all, are those of its scopes', async () => {
  const [other = '', another = ''] = organizations
  await load({ organizationId: another })
  await run()
  await ageChecks(live.database, 1)
  await load({ organizationId: other, documentId: 'd', annotationId: 'a' })
  await live.run({ scope: { organizationIds: [other] } })
  const scopes = await live.rows(
    `select organization_id as "organizationId", count(*)::int as scopes,
      count(annotation_id)::int as annotations, min(checked_at) as "oldestCheck", max(checked_at) as "newestCheck"
    from reporting.freshness group by 1 order by 1`,
  )
  const { items } = await onApp(app).listOrganizations()
  const listed = new Map(items.map((each) => [each.organizationId, each]))
  for (const each of scopes) expect(listed.get(each['organizationId'])).toMatchObject(each)
  const annotationsOf = scopes.map((each) => each['annotations'])
  expect(new Set(annotationsOf).size).toBeGreaterThan(1)
  const total = annotationsOf.reduce((sum, each) => sum + each)
  expect(await readFreshness(pool)).toMatchObject({ annotations: total })
})

/** A run in which only this scope cannot be fetched; none of them if it is left out. */
async function run(of?: Listed): Promise<RunRow> {
  live.standIn.setFaults([
    {
      kind: 'bad-request',
      match: ({ operation, data }) =>
        of !== undefined &&
        operation === of.operation &&
        isDeepStrictEqual({ ...data }, filterOf(of)),
    },
  ])
  return live.run()
}

function filterOf({ operation, line }: Listed): unknown {
  const { organizationId: id, documentId: document = null, annotationId: annotation = null } = line
  return moduleOf(operation).filterOf({
    organizationId: id,
    documentId: document,
    annotationId: annotation,
    organizationUserGroupId: line.organizationUserGroupId ?? null,
  })
}

async function load(line: CatalogLine): Promise<void> {
  await importCatalog(pool, listSource('test', [line]), { prune: null })
}

type Counts = Record<string, Record<string, number>>

/** Each number of scopes like this one, by what counts it. @param lastRun whose failed scopes are to be retried */
async function counts({ operation, level }: Listed, lastRun?: RunRow): Promise<Counts> {
  const checksWhere = async (condition: string) => {
    const [totals] = await live.rows(
      `select coalesce(sum(scopes), 0)::int as scopes,
        coalesce(sum(scopes) filter (where failing_since is not null), 0)::int as failing,
        coalesce(sum(scopes) filter (where is_overdue), 0)::int as overdue,
        coalesce(sum(scopes) filter (where checked_at is null), 0)::int as "neverChecked",
        coalesce(sum(scopes) filter (where is_stale), 0)::int as stale
      from collab_store.checks where ${condition}`,
      operation,
    )
    return totals
  }
  const checks = await checksWhere('operation = $1')
  // What counts all operations together counts the others too.
  const others = await checksWhere('operation <> $1')
  const [failingScopes] = await live.rows(
    `select count(*)::int as failing from sync.failing_scopes join collab_store.batches using (batch_key) where operation = $1`,
    operation,
  )
  const problems = async (view: string) => {
    const [totals] = await live.rows(
      `select coalesce(sum(count) filter (where kind = 'failing'), 0)::int as failing,
        coalesce(sum(count) filter (where kind = 'never_checked'), 0)::int as "neverChecked" from ${view}`,
    )
    return totals
  }
  const attention = await problems('sync.attention')
  const byKind = await problems('sync.attention_by_kind')
  const [freshness] = await live.rows(
    `select count(*)::int as scopes, count(failing_since)::int as failing,
      (count(*) filter (where checked_at is null))::int as never, (count(*) filter (where is_stale))::int as stale
    from reporting.freshness where level = $1 and operation = $2`,
    level,
    operation,
  )
  const [coverage] = await live.rows(
    `select coalesce(sum(known), 0)::int as scopes, coalesce(sum(failing), 0)::int as failing,
      coalesce(sum(never_synced), 0)::int as never, coalesce(sum(not_in_catalog), 0)::int as away,
      coalesce(sum(stale + never_synced), 0)::int as stale
    from reporting.coverage where level = $1 and operation = $2`,
    level,
    operation,
  )
  const demo = (await readDemoFreshness.all(pool)).find(
    (row) => row.operation === operation && row.level === level,
  )
  const { items } = await onApp(app).listOrganizations()
  const onPage = (name: 'scopes' | 'failing' | 'overdue' | 'neverChecked' | 'stale') =>
    items.reduce((sum, organization) => sum + organization[name], -others[name])
  return {
    scopes: {
      checks: checks.scopes,
      freshness: freshness.scopes,
      coverage: coverage.scopes,
      demo: demo?.checked ?? 0,
      page: onPage('scopes'),
    },
    failing: {
      checks: checks.failing,
      failingScopes: failingScopes.failing,
      attention: attention.failing - others.failing,
      attentionByKind: byKind.failing - others.failing,
      freshness: freshness.failing,
      coverage: coverage.failing,
      page: onPage('failing'),
      retry: await retried(lastRun),
    },
    overdue: { checks: checks.overdue, page: onPage('overdue') },
    never: {
      checks: checks.neverChecked,
      attention: attention.neverChecked - others.neverChecked,
      attentionByKind: byKind.neverChecked - others.neverChecked,
      freshness: freshness.never,
      coverage: coverage.never,
      demo: demo?.neverChecked ?? 0,
      page: onPage('neverChecked'),
    },
    stale: {
      checks: checks.stale,
      freshness: freshness.stale,
      coverage: coverage.stale,
      page: onPage('stale'),
    },
    away: { coverage: coverage.away },
  }
}

function mapEach(of: Counts, numberOf: (name: string, by: string, n: number) => number): Counts {
  return Object.fromEntries(
    Object.entries(of).map(([name, each]) => [
      name,
      Object.fromEntries(Object.entries(each).map(([by, n]) => [by, numberOf(name, by, n)])),
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
