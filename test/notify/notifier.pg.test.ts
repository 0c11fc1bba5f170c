import { beforeEach, describe, expect, test } from 'vitest'
import { lookTogether, reportingRig } from './rig.ts'

/** Problems are reported once, however many processes check, and once more when they are resolved. */

const on = reportingRig()
const { told, types, sql, watchSince, check } = on

beforeEach(async () => {
  await sql(`insert into collab_store.organizations (organization_id) values ('acme')`)
  await sql(
    `with batch as (
      insert into collab_store.batches (organization_key, operation, batch_no, scopes, checked_at)
      select organization_key, 'users', 0, 10, now() from collab_store.organizations
      returning batch_key, organization_key
    )
    insert into collab_store.listings (batch_key, scope_no, operation, kind, scope_key)
    select batch_key, 0, 'users', 'organization', organization_key from batch`,
  )
})

/** The listing of the organization fails, in a run that has finished. */
async function failListing(trigger = 'cli'): Promise<void> {
  const runId = await on.rig.endedRun({ status: 'partial', trigger, failed: 1 })
  await sql(`update collab_store.listings set own_checked_at = '-infinity', failing_since = now()`)
  await sql(
    `insert into sync.failures (run_id, batch_key, scope_no, operation, attempts)
    select $1, batch_key, 0, 'users', 1 from collab_store.batches`,
    [runId],
  )
}

async function hold(): Promise<void> {
  await sql(
    `insert into sync.held (run_id, batch_key, operation, kind, scope_key, organization_id, users_before, content_digest, missing_user_ids)
    select $1, batch_key, 'users', 'organization', organization_key, 'acme', 10, '', '{u1,u2,u3}' from collab_store.batches`,
    [await on.rig.endedRun({ status: 'partial' })],
  )
}

const resolveHeld = () => sql(`update sync.held set resolved_at = now(), resolution = 'accepted'`)

async function reject(): Promise<void> {
  await sql(
    `insert into sync.rejected_records (run_id, operation, organization_id, reason, record, is_whole, digest)
    values ($1, 'users', 'acme', 'odd', '{"secret": 1}', true, '\\x01')`,
    [await on.rig.endedRun({ status: 'partial' })],
  )
}

/** An import of the catalog that is older than those after it. */
async function imported(state: string): Promise<void> {
  await sql(
    `insert into sync.catalog_imports (source, requested_by, state, scopes, lacking, problem, prunes)
    values ('CATALOG_SQL', 'schedule', $1, 90, 82, case when $1 = 'failed' then 'CATALOG_SQL failed: no.' end, true)`,
    [state],
  )
}

async function addWorker(name: string, columns: Record<string, unknown> = {}): Promise<void> {
  const given = { worker_id: name, calls_in_flight: 0, calls_limit: 8, ...columns }
  const names = Object.keys(given)
  await sql(
    `insert into sync.workers (started_at, heartbeat_at, ${names.join(', ')})
    values (now(), now(), ${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(given),
  )
}

/** Statements that wait for a lock, as the view would show them after a real wait, which is in test/sync/worker-waits.pg.test.ts. */
const setLockWaits = (secondsAgo: number, isWaiting: boolean) =>
  sql(`create or replace view sync.lock_waits as
    select 1 as pid, 'collab-sync worker' as application_name, now() - make_interval(secs => ${secondsAgo}) as since,
      'worker w1' as waiting, 'a lock of role "ann"' as lock, 2 as holder_pid, now() as holder_since, false as holder_waits
    where ${isWaiting}`)

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)

/** A worker that waits for the service since so many seconds. */
const waitingFor = (secondsAgo: number) => ({
  waiting: { kind: 'throttled', since: ago(secondsAgo), sentence: 'Waits.' },
})

/** The newest run was stopped because the service could not be called. */
async function stopFor(reason: string, secondsAgo: number): Promise<void> {
  await sql(
    `update sync.runs set stopped_for = $2, calls = 1, finished_at = now() - make_interval(secs => $3) where run_id = $1`,
    [await on.rig.endedRun({ trigger: 'hint' }), reason, secondsAgo],
  )
  await sql(`update collab_store.batches set checked_at = now() - interval '1 hour'`)
}

const respond = () => sql('update collab_store.batches set checked_at = now()')
const noWorkers = () => sql('delete from sync.workers')

type Kind = [
  type: string,
  resolved: string,
  begin: (secondsAgo: number) => Promise<unknown>,
  end: () => Promise<unknown>,
]

/** Kinds that come and go in test/attention are not repeated here. */
const KINDS: Kind[] = [
  ['held.waiting', 'held.settled', hold, resolveHeld],
  [
    'refresh.paused',
    'refresh.resumed',
    () =>
      sql(`update sync.refresh_state set paused_since = now(), paused_until = now(), reason = 'x'`),
    () => sql('update sync.refresh_state set paused_since = null, paused_until = null'),
  ],
]

const PATIENT: Kind[] = [
  [
    'service.unreachable',
    'service.recovered',
    (secondsAgo) => stopFor('unreachable', secondsAgo),
    respond,
  ],
  [
    'service.throttled',
    'service.recovered',
    (secondsAgo) => addWorker('w1', waitingFor(secondsAgo)),
    noWorkers,
  ],
  [
    'worker.blocked',
    'worker.recovered',
    (secondsAgo) => addWorker('w1', { problem: 'Full.', problem_since: ago(secondsAgo) }),
    noWorkers,
  ],
  [
    'worker.none',
    'worker.back',
    (secondsAgo) =>
      sql(
        `update collab_store.definitions set next_due_at = now() + interval '1 hour',
          worker_left_at = now() - make_interval(secs => $1)`,
        [secondsAgo],
      ),
    () => addWorker('w1'),
  ],
  [
    'lock.waiting',
    'lock.released',
    (secondsAgo) => setLockWaits(secondsAgo, true),
    () => setLockWaits(0, false),
  ],
  [
    'settings.differ',
    'settings.agree',
    async (secondsAgo) => {
      for (const limit of [10, 20])
        await addWorker(`w${limit}`, { settings: { SYNC_RATE_LIMIT: limit } })
      await sql('update sync.workers set started_at = $1', [ago(secondsAgo)])
    },
    noWorkers,
  ],
]

describe('an open problem', () => {
  test.each([...KINDS, ...PATIENT])(
    '%s is reported once, and %s once it is resolved',
    async (type, resolved, begin, end) => {
      await check()
      expect(types()).toEqual([])
      await begin(120)
      await check()
      expect(told()).toMatchObject([{ type }])
      expect(told()[0]?.data).toMatchObject({
        text: expect.stringContaining(told()[0]?.data['sentence'] as string),
        action: expect.any(String),
        count: expect.any(Number),
        path: expect.stringMatching(/^\//),
      })
      await end()
      await check()
      expect(types()).toEqual([type, resolved])
    },
  )

  test.each(PATIENT)('%s is not reported within a minute', async (type, _, begin, end) => {
    await begin(30)
    await check()
    expect(types()).toEqual([])
    await end()
    await noWorkers()
    await begin(90)
    await check()
    expect(types()).toEqual([type])
  })

  test('names the organizations, and no user, record or document', async () => {
    await hold()
    await reject()
    await check()
    expect(types().toSorted()).toEqual(['held.waiting', 'rejected.waiting'])
    for (const { data } of told())
      expect(data).toMatchObject({ first: [{ organizationId: 'acme', count: 1 }] })
    expect(JSON.stringify(told())).not.toMatch(/u1|secret/)
  })

  test('is resolved by the second look in a row that does not find it', async () => {
    const lookOnce = async () => {
      await on.notifier.check()
      await on.notifier.deliver()
      return types()
    }
    await hold()
    await lookOnce()
    await sql('update sync.held set resolved_at = now()')
    expect(await lookOnce()).toEqual(['held.waiting'])
    await sql('update sync.held set resolved_at = null')
    await lookOnce()
    await sql('update sync.held set resolved_at = now()')
    expect(await lookOnce()).toEqual(['held.waiting'])
    expect(await lookOnce()).toEqual(['held.waiting', 'held.settled'])
  })

  test('is reported again while it is open where another decision waits, and only there', async () => {
    const begin = async () => {
      await hold()
      await imported('held')
      await imported('failed')
      await check()
    }
    await begin()
    const waiting = ['catalog.failed', 'catalog.held', 'held.waiting']
    expect(types().toSorted()).toEqual(waiting)
    await resolveHeld()
    await sql(`update sync.catalog_imports set state = 'replaced' where state = 'held'`)
    await begin()
    expect(types().slice(3).toSorted()).toEqual(['catalog.held', 'held.waiting'])
    await resolveHeld()
    await check()
    expect(types().slice(5)).toEqual(['held.settled'])
  })

  test('waits for the end of a run that was requested before, unless it is one of a hint', async () => {
    await addWorker('w1')
    const runs = await Promise.all(
      ['cli', 'hint', 'refresh'].map((trigger) => on.rig.endedRun({ trigger, asked: 1 })),
    )
    await sql(`update sync.runs set status = 'running', finished_at = null`)
    await hold()
    await check()
    expect(types()).toEqual([])
    await sql(
      `update sync.runs set status = 'succeeded', finished_at = now() where run_id = $1`,
      runs.slice(0, 1),
    )
    await check()
    expect(types()).toEqual(['held.waiting'])
    // A later run finds another one.
    await sql(
      `update sync.runs set status = 'running', finished_at = null, requested_at = now() where run_id = $1`,
      runs.slice(0, 1),
    )
    await resolveHeld()
    await hold()
    await check()
    expect(types()).toEqual(['held.waiting'])
  })

  test('is not a scope that fails in hints and continuous refresh, until the promise is broken', async () => {
    await failListing('hint')
    await failListing('refresh')
    await check()
    expect(types()).toEqual([])
    await sql(`update collab_store.listings set own_checked_at = now() - interval '27 hours'`)
    await check()
    expect(types()).toEqual(['scopes.failing'])
  })

  test('is a service that throttles and then cannot be reached, until it responds', async () => {
    await addWorker('w1', waitingFor(120))
    await check()
    await noWorkers()
    await stopFor('unreachable', 120)
    await check()
    expect(types()).toEqual(['service.throttled', 'service.unreachable'])
    await respond()
    await check()
    expect(types().slice(2)).toEqual(['service.recovered'])
  })
})

test('a resolution excepts listings with a held removal only while one is held', async () => {
  const recovered = () => told().filter(({ type }) => type === 'scopes.recovered')
  const succeed = () =>
    sql(`update collab_store.listings set failing_since = null, own_checked_at = now()`)
  await failListing()
  await check()
  for (const name of ['since', 'latest'])
    expect(told()[0]?.data[name]).toMatch(/T[\d:]{8}\.\d{3}Z$/)
  await succeed()
  await check()
  await failListing()
  await check()
  await succeed()
  await hold()
  await check()
  expect(recovered().map(({ data }) => data['text'])).toEqual([
    'No scope fails any more.',
    'No scope fails any more, apart from listings with a held removal.',
  ])
})

test('many processes that look at once report it once', async () => {
  const three = [on.notifier, on.rig.notifier(), on.rig.notifier()]
  await hold()
  await on.rig.endedRun({ status: 'failed', failed: 10 })
  await lookTogether(three)
  expect(types().toSorted()).toEqual(['held.waiting', 'run.failed'])
  await resolveHeld()
  await lookTogether(three)
  expect(types().slice(2)).toEqual(['held.settled'])
})

test('a kind that cannot be checked is logged once, and the others are reported', async () => {
  await sql('alter table sync.member_changes rename to gone')
  await sql('alter view sync.attention_by_kind rename to gone_too')
  await on.rig.endedRun({ status: 'failed', failed: 10 })
  await check()
  await sql('alter view sync.gone_too rename to attention_by_kind')
  await imported('failed')
  await check()
  expect(types()).toEqual(['run.failed', 'catalog.failed'])
  const failures = on.rig.logged.filter((line) => line.includes('could not be checked'))
  expect(failures.map((line) => JSON.parse(line).kind)).toEqual(['attention', 'members'])
})

test('a failed and a cancelled run are reported, but no other, and none of hints', async () => {
  const runId = await on.rig.endedRun({ status: 'failed', failed: 10 })
  const scope = { organizationIds: ['acme'] }
  const cancelled = await on.rig.endedRun({ status: 'cancelled', trigger: 'http', asked: 1, scope })
  await sql(
    `insert into sync.actions (by, action, run_id) values ('ann', 'run_requested', $1), ('bob', 'run_cancelled', $1)`,
    [cancelled],
  )
  await on.rig.endedRun({ status: 'partial', failed: 1 })
  await on.rig.endedRun()
  await on.rig.endedRun({ status: 'failed', trigger: 'hint', failed: 10 })
  await check()
  expect(types().toSorted()).toEqual(['run.cancelled', 'run.failed'])
  const failed = told().find(({ type }) => type === 'run.failed')
  expect(failed?.data).toMatchObject({ runId, scopesFailed: 10 })
  expect(told().find(({ type }) => type === 'run.cancelled')?.data).toMatchObject({
    text: 'A run of organization acme, requested by ann, was cancelled by bob.',
    requestedBy: 'ann',
    cancelledBy: 'bob',
  })
})

test('what ended before anybody looked, or more than a day ago, is not reported', async () => {
  await on.rig.endedRun({ status: 'failed', failed: 10, asked: 30, ended: 25 })
  await check()
  await watchSince(1)
  await on.rig.endedRun({ status: 'failed', failed: 10, asked: 3, ended: 2 })
  await check()
  expect(told()).toEqual([])
})

test('what the service sends otherwise than before is reported once, and nothing of before anybody watched', async () => {
  const notice = (member: string, hoursAgo: number) =>
    sql(
      `insert into sync.member_changes (object, path, change, types, noticed_at)
      values ('comment', array['data', $1], 'new', '{number}', now() - make_interval(hours => $2))`,
      [member, hoursAgo],
    )
  await notice('old', 50)
  await check()
  expect(told()).toEqual([])
  await notice('severity', 0)
  await notice('due.at', 0)
  await check()
  await check()
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

test('nobody looks more often than is asked for, whoever looks', async () => {
  const patient = on.rig.notifier({ secondsBetween: 3600 })
  expect([await patient.check(), await patient.check()]).toEqual([true, false])
  expect(await on.rig.notifier({ secondsBetween: 3600 }).check()).toBe(false)
})
