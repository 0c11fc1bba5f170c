import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/worker/app.ts'
import { rolledBack } from '../../src/core/database/pool.ts'
import * as workers from '../../src/core/database/statements/workers.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { RunningHttp } from '../../src/http/start-http.ts'
import { ATTENTION } from '../../src/features/notify/notification.ts'
import { Notifier } from '../../src/features/notify/notifier.ts'
import { startRun } from '../../src/core/run/start.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand } from '../cli/built-command.ts'
import { endDirectly } from '../helpers/direct-run.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, serveApp } from '../http/served.ts'
import { startReceiver } from '../notify/receiver-server.ts'
import type { ReceiverServer } from '../notify/receiver-server.ts'
import { SECRET } from '../notify/rig.ts'
import { wordsOf } from '../pages/ask-pages.ts'

/** What is wrong as it comes and goes over some nights: everything that shows it says the same at each step. */

let live: Live
let app: App
let served: RunningHttp
let command: BuiltCommand
let receiver: ReceiverServer
let notifier: Notifier
/** Annotations of two organizations: four, and two. */
let six: Place[]

beforeAll(async () => {
  live = await openLive('none', { settings: { SYNC_RETRIES: '0' } })
  await live.importCatalog()
  await live.run()
  app = await live.openApp()
  served = await serveApp(app)
  command = await buildCommand()
  receiver = await startReceiver()
  // Of `serve`, which looks every 10 seconds.
  notifier = new Notifier({
    database: live.database.pool,
    log: pino({ level: 'silent' }),
    addresses: [{ shape: 'json', url: receiver.url }],
    secret: SECRET,
    secondsBetween: 0,
  })
  await notifier.look()
  const [most, fewest] = [...live.world.organizationIds()]
  const of = (organizationId: string | undefined, n: number) =>
    [...places(live.world)].filter((each) => each.organizationId === organizationId).slice(0, n)
  six = [...of(most, 4), ...of(fewest, 2)]
})
afterAll(async () => {
  await served?.stop()
  await command?.remove()
  await receiver?.close()
  await live.close()
})

test('a night in five acts', async () => {
  const [most, fewest] = [six[0], six[5]].map((place) => place?.organizationId) as [string, string]

  // The first: six scopes fail in the night.
  failing(six)
  const night = await live.run({ trigger: 'schedule' })
  await expectShown({
    kind: 'failing',
    count: 6,
    sentence: '6 scopes failed at the last request, in 2 organizations.',
    first: { [most]: 4, [fewest]: 2 },
    path: `/runs/${night.run_id}`,
  })
  await expectNotified(['scopes.failing'])

  // The second: a retry resolves three.
  failing(six.slice(3))
  const retry = await live.run({ failedOf: night.run_id })
  await expectShown({
    kind: 'failing',
    count: 3,
    sentence: '3 scopes failed at the last request, in 2 organizations.',
    first: { [fewest]: 2, [most]: 1 },
    path: `/runs/${retry.run_id}`,
  })
  await expectNotified([])

  // The third: hints resolve two, and the next night the last one. What is resolved is reported by the second look.
  failing(six.slice(5))
  for (const { organizationId, documentId, annotationId } of six.slice(3, 5)) {
    const scope = { organizationIds: [organizationId], documentId, annotationId }
    await live.run({ trigger: 'hint', scope })
  }
  await expectShown({
    kind: 'failing',
    count: 1,
    sentence: `1 scope failed at the last request, in organization ${JSON.stringify(fewest)}.`,
    first: { [fewest]: 1 },
    path: `/runs/${retry.run_id}`,
  })
  await expectNotified([])
  failing([])
  await live.run({ trigger: 'schedule' })
  await expectShown(null)
  await expectNotified([])
  await expectNotified(['scopes.recovered'])

  // The fourth: a listing is held, refused, and then right again.
  const { organizationId } = six[0] as Place
  live.standIn.setFaults([
    {
      kind: 'empty-list',
      match: ({ operation, data }) =>
        operation === 'users' &&
        data['organizationId'] === organizationId &&
        Object.keys(data).length === 1,
    },
  ])
  await live.run({ trigger: 'schedule' })
  await expectShown({
    kind: 'held',
    count: 1,
    sentence: `1 listing lost so many users that collab-sync removed none of them, in organization ${JSON.stringify(organizationId)}.`,
    first: { [organizationId]: 1 },
    path: '/held',
  })
  await expectNotified(['held.waiting'])
  const [held] = JSON.parse((await ask('/v1/held')).text).items
  const refused = await ask(`/v1/held/${held.heldId}/refuse`, {
    method: 'POST',
    body: JSON.stringify({ runId: held.runId, reason: 'It is a fault of the service.' }),
    headers: { 'content-type': 'application/json' },
  })
  expect(refused.status).toBe(200)
  await expectShown(null)
  await expectNotified([])
  await expectNotified(['held.settled'])
  await live.run({ trigger: 'schedule' })
  await expectShown(null)
  live.standIn.setFaults([])
  await live.run({ trigger: 'schedule' })
  await expectShown(null)
  await expectNotified([])

  // The fifth: the only worker is away while a run waits, and comes back.
  await workerLives()
  const request = { trigger: 'cli', scope: {}, requestKey: null } as const
  const { runId, items } = await startRun(app.sync, request)
  await expectShown(null)
  await live.database.pool.query(
    `with away as (update sync.workers set heartbeat_at = now() - interval '2 minutes')
    update sync.runs set requested_at = now() - interval '2 minutes' where finished_at is null`,
  )
  await expectShown({
    kind: 'no_worker',
    count: 1,
    sentence: 'No worker is alive: a run waits for one.',
    first: {},
    path: '/runs',
  })
  await expectNotified(['worker.none'])
  await workerLives()
  await expectShown(null)
  await endDirectly(app, runId, items)
  await expectNotified([])
  await expectNotified(['worker.back'])
})

/** The only kind that is shown. */
interface Shown {
  readonly kind: keyof typeof ATTENTION
  readonly count: number
  readonly sentence: string
  /** Counts by organization, in the order in which they are shown. */
  readonly first: Readonly<Record<string, number>>
  readonly path: string
}

let shown: Shown | null = null

/** SQL, `status`, `/v1/attention` and the overview show just this, or that nothing is wrong. */
async function expectShown(expected: Shown | null): Promise<void> {
  shown = expected
  const byKind = (expected === null ? [] : [expected]).map(factsOf)
  const byOrganization = byKind.flatMap(({ kind, count, sentence, first }): object[] => {
    if (first.length < 2)
      return [{ kind, organizationId: first[0]?.organizationId ?? null, count, sentence }]
    const rows = first.toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1))
    return rows.map((row) => ({ kind, ...row }))
  })
  expect(
    await sql(
      `select kind, count::int as count, organizations::int as organizations, sentence, path,
        coalesce(first, '[]') as first
      from sync.attention_by_kind`,
    ),
  ).toEqual(byKind)
  expect(
    await sql(
      `select kind, organization_id as "organizationId", count::int as count, sentence
      from reporting.attention order by kind, organization_id collate "C"`,
      'collab_reader',
    ),
  ).toMatchObject(byOrganization)
  const { items } = JSON.parse((await ask('/v1/attention')).text)
  expect(items).toMatchObject(byOrganization)
  const { stdout } = await command.run(['status', '--json'], { DATABASE_URL: live.database.url })
  expect(JSON.parse(stdout).attention).toMatchObject(byKind)

  const page = await ask('/', { headers: { accept: 'text/html' } })
  const overview = wordsOf({ ...page, headers: {} })
  expect(overview).toContain(expected === null ? 'No open problems' : '1 open problem')
  if (expected === null) return
  expect(overview).toContain(expected.sentence)
  expect(page.text).toContain(`href="${expected.path}"`)
  const named = Object.entries(expected.first).map(([id, count]) => `${id} (${count})`)
  if (named.length > 1) expect(overview).toContain(named.join(', '))
}

function factsOf({ first, ...row }: Shown) {
  const organizations = Object.entries(first)
  return {
    ...row,
    organizations: organizations.length,
    first: organizations.map(([organizationId, count]) => ({ organizationId, count })),
  }
}

/** The notifier looks once and sends messages of just these types; what they say is what is shown, or that it is resolved. */
async function expectNotified(types: readonly string[]): Promise<void> {
  const before = receiver.received.length
  expect(await notifier.look()).toBe(true)
  await notifier.deliver()
  const messages = receiver.received.slice(before).map(({ body }) => body)
  expect(messages.map(({ type }) => type)).toEqual(types)
  if (shown === null) return
  const [type] = ATTENTION[shown.kind]
  const { kind: _, first, ...facts } = factsOf(shown)
  for (const message of messages)
    expect(message).toMatchObject({
      type,
      data: { ...facts, text: shown.sentence, ...(first.length > 0 && { first }) },
    })
}

/** The comments of these annotations, and of no others, cannot be fetched from now on. */
function failing(annotations: readonly Place[]): void {
  live.standIn.setFaults(
    annotations.map((place) => ({
      kind: 'bad-request',
      match: { operation: 'comments', ...place },
    })),
  )
}

/** A heartbeat of a worker. */
async function workerLives(): Promise<void> {
  await workers.heartbeat.run(live.database.pool, {
    workerId: 'w1',
    callsInFlight: 0,
    mostCallsInFlight: 8,
    callMs: null,
    problem: null,
    rateLimit: null,
    waiting: null,
    settings: null,
  })
}

async function ask(path: string, request: RequestInit = {}) {
  const headers = { ...BEARER, ...(request.headers as Record<string, string>) }
  const response = await fetch(`${served.url}${path}`, { ...request, headers })
  return { status: response.status, text: await response.text() }
}

async function sql(text: string, role?: 'collab_reader'): Promise<any[]> {
  return rolledBack(live.database.pool, async (client) => {
    if (role !== undefined) await client.query(`set local role ${role}`)
    return (await client.query(text)).rows
  })
}
