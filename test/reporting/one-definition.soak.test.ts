import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import type { CatalogLine } from '../../src/demo/catalog.ts'
import { startRun } from '../../src/core/run/start.ts'
import { metrics } from '../../src/http/serve-metrics.ts'
import { onApp } from '../client/on-app.ts'
import { buildCommand } from '../cli/built-command.ts'
import { openLoaded } from '../helpers/live.ts'
import { firstPlace } from '../helpers/places.ts'
import { BEARER, unlistened } from '../http/served.ts'
import type { FaultRule } from '../service/faults.ts'

/**
 * After each fault, everything that reports how fresh the data is shows the same expected numbers. test/worlds computes the
 * marks of each scope after many other faults.
 */

const command = await buildCommand()
const live = await openLoaded('none', { settings: { SYNC_RETRIES: '0' } })
const { rows: ask } = live
const app = await live.openApp()
const server = await unlistened(app)
const place = firstPlace(live.world)
const { organizationId } = place
const all: number = [...catalogLines(live.world)].length
const own = [...catalogLines(live.world)].filter((line) => line.organizationId === organizationId)
const commentsScopes: number = own.filter((line) => 'annotationId' in line).length
/** Scopes of a users batch and of a comments batch of one organization: each has one of either. */
const usersScopes: number = own.length - commentsScopes

/** The reported numbers. */
interface Told {
  scopes: number
  neverChecked: number
  failing: number
  stale: number
}

interface Fault {
  name: string
  act: () => Promise<unknown>
  /** Missing numbers are 0; `scopes` is all scopes. */
  told: () => Partial<Told> & { overdue?: number }
}

const one = { failing: 1, stale: 1 }

const faults: readonly Fault[] = [
  {
    name: 'every call refused, from the first on',
    act: () => failing([{ kind: 'forbidden' }], {}),
    told: () => ({ neverChecked: all, failing: all, stale: all }),
  },
  {
    name: 'one thread refused',
    act: () => failing([{ kind: 'forbidden', match: place }], {}),
    told: () => one,
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
    name: 'an organization that is left out by itself',
    act: async () => {
      await ask(
        'update collab_store.organizations set active = false where organization_id = $1',
        organizationId,
      )
    },
    told: () => ({ scopes: all - usersScopes - commentsScopes }),
  },
  {
    name: 'a scope that is new in the catalog',
    act: () => load([{ ...place, annotationId: 'new' }]),
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
    name: 'a thread that failed and another that is too old',
    act: async () => {
      await failing([{ kind: 'forbidden', match: place }], {})
      await ask(
        `update collab_store.annotations set own_checked_at = now() - interval '27 hours' where annotation_key = (
          select min(annotation_key) from collab_store.annotations where failing_since is null)`,
      )
    },
    told: () => ({ failing: 1, stale: 2, overdue: 1 }),
  },
]

test.each(faults)('$name', { timeout: 60_000 }, async ({ act, told }) => {
  if (faults[0]?.act !== act) await makeGood()
  await act()
  const { overdue = 0, ...expected } = told()
  const all4: Told = { scopes: all, neverChecked: 0, failing: 0, stale: 0, ...expected }
  const tellers = await tellAll()
  expect(tellers).toEqual(Object.fromEntries(Object.keys(tellers).map((name) => [name, all4])))
  expect((await onApp(app).getFreshness()).overdue).toBe(overdue)
})

test('a night without news, and one in which the same fails again, write no scope', async () => {
  await makeGood()
  await failing([{ kind: 'forbidden', match: place }], {})
  const before = await rowVersions()
  await failing([{ kind: 'forbidden', match: place }], {})
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
  expect(wrong.stderr).toMatch(/^COMMENT_WRITTEN_MEMBER must be the path of a field.*\n$/m)
})

/** Which version of its row each scope has. */
async function rowVersions(): Promise<string[]> {
  const rows = await ask(`
    select name || xmin as version from (
      select kind || scope_key || ' ' as name, xmin from collab_store.listings
      union all select 'a' || annotation_key || ' ', xmin from collab_store.annotations
    ) x order by 1`)
  return rows.map(({ version }) => version)
}

/** A run of everything without any failure. */
async function makeGood(): Promise<void> {
  await load()
  live.standIn.setFaults([])
  await live.run()
}

async function failing(rules: FaultRule[], scope: object): Promise<void> {
  live.standIn.setFaults(rules)
  await live.run({ scope })
  live.standIn.setFaults([])
}

/** Imports the world's catalog with other lines. */
async function load(more: readonly CatalogLine[] = []): Promise<void> {
  const source = listSource('world', [...catalogLines(live.world), ...more])
  await importCatalog(live.database.pool, source, { prune: true, acceptsAll: true })
}

/** Makes all checks older by hours. */
async function age(hours: number): Promise<void> {
  await ask(
    `update collab_store.batches set checked_at = checked_at - make_interval(hours => $1)`,
    hours,
  )
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
    sum(failing)::int as failing, sum(stale + never_synced)::int as stale, sum(fresh)::int as fresh
    from reporting.coverage where level <> 'user'`)
  expect(counted.fresh + counted.stale).toBe(counted.scopes)
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
    'reporting.coverage': only(counted),
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

/** Uses a new server, because a server caches these numbers for five seconds. */
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
