import { beforeEach, expect, test } from 'vitest'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import type { Page, PageRequest } from '../../src/schemas/page.ts'
import { UsageError } from '../../src/base/errors.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { onDatabase } from './on-app.ts'

let database: TestDatabase
let collabSync: CollabSync

beforeEach(async () => {
  database = await createTestDatabase()
  collabSync = onDatabase(database.pool)
})

test('runs are paged newest first, each once, while others are asked for', async () => {
  await addRuns(25)
  // Many at one moment: then their ids decide.
  await database.pool.query(
    `insert into sync.runs (trigger, requested_at) select 'cli', '2026-01-01' from generate_series(1, 25)`,
  )
  const before = await ids('select run_id as id from sync.runs order by requested_at desc, 1 desc')
  const runs = await walk(
    (page) => collabSync.listRuns(page),
    () => addRuns(2),
  )
  expect(runs.map(({ runId }) => runId)).toEqual(before)
  const times = runs.map(({ requestedAt }) => requestedAt.getTime())
  expect(times).toEqual(times.toSorted((a, b) => b - a))
})

test('runs can be narrowed to a status', async () => {
  const runs = await addRuns(9)
  await database.pool.query(
    `update sync.runs set status = 'failed', finished_at = now() where run_id = any($1)`,
    [runs.slice(0, 5)],
  )
  const failed = await walk((page) => collabSync.listRuns({ ...page, status: 'failed' }))
  expect(failed.map(({ runId }) => runId).sort()).toEqual(runs.slice(0, 5).sort())
  const none = collabSync.listRuns({ status: 'lost' as 'failed' })
  await expect(none).rejects.toThrow(/^status must be one of queued, running,/)
})

test('failures are paged newest first, each once, of all runs, of one, or of one organization', async () => {
  const [first = '', second = ''] = await addRuns(2)
  await addFailures(first, 'a', 23)
  await addFailures(second, 'a', 12)
  await addFailures(second, 'b', 12)
  const before = await ids('select failure_id as id from sync.failures order by 1 desc')
  const all = await walk(
    (page) => collabSync.listFailures(page),
    () => addFailures(second, 'b', 3),
  )
  expect(all.map(({ failureId }) => failureId)).toEqual(before)
  const ofRun = await walk((page) => collabSync.listFailures({ ...page, runId: first }))
  expect(ofRun).toHaveLength(23)
  expect(ofRun[0]).toEqual({
    failureId: expect.any(Number),
    runId: first,
    at: expect.any(Date),
    operation: 'users',
    organizationId: 'a',
    documentId: null,
    annotationId: null,
    organizationUserGroupId: null,
    httpStatus: 403,
    errorStatus: null,
    errorMessage: 'no',
    attempts: 1,
    state: 'left_catalog',
    resolvedAt: null,
    resolvedBy: null,
  })
  const ofBoth = { runId: second, organizationId: 'a' }
  expect(await walk((page) => collabSync.listFailures({ ...page, ...ofBoth }))).toHaveLength(12)
})

test('rejected records are paged newest first, cut where they are long', async () => {
  const [runId = ''] = await addRuns(1)
  await database.pool.query(
    `with o as (insert into collab_store.organizations (organization_id) values ('a'))
    insert into sync.rejected_records (run_id, operation, organization_id, reason, record, is_whole, digest)
    select $1, 'comments', 'a', 'odd', repeat('x', n * 100), true, n::text::bytea
    from generate_series(1, 40) n`,
    [runId],
  )
  const before = await ids(
    'select rejected_record_id as id from sync.rejected_records order by 1 desc',
  )
  const rejected = await walk((page) => collabSync.listRejectedRecords({ ...page, runId }))
  expect(rejected.map(({ rejectedRecordId }) => rejectedRecordId)).toEqual(before)
  const lengths = rejected.map(({ record }) => record.length)
  expect(Math.max(...lengths)).toBe(2000)
  expect(rejected.filter(({ isCut }) => isCut)).toHaveLength(20)
  expect(rejected.at(-1)).toMatchObject({
    runId,
    operation: 'comments',
    reason: 'odd',
    isCut: false,
  })
})

test('held listings are paged in the order they were held, without those that wait no more', async () => {
  const [runId = '', later = ''] = await addRuns(2)
  await database.pool.query(
    `with o as (insert into collab_store.organizations (organization_id) values ('a') returning organization_key),
    b as (
      insert into collab_store.batches (organization_key, batch_no, operation)
      select organization_key, 0, 'users' from o returning batch_key, organization_key
    )
    insert into collab_store.listings (batch_key, scope_no, operation, kind, scope_key)
    select batch_key, n, 'users', 'document', n from b cross join generate_series(1, 60) n`,
  )
  await addHeld(runId, 1, 20)
  await database.pool.query(
    `update sync.held set resolved_at = now(), resolution = 'accepted' where scope_key % 4 = 0`,
  )
  const before = await ids(
    'select held_id as id from sync.held where resolved_at is null order by 1',
  )
  let next = 21
  const held = await walk(
    (page) => collabSync.listHeld(page),
    () => addHeld(later, next, (next += 2) - 1),
  )
  // Those held meanwhile come at the end.
  expect(held.map(({ heldId }) => heldId).slice(0, before.length)).toEqual(before)
  expect(new Set(held.map(({ heldId }) => heldId)).size).toBe(held.length)
  expect(held.length).toBeGreaterThan(before.length)
  expect(held[0]).toMatchObject({ runId, usersBefore: 300, usersMissing: 150, repeats: 0 })
  expect(held[0]?.firstMissingUserIds).toHaveLength(100)
  expect(await walk((page) => collabSync.listHeld({ ...page, runId }))).toHaveLength(before.length)
})

test('organizations are paged by id and found by any part of it, in any case, taken as it is written', async () => {
  const names = ['Acme', 'acme west', 'ÄRGER', 'a%b', 'a_b', 'z', ...'bcdefghijk']
  await database.pool.query(
    'insert into collab_store.organizations (organization_id, active) select n, n <> $2 from unnest($1::text[]) n',
    [names, 'z'],
  )
  const before = await ids(
    'select organization_id as id from collab_store.organizations order by organization_id',
  )
  const organizations = await walk((page) => collabSync.listOrganizations(page))
  expect(organizations.map(({ organizationId }) => organizationId)).toEqual(before)
  expect(organizations.filter(({ active }) => !active)).toMatchObject([{ organizationId: 'z' }])
})

test('a limit, a cursor or an id that is none is refused by its name', async () => {
  await addRuns(3)
  const { nextCursor } = await collabSync.listRuns({ limit: 1 })
  const cursor = nextCursor ?? ''
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const wrong: [Promise<unknown>, RegExp][] = [
    ...[0, 1.5, 501].map((limit): [Promise<unknown>, RegExp] => [
      collabSync.listRuns({ limit }),
      /^limit must be a whole number from 1 to 500\.$/,
    ]),
    ...[
      '',
      'tuesday',
      `${cursor}!`,
      cursor.slice(0, -4),
      forged(['runs', [1e300, '00000000-0000-4000-8000-000000000000']]),
      forged(['failures', 7]),
    ].map((each): [Promise<unknown>, RegExp] => [
      collabSync.listRuns({ cursor: each }),
      /^cursor must be the nextCursor/,
    ]),
    [collabSync.listFailures({ cursor }), /^cursor must be the nextCursor/],
    [collabSync.listOrganizations({ cursor: forged(['organizations', 'a\0']) }), /^cursor must/],
    [collabSync.listFailures({ runId: 'x' }), /^runId must be the ID of a run/],
    [collabSync.listFailures({ organizationId: 'a\0' }), /^organizationId must not hold a NUL/],
  ]
  for (const [asked, told] of wrong) {
    await expect(asked).rejects.toThrow(told)
    await expect(asked).rejects.toThrow(UsageError)
  }
  const farthest = forged([
    'runs',
    [Number.MAX_SAFE_INTEGER, '00000000-0000-4000-8000-000000000000'],
  ])
  expect((await collabSync.listRuns({ cursor: farthest })).items).toHaveLength(3)
})

/** Every item of a listing, page by page; something happens between two pages. */
async function walk<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<T[]> {
  const all: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await list({ limit: 7, ...(cursor === null ? {} : { cursor }) })
    expect(page.items.length).toBeLessThanOrEqual(7)
    all.push(...page.items)
    cursor = page.nextCursor
    if (all.length < 40) await meanwhile()
  } while (cursor !== null)
  return all
}

async function addRuns(count: number): Promise<string[]> {
  const { rows } = await database.pool.query(
    `insert into sync.runs (trigger, requested_at)
    select 'cli', clock_timestamp() from generate_series(1, $1) returning run_id`,
    [count],
  )
  return rows.map(({ run_id }) => run_id)
}

async function addFailures(runId: string, organizationId: string, count: number): Promise<void> {
  await database.pool.query(
    `insert into sync.failures (run_id, operation, organization_id, http_status, error_message, attempts)
    select $1, 'users', $2, 403, 'no', 1 from generate_series(1, $3)`,
    [runId, organizationId, count],
  )
}

async function addHeld(runId: string, from: number, to: number): Promise<void> {
  await database.pool.query(
    `insert into sync.held (run_id, batch_key, scope_key, users_before, operation, kind, content_digest, organization_id, missing_user_ids)
    select $1, 1, n, 300, 'users', 'document', '\\x00', 'a', array(select 'u' || m from generate_series(1, 150) m)
    from generate_series($2::int, $3::int) n`,
    [runId, from, to],
  )
}

async function ids(query: string): Promise<unknown[]> {
  return (await database.pool.query(query)).rows.map(({ id }) => id)
}
