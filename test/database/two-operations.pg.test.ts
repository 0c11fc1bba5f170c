import { expect, test } from 'vitest'
import * as held from '../../src/core/database/statements/held.ts'
import * as things from '../../src/core/database/statements/things.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { addRun } from './run-rows.ts'

/**
 * Listings of a second operation, of kinds that Get Users has too: neither operation is taken for the other. The second one has the
 * name of an operation without listings, so that statements accept it.
 */

const { pool, rows } = await createTestDatabase()
const lines = [
  { organizationId: 'o', documentId: 'd' },
  { organizationId: 'o', organizationUserGroupId: 'g' },
]
await importCatalog(pool, listSource('test', lines), { prune: null })
await pool.query(`alter table collab_store.listings drop constraint listings_operation_check`)
await pool.query(`insert into collab_store.users (organization_key, user_id, first_seen_at, changed_at, listed, source, digest, person)
  select organization_key, 'u' || n, now(), now(), true, 3, '', gen_random_uuid()
  from collab_store.organizations cross join generate_series(1, 3) n`)
await pool.query(`insert into collab_store.document_users (document_key, user_id, first_seen_at, joined_at)
  select document_key, 'u1', now(), now() from collab_store.documents`)
await pool.query(`insert into collab_store.user_group_members (user_group_key, user_id, first_seen_at, joined_at)
  select user_group_key, 'u1', now(), now() from collab_store.user_groups`)
await pool.query(`update collab_store.batches set checked_at = now() - interval '1 minute'`)
const usersViews = await readViews()
const [batch] =
  await rows(`insert into collab_store.batches (organization_key, operation, batch_no, scopes, assigned, checked_at)
  select organization_key, 'comments', 0, 3, 3, now() from collab_store.organizations returning batch_key`)
const batchKeys = { users: await usersBatch(), comments: batch?.['batch_key'] as number }
await pool.query(
  `insert into collab_store.listings (batch_key, scope_no, operation, kind, scope_key, record_count)
  select $1, scope_no, 'comments', kind, scope_key, 99 from collab_store.listings where operation = 'users'`,
  [batchKeys.comments],
)

type Operation = keyof typeof batchKeys
type Kind = 'organization' | 'document' | 'group'
const IDS = {
  organization: {},
  document: { documentId: 'd' },
  group: { userGroupId: 'g' },
}
const KINDS = Object.keys(IDS) as Kind[]
const runId = await addRun(pool)

test.each(KINDS)('a hold of one listing of a %s is not that of the other', async (kind) => {
  const scopeKey = await keyOf(kind)
  expect(await note('comments', kind, ['u1', 'x'])).toBe(0)
  expect(await removals('users', kind)).toEqual([])
  expect(await disputed()).toBe(0)
  expect(await note('users', kind, ['u2'])).toBe(0)
  expect(await opened()).toEqual(['comments', 'users'])
  const marked = kind === 'organization' ? 1 : 0
  expect(await disputed()).toBe(marked)
  expect(await removals('comments', kind)).toEqual(['u1', 'x'])
  expect(await baseline('users', kind)).toEqual(['u2'])
  expect(await baseline('comments', kind)).toEqual(['u1', 'x'])
  const before = await rows(
    `select held_id::int as id from sync.held where operation = 'comments' and resolved_at is null`,
  )
  const heldId = before[0]?.['id'] as number
  expect(await held.take.first(pool, { heldId, runId })).toMatchObject({
    operation: 'comments',
    batchKey: batchKeys.comments,
  })
  const [own] = await things.scope.all(pool, { ...idsOf(kind), operation: 'users' })
  expect(own?.heldId).not.toBe(heldId)
  await resolve('comments', kind, scopeKey)
  expect(await opened()).toEqual(['users'])
  await held.decide.run(pool, {
    heldId: own?.heldId as number,
    resolution: 'refused',
    by: 'ann',
    reason: null,
  })
  // The same response of the other operation was not refused.
  expect(await note('comments', kind, ['u2'])).toBe(0)
  expect(await note('users', kind, ['u2'])).toBeNull()
  expect(await removals('users', kind)).toEqual(['u2'])
  await resolve('comments', kind, scopeKey)
  expect(await removals('users', kind)).toEqual(['u2'])
  await resolve('users', kind, scopeKey)
  expect(await removals('users', kind)).toEqual([])
})

test.each(KINDS)(
  'the page of a %s shows the worst check of its listings, and the run of each',
  async (kind) => {
    const scopeKey = await keyOf(kind)
    const set = (operation: Operation, values: string) =>
      pool.query(
        `update collab_store.listings set ${values} where operation = $1 and kind = $2 and scope_key = $3`,
        [operation, kind, scopeKey],
      )
    const page = async () => {
      const scope = await things.scope.one(pool, { ...idsOf(kind), operation: null })
      return { ...scope, checkedAt: scope.checkedAt?.getTime() ?? null }
    }
    const [times] = await rows(
      `select (select checked_at from collab_store.batches where batch_key = $1) as users,
    (select checked_at from collab_store.batches where batch_key = $2) as comments`,
      batchKeys.users,
      batchKeys.comments,
    )
    const [ofUsers, ofOthers] = [times?.['users'] as Date, times?.['comments'] as Date]
    expect(ofUsers.getTime()).toBeLessThan(ofOthers.getTime())
    const good = await page()
    expect(good).toMatchObject({
      users: 0,
      checkedAt: ofUsers.getTime(),
      failingSince: null,
      isStale: false,
    })
    await set('comments', `own_checked_at = now() - interval '1 hour', failing_since = now()`)
    const runOfFailure = await addRun(pool)
    await pool.query(
      `insert into sync.failures (run_id, batch_key, scope_no, attempts, operation, organization_id, document_id, organization_user_group_id)
    select $1, batch_key, scope_no, 1, operation, 'o', $2, $3 from collab_store.listings
    where operation = 'comments' and kind = $4 and scope_key = $5`,
      [
        runOfFailure,
        kind === 'document' ? 'd' : null,
        kind === 'group' ? 'g' : null,
        kind,
        scopeKey,
      ],
    )
    const failing = await page()
    expect(failing).toMatchObject({ isStale: true, failingRunId: runOfFailure, users: 0 })
    expect(failing.failingSince).not.toBeNull()
    expect(failing.checkedAt).toBeLessThan(ofUsers.getTime())
    // A user is in the listing of users alone.
    const own = await things.scope.one(pool, { ...idsOf(kind), operation: 'users' })
    expect(own).toMatchObject({ isStale: false, failingSince: null, checkedAt: ofUsers })
    if (kind !== 'organization') expect(await stateBeneath(kind)).toBe('failing')
    expect(await readViews()).toEqual(usersViews)
    await set('comments', `own_checked_at = '-infinity', failing_since = null`)
    expect(await page()).toMatchObject({ checkedAt: null, isStale: true })
    if (kind !== 'organization') expect(await stateBeneath(kind)).toBe('never_checked')
    await select([])
    expect(await page()).toMatchObject({ isLeftOut: true })
    if (kind !== 'organization') expect(await stateBeneath(kind)).toBe('not_synced')
    await select(['users'])
    expect(await page()).toMatchObject({ isLeftOut: false })
    if (kind !== 'organization') expect(await stateBeneath(kind)).toBe('good')
    await select(['users', 'comments'])
    await set('comments', `own_checked_at = null`)
    expect(await page()).toEqual({ ...good, failingRunId: runOfFailure })
  },
)

test.each(['freshness', 'coverage'])(
  'reporting.%s has a row for each operation of a listing',
  async (view) => {
    const levels = ['document', 'organization', 'user group']
    const found = await rows(
      `select level, operation, count(*)::int as n from reporting.${view} where level = any($1) group by 1, 2 order by 1, 2`,
      levels,
    )
    expect(found).toEqual(
      levels.flatMap((level) => [
        { level, operation: 'comments', n: 1 },
        { level, operation: 'users', n: 1 },
      ]),
    )
  },
)

async function select(operations: readonly Operation[]): Promise<void> {
  await pool.query('update collab_store.definitions set operations = $1', [operations])
}

test('the state of a document whose listings are left out is that of its annotations', async () => {
  await pool.query(`delete from collab_store.listings where operation = 'comments'`)
  const ids = { organizationId: 'o', documentId: 'd' }
  const annotations = ['a', 'b'].map((annotationId) => ({ ...ids, annotationId }))
  await importCatalog(pool, listSource('test', annotations), { prune: null })
  await select(['comments'])
  const setChecks = (one: string, all: string) =>
    pool.query(
      `update collab_store.annotations set own_checked_at = case annotation_id when 'a' then $1::timestamptz else $2::timestamptz end`,
      [one, all],
    )
  await setChecks('now', '-infinity')
  expect(await stateBeneath('document')).toBe('never_checked')
  await setChecks('now', '2026-01-01')
  expect(await stateBeneath('document')).toBe('stale')
  await setChecks('now', 'now')
  expect(await stateBeneath('document')).toBe('good')
  await select([])
  expect(await stateBeneath('document')).toBe('not_synced')
})

/** What the views of users, and of what they are listed in, show of checks. */
async function readViews(): Promise<unknown> {
  const views = [
    'collab.organizations',
    'collab.documents',
    'collab.user_groups',
    'collab.users',
    'collab.user_versions',
    'collab.document_users',
    'collab.user_group_members',
    'reporting.memberships',
    'reporting.user_directory',
    'reporting.document_engagement',
  ]
  const shown = await Promise.all(
    views.map((view) =>
      rows(`select checked_at, is_stale, in_catalog from ${view} order by 1, 2, 3`),
    ),
  )
  return Object.fromEntries(views.map((view, index) => [view, shown[index]]))
}

async function usersBatch(): Promise<number> {
  const [row] = await rows(`select batch_key from collab_store.batches where operation = 'users'`)
  return row?.['batch_key'] as number
}

async function keyOf(kind: Kind): Promise<number> {
  const [row] = await rows(
    `select scope_key from collab_store.listings where operation = 'users' and kind = $1`,
    kind,
  )
  return row?.['scope_key'] as number
}

function idsOf(kind: Kind) {
  return {
    organizationId: 'o',
    documentId: null,
    annotationId: null,
    userGroupId: null,
    ...IDS[kind],
  }
}

async function note(operation: Operation, kind: Kind, missingUserIds: string[]) {
  const { organizationId, documentId, userGroupId } = idsOf(kind)
  const { repeats } = await held.note.one(pool, {
    runId,
    isScheduled: true,
    batchKey: batchKeys[operation],
    operation,
    kind,
    scopeKey: await keyOf(kind),
    organizationId,
    documentId,
    userGroupId,
    contentDigest: Buffer.from('short'),
    usersBefore: 3,
    missingUserIds,
    isLoss: true,
    usersReturned: 1,
  })
  return repeats
}

const resolve = (operation: Operation, kind: Kind, scopeKey: number) =>
  held.resolve.run(pool, {
    operation,
    kinds: [kind],
    scopeKeys: [scopeKey],
    resolutions: ['recovered'],
  })

async function removals(operation: Operation, kind: Kind): Promise<string[]> {
  const found = await held.removals.all(pool, { operation, kind, scopeKey: await keyOf(kind) })
  return found.map(({ userId }) => userId)
}

async function baseline(operation: Operation, kind: Kind) {
  const scopeKeys = [await keyOf(kind)]
  return (await held.baseline.one(pool, { operation, kinds: [kind], scopeKeys, at: new Date() }))
    .disputedIds
}

/** Operations of the removals that are pending approval. */
async function opened(): Promise<unknown[]> {
  const found = await rows(
    `select operation from sync.open_holds join sync.held using (held_id) order by 1`,
  )
  return found.map(({ operation }) => operation)
}

/** How many rows the views of users mark. */
async function disputed(): Promise<number> {
  const found = await rows(`select from collab.users where removal_held_since is not null
    union all select from collab.document_users where removal_held_since is not null
    union all select from collab.user_group_members where removal_held_since is not null
    union all select from reporting.user_directory where removal_held_since is not null and not exists (
      select from collab.users u where u.user_id = user_directory.user_id and u.removal_held_since is not null)`)
  return found.length
}

async function stateBeneath(kind: Kind): Promise<string | undefined> {
  const { organizationKey } = await things.scope.one(pool, {
    ...idsOf('organization'),
    operation: null,
  })
  const found = await things.beneath.all(pool, {
    organizationKey,
    documentKey: null,
    annotationKey: null,
    organizationId: 'o',
    documentId: null,
    userGroupId: null,
    userId: null,
    afterPlace: null,
    afterId: null,
    limit: 10,
  })
  expect(found.map(({ kind: each }) => each).sort()).toEqual(['document', 'userGroup'])
  return found.find(({ kind: each }) => each === (kind === 'group' ? 'userGroup' : kind))?.state
}
