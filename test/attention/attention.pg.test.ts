import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listSource } from '../../src/features/catalog/lines.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { decideImport } from '../../src/features/catalog/held-import.ts'
import { rolledBack } from '../../src/core/database/pool.ts'
import * as catalog from '../../src/core/database/statements/catalog.ts'
import { readAttention } from '../../src/client/waiting.ts'
import { catalogLines, places } from '../../src/demo/catalog.ts'
import { ATTENTION_KINDS } from '../../src/schemas/attention.ts'
import type { AttentionByKind } from '../../src/schemas/attention.ts'
import type { CatalogLine } from '../../src/schemas/catalog-line.ts'
import { startRun } from '../../src/core/run/start.ts'
import { decideHeld } from '../../src/core/sync/held.ts'
import type { Place } from '../../src/demo/layout.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand } from '../cli/built-command.ts'
import { ageChecks } from '../helpers/age-checks.ts'
import { endDirectly } from '../helpers/direct-run.ts'
import { openLive } from '../helpers/live.ts'
import { listingUsers } from '../helpers/places.ts'
import { askPages } from '../pages/open-pages.ts'
import { hostileComments } from '../pages/hostile.ts'
import type { FaultRule } from '../service/faults.ts'
import { samplesIn } from '../telemetry/exposition.ts'

/** Each kind of sync.attention as it comes and goes, and everything that shows it at one state. */

const live = await openLive('none', { settings: { SYNC_RETRIES: '0' } })
const organizations = [...live.world.organizationIds()] as [string, string, string]

test('an empty catalog, then one that was never checked, then one that was', async () => {
  expect(await kinds()).toEqual(['catalog_empty'])
  await live.importCatalog()
  const scopes = await one('select sum(scopes)::int from collab_store.batches')
  const never = { kind: 'never_checked', count: scopes, organizations: 3, path: '/organizations' }
  expect(await rowOf('never_checked')).toMatchObject({ ...never, words: null })
  const app = await live.openApp()
  expect(await kinds()).toEqual(['no_worker', 'never_checked'])
  expect(await rowOf('no_worker')).toMatchObject({
    urgency: 'low',
    sentence: 'No worker has started yet, so nothing starts the nightly run.',
  })
  // As `schedule remove` does, for installations whose runs cron starts.
  await live.database.pool.query(
    `insert into sync.schedule (cron, time_zone, removed) values ('0 2 * * *', 'UTC', true)`,
  )
  expect(await kinds()).toEqual(['never_checked'])
  const request = { trigger: 'cli', scope: {}, requestKey: null } as const
  const { runId, items } = await startRun(app.sync, request)
  expect(await kinds()).toEqual(['no_worker'])
  expect((await rowOf('no_worker')).sentence).toBe('No worker is alive: a run waits for one.')
  await endDirectly(app, runId, items)
  expect(await kinds()).toEqual([])
})

describe('of organizations', () => {
  beforeEach(recover)

  test('scopes that fail, with the run that failed last', async () => {
    const [organizationId] = organizations
    const run = await runWith({
      kind: 'forbidden',
      match: { operation: 'comments', organizationId },
    })
    expect(await readAttention(live.database.pool)).toMatchObject([
      {
        kind: 'failing',
        urgency: 'high',
        count: run['scopes_failed'],
        organizations: 1,
        first: [{ organizationId, count: run['scopes_failed'] }],
        path: `/runs/${run.run_id}`,
        fix: `\`collab-sync run --failed-of ${run.run_id.slice(0, 8)}\` retries the failed scopes.`,
      },
    ])
    expect(
      await one('select sum(scopes)::int from collab_store.checks where failing_since is not null'),
    ).toBe(run['scopes_failed'])
    const place = [...places(live.world)].find((each) => each.organizationId === organizationId)
    live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'comments', ...place } }])
    const retry = await live.run({ failedOf: run.run_id })
    expect(await readAttention(live.database.pool)).toMatchObject([
      { kind: 'failing', count: 1, path: `/runs/${retry.run_id}` },
    ])
    live.standIn.setFaults([])
    const { documentId, annotationId } = place as Place
    const scope = { organizationIds: [organizationId], documentId, annotationId }
    await live.run({ trigger: 'hint', scope })
    expect(await kinds()).toEqual([])
  })

  test('scopes without a good check within the promise', async () => {
    await ageChecks(live.database, 27)
    const scopes = await one('select sum(scopes)::int from collab_store.checks where is_overdue')
    expect(await readAttention(live.database.pool)).toMatchObject([
      { kind: 'overdue', urgency: 'high', count: scopes, organizations: 3 },
    ])
    await live.run()
    expect(await kinds()).toEqual([])
  })

  test('a held listing, however it fails and how old it gets', async () => {
    const [organizationId] = organizations
    const match = { operation: 'users', organizationId } as const
    const run = await runWith({ kind: 'empty-list', match })
    const listings = run['scopes_held']
    // Each person once, though several listings lack them.
    const people = await one(
      'select count(distinct id)::int from sync.held, unnest(missing_user_ids) id where resolved_at is null',
    )
    const sentence = `${people} people are missing from ${listings} listings, and collab-sync removed none of them, in organization "${organizationId}".`
    const held = { kind: 'held', count: listings, path: '/held', sentence }
    expect(await readAttention(live.database.pool)).toMatchObject([held])
    await ageChecks(live.database, 27)
    expect(await kinds()).toEqual(['overdue', 'held'])
    await expectEachScopeOnce()
    await runWith(
      { kind: 'forbidden', match },
      { kind: 'forbidden', match: { operation: 'comments', organizationId } },
    )
    expect(await readAttention(live.database.pool)).toMatchObject([
      { kind: 'failing', organizations: 1 },
      held,
    ])
    await ageChecks(live.database, 27)
    expect(await kinds()).toEqual(['overdue', 'failing', 'held'])
    await expectEachScopeOnce()
    const of = async (kind: string) => (await rowOf(kind)).count
    const failing = await of('failing')
    await live.define({ SYNC_OPERATIONS: 'comments' })
    expect(await of('failing')).toBe(failing)
    await live.define({})
    await recover()
    expect(await kinds()).toEqual([])
  })

  test('a held listing, until its removal is refused, though the next run receives the same', async () => {
    const [organizationId] = organizations
    const ofOrganization = listingUsers(organizationId, [])
    const { run_id: runId } = await runWith(ofOrganization)
    expect(await readAttention(live.database.pool)).toMatchObject([
      {
        kind: 'held',
        count: 1,
        sentence: `12 people are missing from 1 listing, and collab-sync removed none of them, in organization "${organizationId}".`,
        fix: expect.stringContaining(`\`collab-sync accept ${runId.slice(0, 8)} --dry-run\``),
      },
    ])
    const heldId = await one('select held_id::int from sync.held where resolved_at is null')
    const decision = { resolution: 'refused', by: 'ann', reason: 'a fault' } as const
    await decideHeld({ database: live.database.pool }, { runId, heldId }, decision)
    expect(await kinds()).toEqual([])
    await runWith(ofOrganization)
    expect(await kinds()).toEqual([])
  })

  test('nothing that left the catalog', async () => {
    const [organizationId] = organizations
    await runWith(
      { kind: 'empty-list', match: { operation: 'users', organizationId } },
      hostileComments(organizationId),
    )
    expect(await kinds()).toEqual(['held', 'rejected'])
    await load((line) => line.organizationId !== organizationId)
    expect(
      await one('select count(*)::int from sync.held where resolved_at is null'),
    ).toBeGreaterThan(0)
    expect(await kinds()).toEqual([])
    await live.importCatalog()
    expect(await kinds()).toContain('held')
  })

  test('records that could not be stored, until they are gone', async () => {
    const [organizationId] = organizations
    await runWith(hostileComments(organizationId))
    expect(await readAttention(live.database.pool)).toMatchObject([
      {
        kind: 'rejected',
        urgency: 'medium',
        count: 1,
        sentence: `1 record was rejected, in organization "${organizationId}".`,
      },
    ])
    await live.run()
    expect(await kinds()).toEqual([])
  })
})

describe('of the catalog', () => {
  beforeEach(recover)

  test('an import that is held, one that was refused and comes again, and a whole one', async () => {
    const [organizationId] = organizations
    const isWanted = (line: CatalogLine) => line.organizationId !== organizationId
    await load(isWanted, false)
    expect(await kinds()).toEqual(['catalog_held'])
    const importId = Number(
      await one(`select import_id from sync.catalog_imports where state = 'held'`),
    )
    const decision = { state: 'refused', decidedBy: 'somebody', reason: 'cut off' } as const
    await decideImport(live.database.pool, { ...decision, importId })
    expect(await kinds()).toEqual([])
    await load(isWanted, false)
    expect(await kinds()).toEqual(['catalog_failed'])
    await load(() => true, false)
    expect(await kinds()).toEqual([])
  })

  test('a source that cannot be read, whose words are apart', async () => {
    const problem = 'CATALOG_SQL failed: no.'
    const failed = { source: 'CATALOG_SQL', requestedBy: 'schedule', problem }
    await catalog.insertFailedImport.run(live.database.pool, failed)
    expect(await readAttention(live.database.pool)).toMatchObject([
      {
        kind: 'catalog_failed',
        words: problem,
        sentence: expect.not.stringContaining('CATALOG_SQL'),
      },
    ])
    await load(() => true, false)
    expect(await kinds()).toEqual([])
  })
})

/** How each other kind comes and goes: test/notify/notifier.pg.test.ts and nightly-runs.pg.test.ts. */
test('refused credentials, until a later run could call the service', async () => {
  await recover()
  await rolledBack(live.database.pool, async (client) => {
    const read = async () => (await client.query('select kind from sync.attention_by_kind')).rows
    await client.query(
      `insert into sync.runs (trigger, status, stopped_for, problem, finished_at) values ('cli', 'failed', 'credentials', 'Unauthenticated.', now())`,
    )
    expect(await read()).toEqual([{ kind: 'credentials' }])
    await client.query(
      `insert into sync.runs (trigger, status, calls, requested_at, finished_at) values ('cli', 'succeeded', 1, now() + interval '1 second', now())`,
    )
    expect(await read()).toEqual([])
  })
})

describe('at one state', () => {
  let command: BuiltCommand
  beforeAll(async () => {
    command = await buildCommand()
    await recover()
    const [one_, two, three] = organizations
    await runWith(
      { kind: 'forbidden', match: { operation: 'comments', organizationId: one_ } },
      { kind: 'forbidden', match: { operation: 'comments', organizationId: two } },
      { kind: 'empty-list', match: { operation: 'users', organizationId: two } },
      { ...hostileComments(three), times: 2 },
    )
    const failed = { source: 'CATALOG_SQL', requestedBy: 'schedule', problem: 'the words <of> SQL' }
    await catalog.insertFailedImport.run(live.database.pool, failed)
  })

  test('the page, status, /v1/attention, the metrics and reporting.attention say the same', async () => {
    const rows = await readAttention(live.database.pool)
    expect(rows.map(({ kind }) => kind)).toEqual(['failing', 'catalog_failed', 'held', 'rejected'])
    const settings = { DATABASE_URL: live.database.url }
    const { stdout: status } = await command.run(['status'], settings)
    const { document } = await command.json(['status'], settings)
    expect(document.attention).toEqual(JSON.parse(JSON.stringify(rows)))

    const pages = await askPages(await live.openApp())
    const overview = await pages.words('/')
    const get = async (url: string) => (await pages.get(url)).text
    const metrics = new Map(
      samplesIn(await get('/metrics'))
        .filter(({ name }) => name === 'collab_sync_attention')
        .map(({ labels, value }) => [labels['kind'], value]),
    )
    expect([...metrics.keys()]).toEqual([...ATTENTION_KINDS])
    expect(overview).toContain('4 open problems')
    for (const row of rows) {
      for (const text of [status, overview]) {
        expect(text).toContain(row.sentence)
        if (row.words !== null) expect(text).toContain(row.words)
        if (row.organizations > 1)
          expect(text).toContain(
            row.first.map(({ organizationId, count }) => `${organizationId} (${count})`).join(', '),
          )
      }
      expect(status).toContain(row.fix)
      expect(overview.includes(row.fix.replaceAll('`', ''))).toBe(row.kind === 'catalog_failed')
      const { items } = JSON.parse(await get(`/v1/attention?kind=${row.kind}`))
      const sum = items.reduce((all: number, { count }: { count: number }) => all + count, 0)
      const reported = await asReader(
        'select sum(count)::int as count from reporting.attention where kind = $1',
        [row.kind],
      )
      expect({ v1: sum, metrics: metrics.get(row.kind), reported: reported[0].count }).toEqual({
        v1: row.count,
        metrics: row.count,
        reported: row.count,
      })
    }
    expect([...metrics.values()].reduce((all, value) => all + value, 0)).toBe(
      rows.reduce((all, { count }) => all + count, 0),
    )

    const whole = JSON.parse(await get('/v1/attention'))
    expect(whole.nextCursor).toBeNull()
    expect(whole.items.length).toBeGreaterThan(rows.length)
    const paged: unknown[] = []
    for (let cursor = ''; ;) {
      const page = JSON.parse(await get(`/v1/attention?limit=1${cursor}`))
      paged.push(...page.items)
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    expect(paged).toEqual(whole.items)
  })

  test('collab_reader sees it without words of others', async () => {
    // Else all that fails would have begun to fail at one time.
    await live.database.pool.query(
      `update collab_store.annotations set failing_since = failing_since - interval '1 minute'
      where annotation_key in (select min(annotation_key) from collab_store.annotations where failing_since is not null)`,
    )
    const order = 'order by kind, organization_id'
    const rows = await asReader(`select * from reporting.attention ${order}`)
    expect(rows.some(({ since, latest }) => since < latest)).toBe(true)
    const names = Object.keys(rows[0]).join(', ')
    const all = await live.rows(`select ${names} from sync.attention ${order}`)
    expect(rows).toEqual(all)
    expect(JSON.stringify(rows)).not.toContain('the words <of> SQL')
    expect(Object.keys(rows[0])).not.toContain('words')
    await expect(asReader('select * from sync.attention')).rejects.toThrow('permission denied')
  })
})

async function kinds(): Promise<string[]> {
  return (await readAttention(live.database.pool)).map(({ kind }) => kind)
}

async function rowOf(kind: string): Promise<AttentionByKind> {
  const row = (await readAttention(live.database.pool)).find((each) => each.kind === kind)
  if (row === undefined) throw new Error(`nothing is ${kind}`)
  return row
}

/** A run during which the service has these faults. */
async function runWith(...faults: FaultRule[]) {
  live.standIn.setFaults(faults)
  return live.run()
}

/** A whole catalog, and a run without faults. */
async function recover(): Promise<void> {
  live.standIn.setFaults([])
  await load(() => true)
  await live.run()
  expect(await kinds()).toEqual([])
}

async function load(isWanted: (line: CatalogLine) => boolean, acceptsAll = true): Promise<void> {
  const source = listSource('test', [...catalogLines(live.world)].filter(isWanted))
  await importCatalog(live.database.pool, source, { prune: true, acceptsAll })
}

/** If every scope has a problem, the counts add up to all scopes: no scope is counted twice. */
async function expectEachScopeOnce(): Promise<void> {
  const counted = await one(`select sum(count)::int from sync.attention`)
  expect(counted).toBe(await one('select sum(scopes)::int from collab_store.batches'))
}

/** As collab_reader. */
async function asReader(text: string, values: unknown[] = []): Promise<any[]> {
  return rolledBack(live.database.pool, async (client) => {
    await client.query('set local role collab_reader')
    return (await client.query(text, values)).rows
  })
}

/** The only column of the only row. */
async function one(text: string): Promise<any> {
  const { rows } = await live.database.pool.query({ text, rowMode: 'array' })
  return rows[0]?.[0]
}
