import { expect, test } from 'vitest'
import { FAILURES } from '../../src/core/service/errors.ts'
import { decideHeld } from '../../src/core/sync/held.ts'
import { rolledBack } from '../../src/core/database/pool.ts'
import { openLoaded } from '../helpers/live.ts'
import type { FaultRule } from '../service/faults.ts'

/** What collab_reader sees of removals that are held or were refused, of runs and of what failed in them. */

const live = await openLoaded('none', { settings: { SYNC_RETRIES: '0' } })
const [organizationId = ''] = live.world.organizationIds()
const [documentId = ''] = live.world.documentIds(organizationId)
await live.run()

const EMPTY: FaultRule = { kind: 'empty-list' }

test('held removals are marked, and the listing is held and not fresh', async () => {
  const checks = `select level, document_id, organization_user_group_id, checked_at
    from reporting.freshness where organization_id = $1 and operation = 'users' order by 1, 2, 3`
  const checked = await read(checks, [organizationId])
  await runWith({ ...EMPTY, match: { operation: 'users', organizationId } })
  expect(await read(checks, [organizationId])).toEqual(checked)
  const marked = { held: true, refused: false }
  expect(await marks('collab.users', 'listed')).toEqual([marked])
  expect(await marks('collab.users', 'not listed')).toEqual([{ held: false, refused: false }])
  expect(await marks('reporting.user_directory', 'listed')).toEqual([marked])
  expect(await marks('collab.document_users', 'removed_at is null')).toEqual([marked])
  expect(await marks('collab.user_group_members', 'removed_at is null')).toEqual([marked])
  expect(await marks('reporting.memberships', 'until is null')).toEqual([marked])
  const coverage = await read(
    `select level, known = held as is_held, fresh::int, stale::int, refused::int from reporting.coverage
    where organization_id = $1 and level <> 'annotation' order by level`,
    [organizationId],
  )
  const held = { is_held: true, fresh: 0, stale: 0, refused: 0 }
  expect(coverage).toEqual(
    ['document', 'organization', 'user', 'user group'].map((level) => ({ level, ...held })),
  )
  const others = await read(
    `select sum(held)::int as held, bool_and(known = fresh) as is_fresh from reporting.coverage where organization_id <> $1`,
    [organizationId],
  )
  expect(others).toEqual([{ held: 0, is_fresh: true }])
})

test('a held listing is held and not stale, however old its last good check is', async () => {
  await rolledBack(live.database.pool, async (client) => {
    await client.query(
      `update collab_store.batches set checked_at = checked_at - interval '3 days' where operation = 'users'`,
    )
    await client.query(
      `update collab_store.listings set own_checked_at = own_checked_at - interval '3 days' where own_checked_at is not null`,
    )
    const { rows } = await client.query(
      `select sum(held)::int = sum(known)::int as is_held, sum(stale)::int as stale from reporting.coverage
      where organization_id = $1 and level in ('document', 'user group', 'organization')`,
      [organizationId],
    )
    expect(rows).toEqual([{ is_held: true, stale: 0 }])
  })
})

test('refused, they are fresh by decision, and another response is held again', async () => {
  const heldSince = async () => {
    const [row] = await read(
      `select min(removal_held_since) as at from collab.document_users where organization_id = $1 and document_id = $2`,
      [organizationId, documentId],
    )
    return Number(row?.['at'])
  }
  const before = await heldSince()
  await decideHeld(
    { database: live.database.pool },
    { organizationId },
    { resolution: 'refused', by: 'ann', reason: 'a fault of theirs' },
  )
  await runWith({ ...EMPTY, match: { operation: 'users', organizationId } })
  const refused = { held: false, refused: true }
  for (const [view, present] of [
    ['collab.users', 'listed'],
    ['reporting.user_directory', 'listed'],
    ['reporting.memberships', 'until is null'],
  ] as const)
    expect(await marks(view, present)).toEqual([refused])
  const [{ is_fresh: isFresh, refused: count } = {}] = await read(
    `select bool_and(known = fresh) as is_fresh, bool_and(refused = known) as refused from reporting.coverage
    where organization_id = $1 and level <> 'annotation'`,
    [organizationId],
  )
  expect([isFresh, count]).toEqual([true, true])
  await runWith()
  expect(await marks('reporting.memberships', 'true')).toEqual([{ held: false, refused: false }])
  await runWith({ ...EMPTY, match: { operation: 'users', organizationId, documentId } })
  expect(await heldSince()).toBeGreaterThan(before)
})

test.each([
  ['collab.users', 'count(name)'],
  ['collab.document_users', 'count(first_seen_at)'],
  ['collab.user_group_members', 'count(first_seen_at)'],
  ['reporting.memberships', 'count(since)'],
  ['reporting.user_directory', 'count(name)'],
])('%s reads nothing of held removals where no mark is asked for', async (view, some) => {
  const plan = async (columns: string) =>
    JSON.stringify(await read(`explain (format json) select ${columns} from ${view}`))
  expect(await plan(some)).not.toContain('"held"')
  expect(await plan('count(removal_held_since)')).toContain('"held"')
})

test('runs and their failures show no text of the service', async () => {
  const run = await live.run({ scope: { organizationIds: [organizationId] } })
  const own = FAILURES.flatMap(({ shape = [] }) => shape)
  const ours = [...own, 'breaker_open', 'could_not_be_processed', 'too_many_rejected', 'answer_does_not_line_up', 'worker_died'] // prettier-ignore
  const others = ['ann@acme.example', 'Not found: Ann', 'not_found', '', 'A'.repeat(42), 'BAD\nann']
  const statuses = [...ours, 'PERMISSION_DENIED', 'PERMISSION_DENIED', null, ...others]
  await live.database.pool.query(
    `insert into sync.failures (run_id, operation, organization_id, http_status, error_status, error_message, attempts)
    select $1, 'users', $2, 400, status, 'a secret of ann', 1 from unnest($3::text[]) status`,
    [run.run_id, organizationId, statuses],
  )
  await live.database.pool.query(
    `update sync.failures set at = at - interval '1 hour' where failure_id = (
      select max(failure_id) from sync.failures where run_id = $1 and error_status = 'PERMISSION_DENIED')`,
    [run.run_id],
  )
  const rows = await read(
    `select operation, http_status, error_status, organization_id, scopes::int, last_at - first_at = '1 hour' as is_apart
    from reporting.run_failures where run_id = $1`,
    [run.run_id],
  )
  const expected = [...ours, null].map((status) => [status, 1])
  const counted = [...expected, ['PERMISSION_DENIED', 2], ['other', others.length]]
  expect(rows.map((row) => [row['error_status'], row['scopes']]).toSorted()).toEqual(
    counted.toSorted(),
  )
  expect(rows[0]).toMatchObject({
    operation: 'users',
    http_status: 400,
    organization_id: organizationId,
  })
  const apart = rows.filter((row) => row['is_apart']).map((row) => row['error_status'])
  expect(apart).toEqual(['PERMISSION_DENIED'])
  const [shown = {}] = await read('select * from reporting.runs where run_id = $1', [run.run_id])
  for (const [name, value] of Object.entries(shown))
    expect([name, value]).toEqual([name, run[name]])
  for (const name of ['scope', 'problem', 'request_key', 'requested_by'])
    expect(shown).not.toHaveProperty(name)
})

test('each number and time of a run is in the column of its name', async () => {
  const [shown = {}] = await read('select * from reporting.runs limit 1')
  const names = Object.keys(shown)
  const counts = names.slice(names.indexOf('calls'))
  const numbers = new Map(counts.map((name, index) => [name, 2 ** index]))
  // What PostgreSQL requires of a run that has ended.
  const addUp = (total: string, ...parts: string[]) =>
    numbers.set(
      total,
      parts.reduce((sum, part) => sum + (numbers.get(part) ?? NaN), 0),
    )
  addUp('scopes_planned', 'scopes_succeeded', 'scopes_failed', 'scopes_held', 'scopes_skipped')
  addUp(
    'records_received',
    'records_inserted',
    'records_updated',
    'records_unchanged',
    'records_rejected',
    'records_null',
  )
  expect(new Set(numbers.values()).size).toBe(counts.length)
  await rolledBack(live.database.pool, async (client) => {
    await client.query(
      `update sync.runs set status = 'partial', started_at = requested_at + interval '1 hour',
        finished_at = requested_at + interval '3 hours', ${[...numbers].map(([name, n]) => `${name} = ${n}`).join(', ')}
      where run_id = $1`,
      [shown['run_id']],
    )
    const of = async (table: string) =>
      (await client.query(`select ${names.join(', ')} from ${table} where run_id = $1`, [shown['run_id']])).rows // prettier-ignore
    expect(await of('reporting.runs')).toEqual(await of('sync.runs'))
  })
})

/** As collab_reader. */
async function read(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return rolledBack(live.database.pool, async (client) => {
    await client.query('set local role collab_reader')
    return (await client.query(sql, values)).rows
  })
}

/** The different marks of rows of the organization. */
function marks(view: string, condition: string): Promise<Record<string, unknown>[]> {
  return read(
    `select distinct removal_held_since is not null as held, removal_refused_at is not null as refused
    from ${view} where organization_id = $1 and ${condition}`,
    [organizationId],
  )
}

async function runWith(...rules: FaultRule[]): Promise<void> {
  live.standIn.setFaults(rules)
  await live.run({ scope: { organizationIds: [organizationId] } })
  live.standIn.setFaults([])
}
