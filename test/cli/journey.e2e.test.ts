import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createEmptyDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { buildCommand } from './built-command.ts'
import type { Environment, StandInProcess } from './built-command.ts'

/** What a person does with the built command, from an empty database on: each test goes on where the one before it ended. */

const command = await buildCommand()
const database = await createEmptyDatabase()
const catalog: string = join(command.directory, 'catalog.ndjson')
const world = ['--organizations', '2', '--documents', '2', '--annotations', '3', '--no-skew']
const standIn: StandInProcess = await command.startStandIn(...world, '--catalog', catalog)
const settings: Environment = {
  ...standIn.environment,
  DATABASE_URL: database.url,
  SYNC_RETRIES: '0',
}

const json = (...args: string[]) => command.json(args, settings)

async function one(text: string): Promise<Record<string, unknown>> {
  return (await database.pool.query(text)).rows[0]
}

/** What is served is changed by so many new comments. */
const change = (count: number) =>
  standIn.control({ changes: { count, seed: count, kinds: ['addComment'] } } as object)

test('migrate and catalog import prepare an empty database, and may be repeated', async () => {
  for (let time = 0; time < 2; time++) {
    expect(await command.run(['migrate'], settings)).toMatchObject({ code: 0 })
    expect(await command.run(['catalog', 'import', catalog], settings)).toMatchObject({ code: 0 })
  }
  expect(await one('select count(*)::int as n from collab.annotations')).toEqual({ n: 12 })
})

test('run, as a process of its own, syncs everything and prints one document', async () => {
  const limited = { ...settings, SYNC_RATE_LIMIT: '60' }
  const { code, stdout, stderr } = await command.runProcess(['run', '--json'], limited)
  expect({ code, stderr: /"level":"error"/.test(stderr) }).toEqual({ code: 0, stderr: false })
  const document = JSON.parse(stdout)
  expect(document).toMatchObject({ status: 'succeeded', scopesFailed: 0 })
  const comments = Number((await one('select count(*)::int as n from collab.comments'))['n'])
  expect(comments).toBeGreaterThan(20)
  expect(document.commentsWritten).toBe(comments)
  for (const time of ['serviceMs', 'waitedMs', 'databaseMs', 'cpuMs'])
    expect(document[time], time).toBeGreaterThan(0)
  const status = await command.run(['status', document.runId], settings)
  expect(status.stdout).toMatch(/the service, .*the rate limit, .*PostgreSQL, .* m?s CPU/)
})

test('SIGINT cancels a run, which then ends with 1', async () => {
  await standIn.control({ latencyMs: 2000 })
  const running = command.start(['run', '--json'], { ...settings, SYNC_CONCURRENCY: '1' })
  await until('calls are in flight', async () => (await standIn.control()).inFlight > 0)
  running.child.kill('SIGINT')
  const { code, stdout, stderr } = await running.ended
  await standIn.control({ latencyMs: 0 })
  const { status, actions } = JSON.parse(stdout)
  expect({ code, status }).toEqual({ code: 1, status: 'cancelled' })
  expect(actions).toMatchObject([{ action: 'run_cancelled' }, { action: 'run_requested' }])
  expect(stderr).toMatch(/SIGINT: cancelling/)
})

test('a run of which a scope fails ends with 3; the scope is in sync.failures and can be run again', async () => {
  await standIn.control({
    faults: [{ kind: 'bad-request', match: { operation: 'comments' }, times: 1 }],
  })
  const { code, document } = await json('run')
  expect({ code, status: document.status, failed: document.scopesFailed }).toEqual({
    code: 3,
    status: 'partial',
    failed: 1,
  })
  expect(document.problem).toMatch(/^1 comments scope failed: Bad Request \(HTTP 400/)
  expect(await one('select http_status, operation from sync.failures')).toEqual({
    http_status: 400,
    operation: 'comments',
  })
  const status = await json('status', document.runId)
  expect(status).toMatchObject({ code: 0, document: { status: 'partial' } })
  const retry = await json('run', '--failed-of', document.runId)
  expect(retry).toMatchObject({ code: 0, document: { retryOf: document.runId } })
  const failures = await json('status', document.runId, '--failures')
  expect(failures.document).toMatchObject({
    items: [{ operation: 'comments', state: 'resolved', resolvedBy: retry.document.runId }],
    nextCursor: null,
  })
  const { stdout } = await command.run(['status', document.runId, '--failures'], settings)
  expect(stdout).toContain(`resolved by run ${retry.document.runId.slice(0, 8)}`)
  const again = await json('run', '--failed-of', document.runId)
  const reason = `The scope that failed in run ${document.runId} has been resolved since.`
  expect(again).toEqual({ code: 0, document: { runId: null, reason } })
})

test('the crontab line of the documentation works without an environment, the unit with its settings alone', async () => {
  const docs = join(import.meta.dirname, '../../docs')
  const page = await readFile(join(docs, 'OPERATING.md'), 'utf8')
  const unit = await readFile(join(docs, 'deploy/systemd/collab-sync-worker.service'), 'utf8')
  const here = (line: string | undefined) =>
    (line ?? '')
      .replaceAll('/opt/collab-sync/dist', join(command.directory, '../dist'))
      .replaceAll('/opt/collab-sync', command.directory)
      .replaceAll('/usr/bin/node', process.execPath)
  const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`)
  await writeFile(join(command.directory, '.env'), lines.join(''))
  const empty = { cwd: '/', env: {} }
  try {
    await promisify(execFile)(
      '/bin/sh',
      ['-c', here(/^0 2 \* \* \* (.*)$/m.exec(page)?.[1])],
      empty,
    )
    const log = await readFile(join(command.directory, 'run.log'), 'utf8')
    expect(log).toMatch(/^Run \w{8} succeeded/m)
    const [, args = ''] = /^ExecStart=collab-sync (.*)$/m.exec(unit) ?? []
    const main = join(command.directory, '../dist/cli/main.js')
    const worker = spawn(process.execPath, [main, ...args.split(' ')], { cwd: '/', env: settings })
    worker.stderr.on('data', (text) => String(text).includes('"msg":"working"') && worker.kill())
    expect(await once(worker, 'close')).toEqual([0, null])
  } finally {
    await rm(join(command.directory, '.env'))
  }
})

test('a worker works what is enqueued, keeps the schedule, and ends with 0 at SIGTERM', async () => {
  await change(3)
  expect(await command.run(['schedule', 'set', '30 1 * * *'], settings)).toMatchObject({ code: 0 })
  const worker = command.start(['worker'], { ...settings, METRICS_PORT: '0' })
  await worker.shows(/"msg":"working"/)
  const [, metrics = ''] = await worker.shows(/"address":"(http:[^"]+\/metrics)"/)
  expect(await (await fetch(metrics)).text()).toMatch(/^collab_sync_calls_in_flight_limit 16$/m)
  const port = new URL(metrics).port
  const second = await command.runProcess(['worker'], { ...settings, METRICS_PORT: port })
  expect(second.code).not.toBe(0)
  expect(second.stderr).toMatch(
    new RegExp(`METRICS_PORT ${port} cannot be opened on 127\\.0\\.0\\.1`),
  )
  const { code, document } = await json('enqueue', '--wait')
  expect({ code, status: document.status, written: document.commentsWritten }).toEqual({
    code: 0,
    status: 'succeeded',
    written: 3,
  })
  const status = await json('status')
  expect(status.document.workers).toHaveLength(1)
  expect((await json('schedule')).document).toMatchObject({
    cron: '30 1 * * *',
  })

  const { stdout } = await command.run(['enqueue', '--operations', 'users'], settings)
  const runId = stdout.trim()
  await until('the run has ended', async () =>
    ['succeeded'].includes((await json('status', runId)).document.status as string),
  )
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0, stdout: '' })
  expect((await json('status')).document.workers).toEqual([])
  const waiting = (await command.run(['enqueue'], settings)).stdout.trim()
  for (const args of [['status'], ['status', waiting]])
    expect((await command.run(args, settings)).stdout).toContain(
      `To end it: collab-sync cancel ${waiting.slice(0, 8)}\n`,
    )
  expect(await command.run(['cancel', waiting], settings)).toMatchObject({ code: 0 })
})

test('changes stops at its limit and prints the next cursor', async () => {
  const { code, stdout, stderr } = await command.run(
    ['changes', '--limit', '2', '--objects', 'organization,document'],
    settings,
  )
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual(
    Array(2).fill(['cursor', 'object', 'change', 'key', 'row', 'at', 'run_id']),
  )
  const after = /^2 changes\. Continue with --after (\S+)$/m.exec(stderr)?.[1] ?? ''
  const rest = await command.run(['changes', '--after', after, '--limit', '5'], settings)
  expect(rest.stdout.trimEnd().split('\n')).toHaveLength(5)
  const gone = await command.run(['changes', '--after', `000000000000${after.slice(12)}`], settings)
  expect(gone).toMatchObject({ code: 2, stdout: '' })
  expect(gone.stderr).toMatch(/^This cursor is of another feed.* Start again with .*export/)
})

test('catalog add, list and remove change single things', async () => {
  const own = ['--organization', 'org-new', '--document', 'd', '--annotation', 'a']
  expect(await command.run(['catalog', 'add', ...own, '--add'], settings)).toMatchObject({
    code: 0,
  })
  const { document } = await json('catalog', 'list', '--organization', 'org-new')
  expect(JSON.stringify(document)).toContain('"documentId":"d"')
  const ofDocument = own.slice(0, 4)
  const rename = (...given: string[]) =>
    command.run(['catalog', 'add', ...given, '--name', 'Plan'], settings)
  expect((await rename(...ofDocument)).stdout).toMatch(/documents? +0 +0 +0 +1/)
  expect(await one(`select name from collab.documents where document_id = 'd'`)).toEqual({
    name: 'Plan',
  })
  expect(await one('select target from sync.actions order by action_id desc limit 1')).toEqual({
    target: 'catalog add: 0 added, 0 removed, 1 renamed',
  })
  expect(await rename(...own)).toMatchObject({ code: 2, stdout: '' })
  expect(await command.run(['catalog', 'remove', ...own], settings)).toMatchObject({ code: 0 })
  expect(
    await one(`select active from collab.annotations where organization_id = 'org-new'`),
  ).toEqual({
    active: false,
  })
})

test('run --add adds what the catalog lacks, which is refused without it', async () => {
  const scope = ['--organization', 'org-late', '--document', 'd', '--annotation', 'a']
  const refused = await command.run(['run', ...scope], settings)
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('org-late')
  // The service knows nothing of it.
  const added = await json('run', ...scope, '--add', '--operations', 'comments')
  expect(added).toMatchObject({ code: 1, document: { status: 'failed', scopesFailed: 1 } })
  expect(
    await one(`select active from collab.annotations where organization_id = 'org-late'`),
  ).toEqual({ active: true })
})

test('an import with --prune that lacks much is held: it changes nothing and ends with 3', async () => {
  const less = join(command.directory, 'less.ndjson')
  await writeFile(less, '{"organizationId":"org-late"}\n')
  const { code, document } = await json('catalog', 'import', less, '--prune')
  expect({ code, held: document.held.lacking > 0 }).toEqual({ code: 3, held: true })
  expect(await one('select count(*)::int as n from collab.annotations where active')).toEqual({
    n: 13,
  })
})

test('serve answers probes, the API and pages, and ends with 0 at SIGTERM', async () => {
  const token = 'a-token-of-this-test-0815'
  const serve = command.start(['serve'], { ...settings, HTTP_PORT: '0', HTTP_TOKEN: token })
  const [, url = ''] = await serve.shows(/"address":"(http[^"]+)"/)
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await fetch(`${url}/v1/runs`)).status).toBe(401)
  for (const path of ['/', '/metrics', '/v1/runs', '/v1/changes', '/openapi.json'])
    expect([path, (await fetch(url + path, { headers })).status]).toEqual([path, 200])
  serve.child.kill('SIGTERM')
  expect(await serve.ended).toMatchObject({ code: 0, stdout: '' })
})
