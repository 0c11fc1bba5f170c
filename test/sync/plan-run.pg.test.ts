import { beforeEach, expect, test } from 'vitest'
import { addComment, deleteComment, edit, leaveDocument } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import { UsageError } from '../../src/base/errors.ts'
import { planRun } from '../../src/features/check/plan.ts'
import type { PlannedScope } from '../../src/features/check/plan.ts'
import { dumpTables } from '../helpers/dump-tables.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { onApp } from '../client/on-app.ts'
import { busyPlace } from '../helpers/places.ts'

let live: Live

beforeEach(async () => {
  live = await openLoaded('none')
})

test('a plan of a first run tells every record and leaves not one behind', async () => {
  const before = await dumpTables(live.database)
  const { planned, scopes } = await plan({})
  expect(await dumpTables(live.database)).toEqual(before)
  const { organizations, documents, annotations } = live.world.totals()
  expect(scopes.filter(({ kind }) => kind === 'annotation')).toHaveLength(annotations)
  expect(scopes.filter(({ kind }) => kind === 'document')).toHaveLength(documents)
  expect(scopes.filter(({ kind }) => kind === 'organization')).toHaveLength(organizations)
  expect(planned).toMatchObject({ scopes: scopes.length, failed: 0, held: 0, removed: 0 })
  expect(planned.added).toBe(planned.received)
  expect(planned.calls).toBe(live.standIn.calls.total)
  const comments = [...places(live.world)].flatMap((place) => live.world.comments(place) ?? [])
  expect(sum(scopes.filter(({ operation }) => operation === 'comments'))).toMatchObject({
    added: comments.length,
  })
})

test('a plan says what the run then does, and nothing of it is there before', async () => {
  await live.run()
  randomChanges(live.world, {
    count: 40,
    seed: 3,
    kinds: ['edit', 'addComment', 'deleteComment', 'leaveDocument', 'joinGroup'],
  })
  const [first, second] = [...live.world.organizationIds()] as [string, string]
  live.standIn.setFaults([
    { kind: 'forbidden', match: { operation: 'users', organizationId: first } },
    { kind: 'empty-list', match: { operation: 'users', organizationId: second } },
  ])
  const before = await dumpTables(live.database)
  const { planned, scopes } = await plan({})
  expect(await dumpTables(live.database)).toEqual(before)

  const run = await live.run()
  expect(run).toMatchObject({
    status: 'partial',
    scopes_planned: planned.scopes,
    scopes_failed: planned.failed,
    scopes_held: planned.heldScopes,
    records_received: planned.received,
    records_inserted: planned.added,
    records_updated: planned.changed,
    records_unchanged: planned.unchanged,
  })
  const commentScopes = scopes.filter(({ operation }) => operation === 'comments')
  expect(run['comments_deleted']).toBe(sum(commentScopes).removed)
  expect(planned.removed).toBe((run['comments_deleted'] as number) + (await membersWhoLeft()))
  const missing = 'select sum(cardinality(missing_user_ids))::int as held from sync.held'
  expect(await live.rows(missing)).toEqual([{ held: planned.held }])
  for (const scope of scopes.filter(({ failure }) => failure !== null)) {
    expect(scope).toMatchObject({ operation: 'users', organizationId: first })
    expect(scope.failure).toContain('403')
  }
})

test('each scope is told with what would happen to it', async () => {
  await live.run()
  const place = busyPlace(live.world, 4, 3)
  const { organizationId, documentId, annotationId } = place
  const [one, two] = (live.world.comments(place) ?? []).map(({ commentId }) => commentId)
  edit(live.world, place, one as number, { text: 'Edited' })
  deleteComment(live.world, place, two as number)
  addComment(live.world, place, { text: 'New' })
  const member = live.world.documentUsers(organizationId, documentId)?.[0]?.userId as string
  leaveDocument(live.world, organizationId, documentId, member)

  const { planned, scopes } = await plan({ organizationIds: [organizationId], documentId })

  const differing = scopes.filter((scope) => scope.added + scope.changed + scope.removed > 0)
  expect(differing).toHaveLength(2)
  expect(differing.find(({ kind }) => kind === 'annotation')).toMatchObject({
    organizationId,
    documentId,
    annotationId,
    added: 1,
    changed: 1,
    removed: 1,
    held: 0,
    failure: null,
  })
  expect(differing.find(({ kind }) => kind === 'document')).toMatchObject({
    added: 0,
    changed: 0,
    removed: 1,
  })
  expect(planned.scopes).toBe(1 + [...live.world.annotationIds(organizationId, documentId)].length)
})

test('records that could not be stored are told, and kept nowhere', async () => {
  live.standIn.setFaults([{ kind: 'poison', poison: 'nul', match: { operation: 'comments' } }])
  const before = await dumpTables(live.database)
  const { planned } = await plan({})
  expect(planned.rejected).toBeGreaterThan(0)
  expect(await dumpTables(live.database)).toEqual(before)
})

test('a plan of what failed in a run, or fails now, asks for that and nothing else', async () => {
  const place = busyPlace(live.world, 4, 3)
  live.standIn.setFaults([{ kind: 'bad-request', match: { ...place, operation: 'comments' } }])
  const run = await live.run()
  expect(run).toMatchObject({ status: 'partial', scopes_failed: 1 })
  live.standIn.setFaults([])
  live.standIn.calls.reset()
  const app = await live.openApp()
  const planned = await planRun(app.sync, { scope: {}, failedOf: run.run_id }, () => {})
  expect(planned).toMatchObject({ scopes: 1, failed: 0 })
  expect(live.standIn.calls.log.map(({ data }) => data)).toEqual([place])
  const failing = await planRun(app.sync, { scope: {}, failing: true }, () => {})
  expect(failing).toMatchObject({ scopes: 1, failed: 0 })
  expect(live.standIn.calls.log.map(({ data }) => data)).toEqual([place, place])
})

test('users are requested in each organization of the catalog, or in the named ones', async () => {
  await live.run()
  const [first, second, ...others] = [...live.world.organizationIds()] as [string, string]
  const app = await live.openApp()
  await onApp(app).removeFromCatalog({ lines: [{ organizationId: second }] })
  const userIds = ['u-1']
  for (const [organizationIds, expected] of [
    [undefined, [first, ...others]],
    [[first], [first]],
    [[second], []],
    [[first, second], [first]],
  ] as [string[] | undefined, string[]][]) {
    live.standIn.calls.reset()
    const { scopes } = await plan({ organizationIds, userIds })
    expect(scopes.map(({ organizationId }) => organizationId).toSorted()).toEqual(expected)
    expect(live.standIn.calls.total).toBe(expected.length)
  }
})

test('a plan of a scope that the catalog lacks is refused before any call', async () => {
  await expect(plan({ organizationIds: ['nobody'] })).rejects.toThrow(UsageError)
  expect(live.standIn.calls.total).toBe(0)
})

test('refused credentials end a plan at once', async () => {
  live.standIn.authToken = 'another-token'
  await expect(plan({})).rejects.toMatchObject({ kind: 'credentials' })
  expect(live.standIn.calls.total).toBeLessThan(60)
})

test('a plan that is asked to stop stops, and a few calls are all it made', async () => {
  live.standIn.latencyMs = 20
  const app = await live.openApp({ SYNC_CONCURRENCY: '2' })
  const planning = planRun(app.sync, { scope: {} }, () => app.drain())
  await expect(planning).rejects.toMatchObject({ name: 'DrainingError' })
  expect(live.standIn.calls.total).toBeLessThan(10)
})

async function plan(scope: unknown) {
  const app = await live.openApp()
  const scopes: PlannedScope[] = []
  const planned = await planRun(app.sync, { scope: parseScope(scope) }, (each) => {
    scopes.push(each)
  })
  return { planned, scopes }
}

function sum(scopes: readonly PlannedScope[]) {
  const of = (name: 'added' | 'removed') => scopes.reduce((total, each) => total + each[name], 0)
  return { added: of('added'), removed: of('removed') }
}

async function membersWhoLeft(): Promise<number> {
  const [row] = await live.rows(
    `select (select count(*) from collab.document_users where removed_at is not null)
      + (select count(*) from collab.user_group_members where removed_at is not null)
      + (select count(*) from collab.users where removed_at is not null) as gone`,
  )
  return row.gone
}
