import { beforeEach, expect, test } from 'vitest'
import { openReadOnly } from '../../src/core/database/pool.ts'
import { deleteComment, edit } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import { UsageError } from '../../src/base/errors.ts'
import { decideHeld } from '../../src/core/sync/held.ts'
import { verify } from '../../src/features/check/verify.ts'
import type { Difference } from '../../src/features/check/verify.ts'
import { dumpTables } from '../helpers/dump-tables.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { busyPlace, busyPlaces, scopeOf } from '../helpers/places.ts'

const DAY_MS = 86_400_000
const EVERYTHING = 1_000_000

let live: Live

beforeEach(async () => {
  // The service's clock is ahead: what is edited after the run is later than the check.
  live = await openLoaded('none', { world: { now: new Date(Date.now() + DAY_MS) } })
})

test('after a run every scope of the catalog is found equal, each asked for once', async () => {
  await live.run()
  live.standIn.calls.reset()
  const { report, heard } = await verifyWith({ sample: EVERYTHING })
  const scopes = await countScopes()
  expect(report).toMatchObject({ scopes, differing: 0, changedSince: 0, failed: 0, errorRate: 0 })
  expect(report.records).toBeGreaterThan(scopes)
  expect(report.calls).toBe(scopes)
  const asked = live.standIn.calls.log.map(({ data }) => JSON.stringify(data))
  expect(new Set(asked).size).toBe(scopes)
  expect(heard).toEqual([])
})

test('each kind of difference is found and named, and nothing is written', async () => {
  await live.run()
  const [place, other] = busyPlaces(live.world) as [Place, Place]
  const [edited, dropped] = live.world.comments(place) as readonly { commentId: number }[]
  const { organizationId, documentId } = place
  const [member] = live.world.documentUsers(organizationId, documentId) ?? []
  const [user, unlisted] = live.world.users(organizationId) ?? []
  await tamper(
    `update collab_store.comments set comment_text = 'x', last_updated = now() where`,
    place,
    edited,
  )
  await tamper('delete from collab_store.comments where', place, dropped)
  await live.rows(
    `insert into collab_store.comments (organization_key, comment_id, last_updated, first_seen_at, changed_at, version_at,
      deleted_at, annotation_key, version, digest, change, status, type, author_user_id, author_name, author_email,
      comment_text, comment_html, rest)
    select organization_key, 987654321, last_updated, first_seen_at, changed_at, version_at, deleted_at, annotation_key, version, digest,
      change, status, type, author_user_id, author_name, author_email, comment_text, comment_html, rest
    from collab_store.comments where annotation_key = (${KEY_OF}) limit 1`,
    ...Object.values(other),
  )
  const users = `organization_key = (select organization_key from collab_store.organizations where organization_id = $1)`
  await live.database.pool.query(
    `update collab_store.users set email = 'x@y', rest = '{"a":1}' where ${users} and user_id = $2`,
    [organizationId, user?.userId],
  )
  await live.database.pool.query(
    `update collab_store.users set listed = false where ${users} and user_id = $2`,
    [organizationId, unlisted?.userId],
  )
  await live.database.pool.query(
    `delete from collab_store.document_users where user_id = $3 and document_key = (
      select document_key from collab_store.documents where document_id = $2 and ${users})`,
    [organizationId, documentId, member?.userId],
  )
  const before = await dumpTables(live.database)

  const { report, heard } = await verifyWith({ sample: EVERYTHING })

  expect(await dumpTables(live.database)).toEqual(before)
  const found = heard.map(({ operation, kind, id, columns }) => [operation, kind, id, columns])
  expect(found).toHaveLength(6)
  expect(found).toEqual(
    expect.arrayContaining([
      ['comments', 'different', edited?.commentId, ['comment_text', 'last_updated']],
      ['comments', 'missing', dropped?.commentId, []],
      ['comments', 'extra', 987654321, []],
      ['users', 'different', user?.userId, ['email', 'rest']],
      ['users', 'missing', unlisted?.userId, []],
      ['users', 'missing', member?.userId, []],
    ]),
  )
  expect(heard.find(({ kind }) => kind === 'extra')).toMatchObject(other)
  // Every comment here is later than the check, by the service's clock; users have no time to tell by.
  expect(report.differing + report.changedSince).toBe(6)
  expect(report.errorRate).toBe(report.differing / report.records)
  expect(report.differences).toEqual(heard)
})

test('a comment that the service changed after the last check is told apart from an error', async () => {
  await live.run()
  const place = busyPlace(live.world)
  const [comment] = live.world.comments(place) as readonly { commentId: number }[]
  edit(live.world, place, comment?.commentId as number, { text: 'Edited since' })
  const { report, heard } = await verifyWith({ scope: parseScope(scopeOf(place)) })
  expect(report).toMatchObject({ scopes: 1, differing: 0, changedSince: 1, errorRate: 0 })
  expect(heard).toMatchObject([{ id: comment?.commentId, isChangedSince: true, ...place }])
  expect(heard[0]?.checkedAt).toBeInstanceOf(Date)
})

test('an old comment that the tables have wrong is an error', async () => {
  live = await openLoaded('none', { world: { now: new Date(Date.now() - DAY_MS) } })
  await live.run()
  const place = busyPlace(live.world)
  const [comment] = live.world.comments(place) as readonly { commentId: number }[]
  await tamper(`update collab_store.comments set status = null where`, place, comment)
  const { report } = await verifyWith({ scope: parseScope(scopeOf(place)) })
  expect(report).toMatchObject({ scopes: 1, differing: 1, changedSince: 0 })
  expect(report.errorRate).toBe(1 / report.records)
})

test('of some comments or users these alone are compared, by their IDs', async () => {
  await live.run()
  const place = busyPlace(live.world)
  const [lost, gone, wrong, deleted] = live.world.comments(place) as readonly {
    commentId: number
  }[]
  const [user, unlisted] = live.world.users(place.organizationId) ?? []
  await tamper('delete from collab_store.comments where', place, lost)
  await tamper(`update collab_store.comments set status = 'x' where`, place, wrong)
  await tamper('update collab_store.comments set deleted_at = changed_at where', place, deleted)
  for (const each of [gone, deleted]) deleteComment(live.world, place, each?.commentId as number)
  await live.database.pool.query(
    `update collab_store.users set listed = false, name = case user_id when $1 then 'x' else name end`,
    [user?.userId],
  )
  const commentIds = [lost, gone, deleted].map((each) => each?.commentId)
  const { heard } = await verifyWith({ scope: parseScope({ ...scopeOf(place), commentIds }) })
  expect(heard).toMatchObject([
    { id: lost?.commentId, kind: 'missing' },
    { id: gone?.commentId, kind: 'extra' },
  ])
  const userIds = [user?.userId, unlisted?.userId]
  const { organizationIds } = scopeOf(place)
  const ofUsers = await verifyWith({ scope: parseScope({ organizationIds, userIds }) })
  expect(ofUsers.heard).toMatchObject([{ id: user?.userId, kind: 'different', columns: ['name'] }])
})

test('a sample asks for so many scopes and no more, and finds what was never synced', async () => {
  const { report } = await verifyWith({ sample: 7 })
  expect(report.scopes).toBe(7)
  expect(live.standIn.calls.total).toBe(7)
  const scopes = await countScopes()
  const { report: all } = await verifyWith({ sample: EVERYTHING })
  expect(all).toMatchObject({ scopes, errorRate: 1 })
  expect(all.differing).toBe(all.records)
  expect(all.differences).toHaveLength(100)
})

test('users whose removal is held or was refused are counted apart from errors', async () => {
  await live.run()
  const [organizationId] = [...live.world.organizationIds()] as [string]
  const scope = parseScope({ organizationIds: [organizationId] })
  const match = { operation: 'users', organizationId } as const
  live.standIn.setFaults([{ kind: 'empty-list', match }])
  await live.run({ scope })
  const [{ users }] = await live.rows(
    'select sum(cardinality(missing_user_ids))::int as users from sync.held',
  )
  const { report, heard } = await verifyWith({ scope })
  expect(report).toMatchObject({ held: users, refused: 0, differing: 0, errorRate: 0 })
  expect(heard).toHaveLength(users)
  expect(heard[0]).toMatchObject({ kind: 'extra', removal: 'held', organizationId })

  const decision = { resolution: 'refused', by: 'ann', reason: null } as const
  await decideHeld({ database: live.database.pool }, { organizationId }, decision)
  // Another user, whom the refused response did not lack.
  await live.database.pool.query(
    `update collab_store.users set listed = true where (organization_key, user_id) = (
      select organization_key, min(user_id) from collab_store.users
      join collab_store.organizations using (organization_key)
      where organization_id = $1 and not listed group by 1)`,
    [organizationId],
  )
  const { report: later } = await verifyWith({ scope })
  expect(later).toMatchObject({ held: 0, refused: users, differing: 1 })
  expect(later.errorRate).toBe(1 / later.records)
})

test('scopes that give no usable answer are counted apart, and one page of a listing lacks nobody', async () => {
  await live.run()
  const [place, other] = busyPlaces(live.world) as [Place, Place]
  const [lacking] = live.world.comments(other) as readonly { commentId: number }[]
  deleteComment(live.world, other, lacking?.commentId as number)
  live.standIn.setFaults([
    { kind: 'bad-request', match: { operation: 'comments', ...place } },
    // Of the call by the ID that the listing lacks.
    { kind: 'wrong-length', match: { operation: 'comments', ...other } },
    {
      kind: 'half-with-next-page-token',
      match: { operation: 'users', organizationId: place.organizationId },
    },
  ])
  const { report } = await verifyWith({ sample: EVERYTHING })
  expect(report).toMatchObject({ failed: 2, differing: 0 })
  expect(report.scopes + report.failed).toBe(await countScopes())
  expect(report.failures).toEqual(
    expect.arrayContaining([place, other].map((each) => expect.objectContaining(each))),
  )
})

test('an empty catalog, and a scope it lacks, are refused', async () => {
  await expect(verifyWith({ scope: parseScope({ organizationIds: ['nobody'] }) })).rejects.toThrow(
    UsageError,
  )
  await live.database.pool.query('update collab_store.organizations set active = false')
  await expect(verifyWith({})).rejects.toThrow('The catalog is empty')
})

test('the connections it reads by cannot write', async () => {
  const reader = openReadOnly(live.database.pool)
  try {
    await expect(reader.query('update collab_store.users set name = null')).rejects.toMatchObject({
      code: '25006',
    })
  } finally {
    await reader.end()
  }
})

async function verifyWith(of: Parameters<typeof verify>[1]) {
  const app = await live.openApp()
  const heard: Difference[] = []
  const report = await verify(app.sync, of, (difference) => heard.push(difference))
  return { report, heard }
}

/** Active scopes by the world: listings and annotations. */
async function countScopes(): Promise<number> {
  const { organizations, documents, annotations } = live.world.totals()
  const groups = [...live.world.organizationIds()].flatMap((id) => [...live.world.groupIds(id)])
  return organizations + documents + annotations + groups.length
}

const KEY_OF = `select annotation_key from collab_store.annotations
  join collab_store.documents using (document_key) join collab_store.organizations using (organization_key)
  where organization_id = $1 and document_id = $2 and annotation_id = $3`

async function tamper(
  statement: string,
  place: Place,
  comment: { commentId: number } | undefined,
): Promise<void> {
  const { organizationId, documentId, annotationId } = place
  const { rowCount } = await live.database.pool.query(
    `${statement} annotation_key = (${KEY_OF}) and comment_id = $4`,
    [organizationId, documentId, annotationId, comment?.commentId],
  )
  expect(rowCount).toBe(1)
}
