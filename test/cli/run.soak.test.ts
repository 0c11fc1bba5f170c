import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'
import { until } from '../helpers/until.ts'
import { buildCommand } from './built-command.ts'
import type { BuiltCommand, Environment, StandInProcess } from './built-command.ts'

let command: BuiltCommand
let catalog: string

const WORLD = [
  '--organizations',
  '2',
  '--documents',
  '3',
  '--annotations',
  '8',
  '--latency',
  '2',
  '--no-skew',
]
/** 2 organizations with 3 documents, 4 groups each, and 8 annotations a document. */
const SCOPES = 2 + 6 + 8 + 48
/** Rows that a run writes: what must stand still when nothing changed. */
const DATA_TABLES = [
  'comments',
  'comment_versions',
  'users',
  'user_versions',
  'document_users',
  'user_group_members',
  'past_memberships',
]

beforeAll(async () => {
  command = await buildCommand()
  catalog = join(command.directory, 'catalog.ndjson')
})

afterAll(() => command.remove())

const places = [
  { name: 'PostgreSQL', redis: undefined },
  { name: 'Redis', redis: redisUrl() },
].filter(({ name, redis }) => name === 'PostgreSQL' || redis !== undefined)

describe.each(places)('with the queue in $name', ({ name, redis }) => {
  const prefix = randomPrefix()
  let database: TestDatabase
  let standIn: StandInProcess
  let settings: Environment

  beforeAll(async () => {
    database = await createTestDatabase()
    standIn = await command.startStandIn(...WORLD, '--catalog', catalog)
    settings = {
      ...standIn.environment,
      DATABASE_URL: database.url,
      SYNC_RETRIES: '2',
      ...(name === 'Redis' && { REDIS_URL: redis ?? '', QUEUE_PREFIX: prefix }),
    }
    expect(await command.run(['catalog', 'import', catalog], settings)).toMatchObject({ code: 0 })
  })

  afterEach(() => standIn.control({ faults: [], authToken: 'demo-auth-token', latencyMs: 2 }))

  afterAll(async () => {
    await database.drop()
    if (name !== 'Redis') return
    const client = new Redis(redis ?? '')
    const keys = await client.keys(`${prefix}*`)
    if (keys.length > 0) await client.del(keys)
    client.disconnect()
  })

  async function json(
    args: string[],
    environment = settings,
  ): Promise<{ code: number | null; document: any }> {
    const { code, stdout, stderr } = await command.run([...args, '--json'], environment)
    if (stdout === '') throw new Error(`${args.join(' ')} printed nothing: ${stderr}`)
    return { code, document: JSON.parse(stdout) }
  }

  async function changes(): Promise<unknown> {
    await database.pool.query('select pg_stat_force_next_flush()')
    const { rows } = await database.pool.query(
      `select relname, n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables
      where schemaname = 'collab_store' and relname = any($1) order by relname`,
      [DATA_TABLES],
    )
    return rows
  }

  test('a run syncs everything, and counts the calls that the service saw', async () => {
    await standIn.control({ resetCalls: true })
    const { code, document } = await json(['run'])
    expect(code).toBe(0)
    const seen = await standIn.control()
    expect(document).toMatchObject({
      status: 'succeeded',
      trigger: 'cli',
      scope: {},
      calls: seen.total,
      scopesExpected: SCOPES,
      scopesSucceeded: SCOPES,
      organizationsDone: 2,
      documentsDone: 6,
      groupsDone: 8,
      annotationsDone: 48,
      failuresByCause: [],
      held: { listings: 0, first: [] },
    })
    expect(seen.violationCount).toBe(0)
    const { rows } = await database.pool.query('select count(*)::int as n from collab.comments')
    expect(document.commentsWritten).toBe(rows[0].n)
  })

  test('a second run over an unchanged service touches no row of the data', async () => {
    await command.run(['run'], settings)
    const before = await changes()
    const { code, document } = await json(['run'])
    expect({ code, written: document.commentsWritten + document.usersWritten }).toEqual({
      code: 0,
      written: 0,
    })
    expect(document.recordsUnchanged).toBe(document.recordsReceived)
    expect(await changes()).toEqual(before)
  })

  test('a scoped run asks the service for its scope and nothing else', async () => {
    await standIn.control({ resetCalls: true })
    const place = ['--organization', 'org-0', '--document', 'doc-0', '--annotation', 'ann-0']
    expect((await json(['run', ...place])).code).toBe(0)
    expect((await json(['run', '--organization', 'org-0', '--user', 'user-0'])).code).toBe(0)
    const ids = { organizationId: 'org-0', documentId: 'doc-0', annotationId: 'ann-0' }
    expect((await standIn.log()).map(({ operation, data }) => ({ operation, data }))).toEqual([
      { operation: 'comments', data: ids },
      { operation: 'users', data: { organizationId: 'org-0', userIds: ['user-0'] } },
    ])
  })

  test('what the catalog lacks is wrong use, and no run is left behind', async () => {
    const before = await json(['status'])
    const ended = await command.run(['run', '--organization', 'nowhere'], settings)
    expect(ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Organization "nowhere" is not in the catalog/),
    })
    expect((await json(['status'])).document.runs.length).toBe(before.document.runs.length)
  })

  test('a refused scope makes a run partial (3), and --failed-of tries just what failed', async () => {
    const match = { operation: 'users', organizationId: 'org-0' }
    await standIn.control({ faults: [{ kind: 'forbidden', match }] })
    const failed = await json(['run'])
    const users = 1 + 4 + 3 // the organization, its groups and its documents
    expect(failed.code).toBe(3)
    expect(failed.document).toMatchObject({ status: 'partial', scopesFailed: users })
    expect(failed.document.failuresByCause).toMatchObject([
      { operation: 'users', httpStatus: 403, scopes: users, organizations: 1 },
    ])
    const { runId } = failed.document
    const page = await command.run(['status', runId.slice(0, 8)], settings)
    expect(page.stdout).toMatch(/Failed scopes by cause[^]*403[^]*collab-sync run --failed-of/)

    await standIn.control({ faults: [], resetCalls: true })
    const again = await json(['run', '--failed-of', runId.slice(0, 8)])
    expect(again).toMatchObject({
      code: 0,
      document: { status: 'succeeded', scopesPlanned: users },
    })
    expect((await standIn.control()).total).toBe(users)
    expect(await command.run(['run', '--failed-of', again.document.runId], settings)).toMatchObject(
      {
        code: 2,
        stderr: expect.stringMatching(/^Nothing failed in run/),
      },
    )
  })

  test('refused credentials fail the run (1) after a handful of calls, and show no secret', async () => {
    await standIn.control({ authToken: 'another one', resetCalls: true })
    const { code, stdout, stderr } = await command.run(['run', '--json'], settings)
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', problem: expect.any(String) })
    expect((await standIn.control()).total).toBeLessThan(60)
    expect(stdout + stderr).not.toMatch(/demo-auth-token|demo-api-key/)
  })

  test('SIGINT cancels the run, says so, and ends with 1', async () => {
    await standIn.control({ latencyMs: 2000 })
    const running = command.start(['run', '--json'], { ...settings, SYNC_CONCURRENCY: '1' })
    await until('calls are in flight', async () => (await standIn.control()).inFlight > 0)
    running.child.kill('SIGINT')
    const { code, stdout, stderr } = await running.ended
    const { status, actions } = JSON.parse(stdout)
    expect({ code, status }).toEqual({ code: 1, status: 'cancelled' })
    expect(actions).toMatchObject([{ action: 'run_cancelled' }, { action: 'run_requested' }])
    expect(stderr).toMatch(/SIGINT: cancelling/)
  })

  test('a run that waits for a worker can be cancelled, once', async () => {
    const { stdout } = await command.run(['enqueue'], settings)
    expect(stdout).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/)
    const runId = stdout.trim()
    const { document } = await json(['status', runId])
    expect(document).toMatchObject({ status: 'queued', workersGone: true })
    expect(await json(['cancel', runId])).toMatchObject({
      code: 0,
      document: { status: 'cancelled', scopesSucceeded: 0 },
    })
    expect(await command.run(['cancel', runId], settings)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is over: its status is cancelled\.\n$/),
    })
  })

  test('enqueue needs no credentials; of two workers one is told to stop, and the run succeeds', async () => {
    await standIn.control({ latencyMs: 60 })
    const slow = { ...settings, SYNC_CONCURRENCY: '2' }
    const workers = [command.start(['worker'], slow), command.start(['worker'], slow)]
    await Promise.all(workers.map((worker) => worker.shows(/"msg":"working"/)))
    const { DATABASE_URL, REDIS_URL, QUEUE_PREFIX } = settings
    const own = { DATABASE_URL, REDIS_URL: REDIS_URL ?? '', QUEUE_PREFIX: QUEUE_PREFIX ?? '' }
    const waiting = command.start(['enqueue', '--wait', '--json'], own as Environment)
    await until('calls are in flight', async () => (await standIn.control()).inFlight > 0)
    const status = await json(['status'])
    expect(status.document.workers.filter(({ alive }: { alive: boolean }) => alive)).toHaveLength(2)
    workers[0]?.child.kill('SIGTERM')
    expect(await workers[0]?.ended).toMatchObject({ code: 0 })
    const { code, stdout } = await waiting.ended
    expect({ code, document: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      document: { status: 'succeeded', scopesSucceeded: SCOPES },
    })
    workers[1]?.child.kill('SIGINT')
    expect(await workers[1]?.ended).toMatchObject({ code: 0 })
    expect((await json(['status'])).document.workers).toEqual([])
  })

  test('the schedule can be set, shown and removed', async () => {
    expect((await json(['schedule'])).document).toMatchObject({
      cron: '0 2 * * *',
      timeZone: 'UTC',
      setBy: 'settings',
    })
    const set = await json(['schedule', 'set', '30 1 * * *', '--tz', 'Europe/Berlin'])
    const held = { cron: '30 1 * * *', timeZone: 'Europe/Berlin', setBy: 'schedule set' }
    expect(set.document).toMatchObject({ ...held, registered: true, next: expect.any(String) })
    expect((await json(['schedule', 'show'])).document).toEqual(set.document)
    expect((await json(['status'])).document.schedule).toMatchObject(held)
    expect((await json(['schedule', 'remove'])).document).toMatchObject({
      cron: null,
      next: null,
      registered: false,
    })
  })

  test('the doctor finds nothing to mend, and names what is wrong when something is', async () => {
    const well = await json(['doctor'])
    expect(well).toMatchObject({ code: 0, document: { ok: true } })
    const refused = await json(['doctor'], { ...settings, COLLAB_AUTH_TOKEN: 'wrong-token' })
    expect(refused.code).toBe(2)
    expect(refused.document.findings.filter(({ state }: any) => state === 'fail')).toMatchObject([
      { check: 'service', mend: expect.stringContaining('COLLAB_AUTH_TOKEN') },
    ])
    const missing = await json(['doctor'], { ...settings, COLLAB_API_KEY: '' })
    expect(missing.code).toBe(2)
    expect(missing.document.findings[0]).toMatchObject({ check: 'settings', state: 'fail' })
  })

  test('held removals are applied only when a person accepts them', async () => {
    await command.run(['run'], settings)
    const match = { operation: 'users', organizationId: 'org-0' }
    await standIn.control({ faults: [{ kind: 'empty-list', match }] })
    const held = await json(['run', '--organization', 'org-0', '--operations', 'users'])
    expect(held).toMatchObject({ code: 3, document: { status: 'partial' } })
    expect(held.document.held.listings).toBeGreaterThan(0)
    const { runId } = held.document
    const page = await command.run(['status'], settings)
    expect(page.stdout).toMatch(
      /\d+ listings? lost so many users that collab-sync removed none of them, in organization "org-0"\./,
    )
    const accepted = await json(['accept', runId])
    expect(accepted).toMatchObject({ code: 0, document: { accepted: held.document.held.listings } })
    const { rows } = await database.pool.query(
      `select count(*)::int as n from collab.users where organization_id = 'org-0' and listed`,
    )
    expect(rows[0].n).toBe(0)
    expect(await command.run(['accept', runId], settings)).toMatchObject({ code: 2, stdout: '' })
  })
})
