import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/worker/app.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import type { CatalogLine } from '../../src/demo/catalog.ts'
import type { HttpServer } from '../../src/http/server.ts'
import { Notifier } from '../../src/features/notify/notifier.ts'
import { startRun } from '../../src/core/run/start.ts'
import { metrics } from '../../src/http/serve-metrics.ts'
import { onApp } from '../client/on-app.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand } from '../cli/built-command.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, unlistened } from '../http/served.ts'
import type { FaultRule } from '../service/faults.ts'

/**
 * After each fault everything that reports how fresh the data is shows the same numbers, and those that the fault makes. What
 * further faults make of each scope is counted in test/worlds.
 */

let live: Live
let app: App
let server: HttpServer
let command: BuiltCommand
let all: number
let organizationId: string
let documentId: string
let annotationIds: string[]
/** Scopes of a users batch and of a comments batch of one organization: each has one of either. */
let usersScopes: number
let commentsScopes: number

beforeAll(async () => {
  command = await buildCommand()
  live = await openLive('none', { settings: { SYNC_RETRIES: '0' } })
  await live.importCatalog()
  app = await live.openApp()
  server = await unlistened(app)
  ;[organizationId = ''] = live.world.organizationIds()
  ;[documentId = ''] = live.world.documentIds(organizationId)
  annotationIds = [...live.world.annotationIds(organizationId, documentId)]
  all = [...catalogLines(live.world)].length
  const own = [...catalogLines(live.world)].filter((line) => line.organizationId === organizationId)
  commentsScopes = own.filter((line) => 'annotationId' in line).length
  usersScopes = own.length - commentsScopes
})
afterAll(async () => {
  await server?.app.close()
  await live?.close()
  await command?.remove()
})

/** What is told, by whoever tells it. */
interface Told {
  scopes: number
  neverChecked: number
  failing: number
  stale: number
}

interface Fault {
  name: string
  /** Left out where the fault before is what it goes on from. */
  fromGood?: false
  act: () => Promise<unknown>
  /** What is not given is 0; `scopes` is all. */
  told: () => Partial<Told> & { overdue?: number }
}

const thread = () => ({ organizationId, documentId, annotationId: annotationIds[0] as string })
const threadScope = () => ({
  organizationIds: [organizationId],
  documentId,
  annotationId: annotationIds[0],
})
const one = { failing: 1, stale: 1 }

const faults: readonly Fault[] = [
  {
    name: 'every call refused, from the first on',
    fromGood: false,
    act: () => failing([{ kind: 'forbidden' }], {}),
    told: () => ({ neverChecked: all, failing: all, stale: all }),
  },
  {
    name: 'nothing wrong any more',
    act: async () => {},
    told: () => ({}),
  },
  {
    name: 'every call refused after a good night',
    act: () => failing([{ kind: 'bad-request' }], {}),
    told: () => ({ failing: all, stale: all }),
  },
  {
    name: 'one thread refused',
    act: () => failing([{ kind: 'forbidden', match: thread() }], {}),
    told: () => one,
  },
  {
    name: 'the thread asked for by itself, and well',
    fromGood: false,
    act: () => failing([], threadScope()),
    told: () => ({}),
  },
  {
    name: 'a comment asked for by itself and refused',
    act: () =>
      failing([{ kind: 'forbidden', match: thread() }], { ...threadScope(), commentIds: [1] }),
    told: () => one,
  },
  {
    name: 'the comment asked for by itself, and well',
    fromGood: false,
    act: () => failing([], { ...threadScope(), commentIds: [1] }),
    told: () => ({}),
  },
  {
    name: 'a comment asked for by itself, and well, of a thread that is too old',
    act: async () => {
      await age(30)
      await failing([], { ...threadScope(), commentIds: [1] })
    },
    told: () => ({ stale: all, overdue: all }),
  },
  {
    name: 'a user group refused',
    act: async () => {
      const [group] = live.world.groupIds(organizationId)
      await failing([{ kind: 'forbidden', match: { operation: 'users', organizationId } }], {
        organizationIds: [organizationId],
        organizationUserGroupIds: [group],
      })
    },
    told: () => one,
  },
  {
    name: 'a record that cannot be stored',
    act: () => failing([{ kind: 'poison', poison: 'big-id', match: thread() }], {}),
    told: () => ({}),
  },
  {
    name: 'batches that are given up',
    act: async () => {
      await ask(`create function give_up() returns trigger language plpgsql as $$
        begin new.attempts := 8; return new; end $$`)
      await ask(`create trigger give_up before insert on sync.run_items for each row
        when (new.kind = 'sync-batch') execute function give_up()`)
      await live.run({ scope: { organizationIds: [organizationId] } })
      await ask('drop function give_up cascade')
    },
    told: () => ({
      failing: usersScopes + commentsScopes,
      stale: usersScopes + commentsScopes,
    }),
  },
  {
    name: 'a catalog without a document of which a thread failed',
    act: async () => {
      await failing([{ kind: 'forbidden', match: thread() }], {})
      await load((line) => !isOfDocument(line))
    },
    told: () => ({ scopes: all - 1 - annotationIds.length }),
  },
  {
    name: 'the document in the catalog again: its thread is still failing',
    fromGood: false,
    act: () => load(() => true),
    told: () => one,
  },
  {
    name: 'an organization that is left out by itself',
    act: async () => {
      await load(() => true)
      await ask('update collab_store.organizations set active = false where organization_id = $1', [
        organizationId,
      ])
    },
    told: () => ({ scopes: all - usersScopes - commentsScopes }),
  },
  {
    name: 'held listings',
    act: () =>
      failing([{ kind: 'empty-list', match: { operation: 'users', organizationId } }], {
        organizationIds: [organizationId],
      }),
    told: () => ({}),
  },
  {
    name: 'held listings whose last good check is too old',
    act: async () => {
      await age(30)
      await failing([{ kind: 'empty-list', match: { operation: 'users', organizationId } }], {})
      expect((await ask('select from sync.held where resolved_at is null')).length).toBe(
        usersScopes,
      )
    },
    told: () => ({ stale: usersScopes, overdue: usersScopes }),
  },
  {
    name: 'a scope that is new in the catalog',
    act: () => load(() => true, [{ ...thread(), annotationId: 'new' }]),
    told: () => ({ scopes: all + 1, neverChecked: 1, stale: 1 }),
  },
  {
    name: 'a run that is cancelled',
    act: async () => {
      await age(27)
      const started = await startRun(app.sync, { trigger: 'cli', scope: {}, requestKey: null })
      await onApp(app).cancelRun(started.runId)
    },
    told: () => ({ stale: all, overdue: all }),
  },
  {
    name: 'a run whose credentials are refused',
    act: async () => {
      await age(27)
      await failing([{ kind: 'unauthenticated' }], {})
    },
    told: () => ({ stale: all, overdue: all }),
  },
  {
    name: 'a thread that failed and another that is too old',
    act: async () => {
      await failing([{ kind: 'forbidden', match: thread() }], {})
      await ask(
        `update collab_store.annotations set own_checked_at = now() - interval '27 hours' where annotation_key = (
          select min(annotation_key) from collab_store.annotations where failing_since is null)`,
      )
    },
    told: () => ({ failing: 1, stale: 2, overdue: 1 }),
  },
  {
    name: 'a thread that has failed for a year',
    act: async () => {
      await failing([{ kind: 'forbidden', match: thread() }], {})
      await ask(
        `update collab_store.annotations set own_checked_at = now() - interval '1 year' where failing_since is not null`,
      )
    },
    told: () => ({ ...one, overdue: 1 }),
  },
]

test.each(faults)('$name', { timeout: 60_000 }, async ({ act, told, fromGood = true }) => {
  if (fromGood) await makeGood()
  await act()
  const { overdue = 0, ...expected } = told()
  const all4: Told = { scopes: all, neverChecked: 0, failing: 0, stale: 0, ...expected }
  const tellers = await tellAll()
  expect(tellers).toEqual(Object.fromEntries(Object.keys(tellers).map((name) => [name, all4])))
  expect((await onApp(app).getFreshness()).overdue).toBe(overdue)
  await expectMarks()
  await expectMessages()
})

test('a night without news, and one in which the same fails again, write no scope', async () => {
  await makeGood()
  await failing([{ kind: 'forbidden', match: thread() }], {})
  const before = await rowVersions()
  await failing([{ kind: 'forbidden', match: thread() }], {})
  expect(await rowVersions()).toEqual(before)
  await makeGood()
  const changed = (await rowVersions()).filter((row, place) => row !== before[place])
  expect(changed).toHaveLength(1)
  const good = await rowVersions()
  await failing([], {})
  expect(await rowVersions()).toEqual(good)
})

test('a command whose FRESHNESS_PROMISE is not that of the database does nothing, and says both', async () => {
  const environment = {
    COLLAB_API_URL: live.standIn.url,
    COLLAB_API_KEY: live.standIn.apiKey,
    COLLAB_AUTH_TOKEN: live.standIn.authToken,
    DATABASE_URL: live.database.url,
    FRESHNESS_PROMISE: '7d',
    HTTP_PORT: '0',
  }
  for (const name of ['run', 'worker', 'serve']) {
    const { code, stderr } = await command.run([name], environment)
    expect(code, stderr).toBe(2)
    expect(stderr).toContain('FRESHNESS_PROMISE is 7d in the settings of this process and 26h in')
    expect(stderr).toContain('collab-sync migrate')
  }
  expect((await command.run(['migrate'], environment)).code).toBe(0)
  expect(await onApp(app).getFreshness()).toMatchObject({ promiseS: 7 * 24 * 3600 })
  const other = await command.run(['run'], { ...environment, COMMENT_WRITTEN_MEMBER: 'made.at' })
  expect(other.code, other.stderr).toBe(2)
  expect(other.stderr).toContain('COMMENT_WRITTEN_MEMBER is made.at in the settings of this process and not set in') // prettier-ignore
  const wrong = await command.run(['migrate'], { ...environment, COMMENT_WRITTEN_MEMBER: 'made..at' }) // prettier-ignore
  expect(wrong.code, wrong.stderr).toBe(2)
  expect(wrong.stderr).toMatch(/^COMMENT_WRITTEN_MEMBER must be names .*\n$/m)
})

/** Which version of its row each scope has. */
async function rowVersions(): Promise<string[]> {
  const rows = await ask(`
    select name || xmin as version from (
      select 'o' || organization_id || ' ' as name, xmin from collab_store.organizations
      union all select 'g' || user_group_key || ' ', xmin from collab_store.user_groups
      union all select 'd' || document_key || ' ', xmin from collab_store.documents
      union all select 'a' || annotation_key || ' ', xmin from collab_store.annotations
    ) x order by 1`)
  return rows.map(({ version }) => version)
}

/** Everything is asked for and answered well, and nothing is held or left over. */
async function makeGood(): Promise<void> {
  await load(() => true)
  live.standIn.setFaults([])
  await live.run()
  await ask(
    `update sync.held set resolved_at = now(), resolution = 'recovered' where resolved_at is null`,
  )
}

async function failing(rules: FaultRule[], scope: object): Promise<void> {
  live.standIn.setFaults(rules)
  await live.run({ scope })
  live.standIn.setFaults([])
}

/** Imports the world's catalog without some lines, and with others. */
async function load(
  isWanted: (line: CatalogLine) => boolean,
  more: readonly CatalogLine[] = [],
): Promise<void> {
  const source = listSource('world', [...[...catalogLines(live.world)].filter(isWanted), ...more])
  await importCatalog(live.database.pool, source, { prune: true, acceptsAll: true })
}

function isOfDocument(line: CatalogLine): boolean {
  return (
    'documentId' in line && line.organizationId === organizationId && line.documentId === documentId
  )
}

/** Lets hours pass for all checks. */
async function age(hours: number): Promise<void> {
  await ask(
    `update collab_store.batches set checked_at = checked_at - make_interval(hours => $1)`,
    [hours],
  )
}

async function ask(text: string, values: unknown[] = []): Promise<any[]> {
  return (await live.database.pool.query(text, values)).rows
}

async function tellAll(): Promise<Record<string, Told>> {
  const { freshness } = JSON.parse(
    (await command.run(['status', '--json'], { DATABASE_URL: live.database.url })).stdout,
  )
  const { items } = JSON.parse(await get('/v1/organizations'))
  const metric = new Map(
    [...(await scrape()).matchAll(/^collab_sync_(\w+) (\S+)$/gm)].map(
      ([, name, value]) => [name, Number(value)] as const,
    ),
  )
  const [scopes, stale] = numbersIn(
    /([\d,]+) of ([\d,]+) scopes? are stale/,
    await get('/'),
  ).reverse()
  const [rows] =
    await ask(`select count(*)::int as scopes, count(*) filter (where checked_at is null)::int as "neverChecked",
    count(failing_since)::int as failing, count(*) filter (where is_stale)::int as stale from reporting.freshness`)
  const [counted] =
    await ask(`select sum(known)::int as scopes, sum(never_synced)::int as "neverChecked",
    sum(failing)::int as failing, sum(stale + never_synced)::int as stale, sum(fresh)::int as fresh, sum(held)::int as held
    from reporting.coverage where level <> 'user'`)
  // A held listing is counted as held, however old its last good check is.
  const [held] =
    await ask(`select count(*)::int as held, count(*) filter (where is_stale)::int as stale
    from (
      select organization_id, null as document_id, null as organization_user_group_id, is_stale from collab.organizations where in_catalog
      union all select organization_id, null, organization_user_group_id, is_stale from collab.user_groups where in_catalog
      union all select organization_id, document_id, null, is_stale from collab.documents where in_catalog
    ) x
    where exists (select from sync.held h where h.resolved_at is null and (h.organization_id, h.document_id, h.organization_user_group_id)
      is not distinct from (x.organization_id, x.document_id, x.organization_user_group_id))`)
  expect(counted.held).toBe(held.held)
  expect(counted.fresh + counted.held + counted.stale).toBe(counted.scopes)
  const [catalog] =
    await ask(`select count(*)::int as scopes, count(*) filter (where checked_at is null)::int as "neverChecked",
    count(failing_since)::int as failing, count(*) filter (where is_stale)::int as stale
    from (
      select checked_at, failing_since, is_stale, in_catalog from collab.organizations
      union all select checked_at, failing_since, is_stale, in_catalog from collab.user_groups
      union all select checked_at, failing_since, is_stale, in_catalog from collab.documents
      union all select checked_at, failing_since, is_stale, in_catalog from collab.annotations
    ) x where in_catalog`)
  return {
    'status --json': only(freshness),
    '/v1/freshness': only(JSON.parse(await get('/v1/freshness'))),
    '/v1/organizations': only(summed(items)),
    '/metrics': {
      scopes: metric.get('catalog_scopes') as number,
      neverChecked: metric.get('catalog_scopes_never_checked') as number,
      failing: metric.get('catalog_scopes_failing') as number,
      stale: metric.get('catalog_scopes_stale') as number,
    },
    'the overview': { ...only(freshness), scopes: scopes as number, stale: stale as number },
    'reporting.freshness': rows,
    'reporting.coverage': only({ ...counted, stale: counted.stale + held.stale }),
    'schema collab': catalog,
  }
}

function only({ scopes, neverChecked, failing, stale }: Told): Told {
  return { scopes, neverChecked, failing, stale }
}

function summed(items: readonly Told[]): Told {
  const sum = (name: keyof Told) => items.reduce((total, each) => total + each[name], 0)
  return {
    scopes: sum('scopes'),
    neverChecked: sum('neverChecked'),
    failing: sum('failing'),
    stale: sum('stale'),
  }
}

function numbersIn(pattern: RegExp, text: string): number[] {
  const [, ...numbers] = pattern.exec(text) ?? []
  return numbers.map((digits) => Number(digits.replaceAll(',', '')))
}

/** By a server of its own: what a server has read it tells for five seconds. */
async function scrape(): Promise<string> {
  const fresh = Fastify()
  await fresh.register(metrics, { database: live.database.pool, queue: app.queue })
  const { body } = await fresh.inject('/metrics')
  await fresh.close()
  return body
}

async function get(path: string): Promise<string> {
  const { body } = await server.app.inject({
    url: path,
    headers: { ...BEARER, accept: 'text/html, application/json, text/plain' },
  })
  return body
}

/** Rows beneath a thread have its marks. */
async function expectMarks(): Promise<void> {
  for (const view of [
    'collab.comments',
    'reporting.comments',
    'reporting.comments_with_deleted',
    'reporting.thread_summary',
  ]) {
    const [found] = await ask(`
      select count(*)::int as rows, count(*) filter (where (v.checked_at, v.is_stale, v.in_catalog)
        is distinct from (a.checked_at, a.is_stale, a.in_catalog))::int as wrong
      from ${view} v join collab.annotations a using (organization_id, document_id, annotation_id)`)
    const [{ rows }] = await ask(`select count(*)::int as rows from ${view}`)
    expect(found, view).toEqual({ rows, wrong: 0 })
  }
}

/** Expects that a message is open for each kind of sync.attention that scopes are in, and for no other. */
async function expectMessages(): Promise<void> {
  const notifier = new Notifier({
    database: live.database.pool,
    log: app.log,
    addresses: [],
    secret: undefined,
    secondsBetween: 0,
  })
  // What is resolved is noted by the second look that does not find it.
  for (let looks = 0; looks < 2; looks += 1) await notifier.look()
  const kinds = `kind in ('failing', 'overdue', 'held', 'rejected') order by kind`
  expect(
    await ask(
      `select kind from (select subject as kind from sync.notifications where well_at is null group by 1) n where ${kinds}`,
    ),
  ).toEqual(await ask(`select kind from sync.attention_by_kind where ${kinds}`))
}
