import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Notifier } from '../../src/notify/notifier.ts'
import { startReceiver } from './receiver-server.ts'
import type { ReceiverServer } from './receiver-server.ts'
import { lookTogether, openRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** What is told, and that it is told once, however many processes look. */

let receiver: ReceiverServer
let rig: Rig
let three: Notifier[]
/** What the receiver took since the test began. */
let told: () => { type: string; data: Record<string, unknown> }[]

beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(async () => {
  await rig.close()
  await receiver.close()
})

beforeEach(async () => {
  await rig?.close()
  rig = await openRig([{ shape: 'json', url: `${receiver.url}/hook` }])
  three = [rig.notifier(), rig.notifier(), rig.notifier()]
  const before = receiver.received.length
  told = () => receiver.received.slice(before).map(({ body }) => body)
  await watchSince(48)
})

/** As if somebody had looked for so many hours. */
async function watchSince(hours: number): Promise<void> {
  await rig.database.pool.query(
    'update sync.notify_watch set watching_since = now() - make_interval(hours => $1)',
    [hours],
  )
}

test('a run that ends badly is told once, and once more when a later one of its scope succeeds', async () => {
  const scope = { organizationIds: ['acme'] }
  const runId = await rig.endedRun({ status: 'partial', scope, failed: 3 })
  await lookTogether(three)
  expect(told()).toMatchObject([{ type: 'run.partial', data: { runId, scopesFailed: 3 } }])

  await rig.endedRun({ scope: { organizationIds: ['other'] } })
  await lookTogether(three)
  expect(told()).toHaveLength(1)

  const good = await rig.endedRun({ scope })
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'run.recovered', data: { runId: good, problems: 1 } })
  expect(told()).toHaveLength(2)
})

test('runs of hints are left out: there may be thousands of them', async () => {
  await rig.endedRun({ status: 'failed', trigger: 'hint', failed: 10 })
  await rig.endedRun({ status: 'partial', trigger: 'api', failed: 1 })
  await lookTogether(three)
  expect(told()).toMatchObject([{ type: 'run.partial', data: { trigger: 'api' } }])
})

/** An organization with ten scopes, of which its own listing fails. */
async function failingOrganization(): Promise<void> {
  const { pool } = rig.database
  await pool.query(
    `insert into collab_store.organizations (organization_id, own_checked_at, failing_since) values ('acme', '-infinity', now())`,
  )
  await pool.query(
    `insert into collab_store.batches (organization_key, operation, batch_no, scopes, checked_at)
    select organization_key, 'users', 0, 10, now() from collab_store.organizations`,
  )
}

/** A run in which that listing failed. */
async function failedRun(lost = 0): Promise<string> {
  const scope = { organizationIds: ['acme'] }
  const runId = await rig.endedRun({ status: 'partial', scope, failed: 1, asked: 1 })
  const { pool } = rig.database
  await pool.query('update sync.runs set records_lost = $2 where run_id = $1', [runId, lost])
  await pool.query(
    `insert into sync.failures (run_id, batch_key, scope_no, operation, attempts)
    select $1, batch_key, 0, 'users', 1 from collab_store.batches`,
    [runId],
  )
  return runId
}

/** A retry of a run that is as large as the catalog. */
async function retryOf(runId: string): Promise<string> {
  const retried = await rig.endedRun()
  await rig.database.pool.query('update sync.runs set retry_of = $2 where run_id = $1', [
    retried,
    runId,
  ])
  return retried
}

async function resolveFailures(by: string): Promise<void> {
  const { pool } = rig.database
  await pool.query('update sync.failures set resolved_at = now(), resolved_by = $1', [by])
  await pool.query('update collab_store.organizations set failing_since = null')
}

const typesTold = () => told().map(({ type }) => type)

test('a run is well again once nothing of it fails any more, and no retry passes for a run of everything', async () => {
  await failingOrganization()
  const retried = await retryOf(await failedRun())
  await lookTogether(three)
  expect(typesTold()).toEqual(['run.partial'])
  await resolveFailures(retried)
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'run.recovered', data: { runId: retried, problems: 1 } })

  await failedRun()
  await lookTogether(three)
  await rig.endedRun()
  await lookTogether(three)
  expect(typesTold()).toEqual(['run.partial', 'run.recovered', 'run.partial', 'run.recovered'])
})

test('a run of what failed does not make good what another rejected', async () => {
  await failingOrganization()
  const runId = await failedRun(1)
  await resolveFailures(await retryOf(runId))
  await lookTogether(three)
  expect(told()).toMatchObject([{ type: 'run.partial', data: { recordsRejected: 1 } }])
  await rig.database.pool.query('update sync.runs set records_lost = 0 where run_id = $1', [runId])
  await lookTogether(three)
  expect(typesTold()).toEqual(['run.partial', 'run.recovered'])
})

test('a failed and a cancelled run are told, a good one is not', async () => {
  await rig.endedRun({ status: 'failed', scope: { organizationIds: ['y'] }, failed: 10 })
  await rig.endedRun({ status: 'cancelled', asked: 1 })
  await rig.endedRun({ scope: { organizationIds: ['x'] } })
  await lookTogether(three)
  const types = told().map(({ type }) => type)
  expect(types.sort()).toEqual(['run.cancelled', 'run.failed'])
})

test('what ended before anybody looked, or more than a day ago, is not told', async () => {
  await rig.endedRun({ status: 'failed', failed: 10, asked: 30, ended: 25 })
  await lookTogether(three)
  await watchSince(1)
  await rig.endedRun({ status: 'failed', failed: 10, asked: 3, ended: 2 })
  await lookTogether(three)
  expect(told()).toEqual([])
})

test('what is held is told once when its run is over, and once more when nothing waits any more', async () => {
  const { pool } = rig.database
  const runId = await rig.endedRun()
  await pool.query(
    `update sync.runs set status = 'running', finished_at = null where run_id = $1`,
    [runId],
  )
  for (const key of [1, 2]) {
    await pool.query(
      `insert into sync.held (run_id, batch_key, kind, scope_key, organization_id, document_id, users_before,
        content_digest, missing_user_ids)
      values ($1, 1, 'document', $2, 'acme', 'plan', 10, '\\x00', array['u1', 'u2', 'u3'])`,
      [runId, key],
    )
  }
  await lookTogether(three)
  expect(told()).toEqual([])

  await pool.query(
    `update sync.runs set status = 'succeeded', finished_at = now() where run_id = $1`,
    [runId],
  )
  await lookTogether(three)
  expect(told()).toMatchObject([
    { type: 'held.waiting', data: { runId, listings: 2, usersMissing: 6 } },
  ])
  expect(JSON.stringify(told())).not.toContain('u1')

  await pool.query(
    `update sync.held set resolved_at = now(), resolution = 'accepted' where scope_key = 1`,
  )
  await lookTogether(three)
  expect(told()).toHaveLength(1)
  await pool.query(`update sync.held set resolved_at = now(), resolution = 'accepted'`)
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'held.settled' })
  expect(told()).toHaveLength(2)
})

test('freshness that passes its promise is told once, and once more when it is kept again', async () => {
  const { pool } = rig.database
  await pool.query(`insert into collab_store.organizations (organization_id) values ('acme')`)
  await pool.query(
    `insert into collab_store.batches (organization_key, operation, batch_no, scopes, checked_at)
    select organization_key, 'users', 0, 1, now() - interval '27 hours' from collab_store.organizations`,
  )
  await lookTogether(three)
  expect(told()).toMatchObject([{ type: 'freshness.passed', data: { promiseS: 93_600 } }])
  await pool.query(`update collab_store.batches set checked_at = now() - interval '28 hours'`)
  await lookTogether(three)
  expect(told()).toHaveLength(1)
  await pool.query('update collab_store.batches set checked_at = now()')
  await lookTogether(three)
  expect(told()[1]).toMatchObject({ type: 'freshness.recovered' })
  await pool.query(`update collab_store.batches set checked_at = now() - interval '29 hours'`)
  await lookTogether(three)
  expect(told().map(({ type }) => type)).toEqual([
    'freshness.passed',
    'freshness.recovered',
    'freshness.passed',
  ])
})

test('workers that cannot work are reported once, and once more when all can work again', async () => {
  const { pool } = rig.database
  const say = (workerId: string, problem: string | null) =>
    pool.query(
      `insert into sync.workers (worker_id, started_at, heartbeat_at, calls_in_flight, calls_limit, problem, problem_since)
      values ($1, now(), now(), 0, 8, $2::text, case when $2 is not null then now() - interval '2 minutes' end)
      on conflict (worker_id) do update set problem = excluded.problem, problem_since = excluded.problem_since`,
      [workerId, problem],
    )
  await say('w1', 'The queue is full.')
  await say('w2', 'The queue is full.')
  await lookTogether(three)
  const data = { workers: 2, workerId: 'w1', problem: 'The queue is full.' }
  expect(told()).toMatchObject([{ type: 'worker.blocked', data }])
  await say('w1', null)
  await lookTogether(three)
  expect(told()).toHaveLength(1)
  await say('w2', null)
  await lookTogether(three)
  expect(told().map(({ type }) => type)).toEqual(['worker.blocked', 'worker.recovered'])
})

test('a held import of the catalog, and one that fails night after night, are told once, and once more when they are over', async () => {
  const { pool } = rig.database
  const imported = (state: string, source: string) =>
    pool.query(
      `insert into sync.catalog_imports (source, requested_by, state, scopes, lacking, organizations, first_organization_id, problem)
      values ($2, 'schedule', $1, 90, 82, 1, 'acme', case when $1 = 'failed' then 'CATALOG_SQL failed: no.' end)`,
      [state, source],
    )
  await imported('held', 'another file')
  await lookTogether(three)
  await pool.query(`update sync.catalog_imports set state = 'replaced'`)
  await imported('held', 'a file')
  await lookTogether(three)
  await imported('failed', 'CATALOG_SQL')
  await lookTogether(three)
  await imported('failed', 'CATALOG_SQL')
  await lookTogether(three)
  expect(told()).toMatchObject([
    { type: 'catalog.held', data: { source: 'another file' } },
    { type: 'catalog.held', data: { lacking: 82, firstOrganizationId: 'acme', source: 'a file' } },
    { type: 'catalog.failed', data: { problem: 'CATALOG_SQL failed: no.' } },
  ])
  await imported('applied', 'CATALOG_SQL')
  await lookTogether(three)
  await pool.query(`update sync.catalog_imports set state = 'refused' where state = 'held'`)
  await lookTogether(three)
  expect(told().map(({ type }) => type)).toEqual([
    'catalog.held',
    'catalog.held',
    'catalog.failed',
    'catalog.recovered',
    'catalog.settled',
  ])
})

test('what the service sends otherwise than before is told once, and nothing of before anybody watched', async () => {
  const { pool } = rig.database
  const notice = (member: string, hoursAgo: number) =>
    pool.query(
      `insert into sync.member_changes (object, path, change, types, noticed_at)
      values ('comment', array['data', $1], 'new', '{number}', now() - make_interval(hours => $2))`,
      [member, hoursAgo],
    )
  await notice('old', 50)
  await lookTogether(three)
  expect(told()).toEqual([])
  await notice('severity', 0)
  await notice('due.at', 0)
  await lookTogether(three)
  await lookTogether(three)
  expect(told()).toMatchObject([
    {
      type: 'members.changed',
      data: {
        members: 2,
        first: [
          { object: 'comment', member: 'data.severity', change: 'new', types: ['number'] },
          { member: 'data."due.at"' },
        ],
      },
    },
  ])
})

test('a kind that cannot be checked is logged once, and the others are told', async () => {
  const { pool } = rig.database
  await pool.query('alter table sync.member_changes rename to gone')
  const readNightly = async () => ({ cron: 'never', timeZone: 'UTC' })
  const notifier = rig.notifier({ readNightly })
  await rig.endedRun({ status: 'failed', failed: 10 })
  await pool.query(
    `insert into sync.catalog_imports (source, requested_by, state) values ('a file', 'cli', 'failed')`,
  )
  await lookTogether([notifier])
  await lookTogether([notifier])
  expect(told().map(({ type }) => type)).toEqual(['run.failed', 'catalog.failed'])
  const failures = rig.logged.filter((line) => line.includes('could not be checked'))
  expect(failures.map((line) => JSON.parse(line).kind)).toEqual(['nightly', 'members'])
})

test('nobody looks more often than is asked for, whoever looks', async () => {
  const patient = rig.notifier({ secondsBetween: 3600 })
  expect([await patient.look(), await patient.look()]).toEqual([true, false])
  expect(await rig.notifier({ secondsBetween: 3600 }).look()).toBe(false)
})
