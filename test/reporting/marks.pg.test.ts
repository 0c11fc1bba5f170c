import { afterAll, beforeAll, expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import { edit } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

/** Every row says when it was last checked and whether it may be out of date; totals count what left the catalog apart. */

let live: Live
let failing: Place
let gone: Place
let threads: Place[]
beforeAll(async () => {
  live = await openLive('none', {
    world: { organizations: 2, documentsPerOrganization: 2, annotationsPerDocument: 3 },
  })
  await live.importCatalog()
  threads = [...places(live.world)]
  const filled = threads.filter((place) => (live.world.comments(place) ?? []).length > 0)
  ;[failing, gone] = filled as [Place, Place]
  await live.run()
  for (const place of filled) {
    const [first] = live.world.comments(place) ?? []
    edit(live.world, place, first?.commentId ?? 0, { text: 'Mended.', status: 'mended' })
  }
  await live.run()
  live.standIn.setFaults([{ kind: 'forbidden', match: failing }])
  await live.run()
  await live.database.pool.query(
    `update collab_store.annotations set active = false where annotation_key = (select annotation_key
      from collab_store.annotations join collab_store.documents using (document_key) join collab_store.organizations using (organization_key)
      where organization_id = $1 and document_id = $2 and annotation_id = $3)`,
    Object.values(gone),
  )
})
afterAll(() => live.close())

const VIEWS = ['comment_activity_daily', 'author_activity', 'document_engagement']

test.each(VIEWS)('%s: the failing thread makes its totals stale, and no others', async (view) => {
  const rows = await ask(
    `select organization_id, ${view === 'document_engagement' ? 'document_id' : 'null'}, is_stale, in_catalog, stale_annotations,
      checked_at is not null from reporting.${view} group by 1, 2, 3, 4, 5, 6`,
  )
  expect(rows.length).toBe(view === 'document_engagement' ? 4 : 2)
  for (const [organizationId, documentId, ...marks] of rows) {
    const isOf =
      organizationId === failing.organizationId &&
      (documentId === null || documentId === failing.documentId)
    expect(marks).toEqual(isOf ? [true, true, 1, true] : [false, true, 0, true])
  }
})

test.each(VIEWS)(
  '%s: comments of a thread that left the catalog are counted apart',
  async (view) => {
    const sums = await ask(
      `select organization_id, sum(comments)::int, sum(comments_not_in_catalog)::int from reporting.${view} group by 1 order by 2`,
    )
    const counted = await ask(
      `select organization_id, count(*)::int, count(*) filter (where not in_catalog)::int from reporting.comments group by 1 order by 2`,
    )
    expect(sums.map(String).sort()).toEqual(counted.map(String).sort())
    expect(counted.some(([, , apart]) => Number(apart) > 0)).toBe(true)
  },
)

test.each(['status_transitions', 'observed_values'])(
  '%s: the organization of the failing thread is stale, and no other',
  async (view) => {
    const rows = await ask(
      `select organization_id, is_stale, in_catalog, stale_annotations, checked_at is not null from reporting.${view} group by 1, 2, 3, 4, 5`,
    )
    expect(rows.length).toBe(2)
    for (const [organizationId, ...marks] of rows)
      expect(marks).toEqual(
        organizationId === failing.organizationId ? [true, true, 1, true] : [false, true, 0, true],
      )
  },
)

test('observed values of a thread that left the catalog are counted apart', async () => {
  const sums = await ask(
    `select organization_id, field, sum(comments)::int, sum(comments_not_in_catalog)::int from reporting.observed_values group by 1, 2 order by 1, 2`,
  )
  const counted = await ask(
    `select organization_id, field, count(*)::int, count(*) filter (where not in_catalog)::int
    from reporting.comments cross join (values ('status'), ('type')) f (field) group by 1, 2 order by 1, 2`,
  )
  expect(sums).toEqual(counted)
})

test('transitions of a thread that left the catalog are counted apart', async () => {
  const [sums] = await ask(
    'select sum(transitions)::int, sum(transitions_not_in_catalog)::int from reporting.status_transitions',
  )
  const [counted] = await ask(
    `select count(*)::int, count(*) filter (where not in_catalog)::int from reporting.edits_and_deletions
    where change <> 'deleted' and status is distinct from status_before`,
  )
  expect(sums).toEqual(counted)
  expect(Number(counted?.[1])).toBeGreaterThan(0)
})

/** Which rows carry the marks of which scope. */
const OF_ROWS = [
  ['collab.comment_versions', 'annotations', 'organization_id, document_id, annotation_id'],
  ['reporting.comment_history', 'annotations', 'organization_id, document_id, annotation_id'],
  ['reporting.edits_and_deletions', 'annotations', 'organization_id, document_id, annotation_id'],
  ['collab.document_users', 'documents', 'organization_id, document_id'],
  ['collab.user_group_members', 'user_groups', 'organization_id, organization_user_group_id'],
] as const

test.each(OF_ROWS)('%s carries the marks of its scope', async (view, scopes, key) => {
  const [compared] = await ask(
    `select count(*)::int, count(*) filter (where (v.checked_at, v.is_stale, v.in_catalog) is distinct from (s.checked_at, s.is_stale, s.in_catalog))::int,
      count(distinct v.is_stale)::int, count(distinct v.in_catalog)::int
    from ${view} v join collab.${scopes} s using (${key})`,
  )
  const [all] = await ask(`select count(*)::int from ${view}`)
  const differing = scopes === 'annotations' ? [2, 2] : [1, 1]
  expect(compared).toEqual([all?.[0], 0, ...differing])
  expect(Number(all?.[0])).toBeGreaterThan(0)
})

test.each([
  ['collab.users', 'v.listed'],
  [
    'collab.user_versions',
    `(select u.listed from collab.users u where (u.organization_id, u.user_id) = (v.organization_id, v.user_id))`,
  ],
  ['reporting.user_directory', 'v.listed'],
])('%s carries the marks of the organization', async (view, isListed) => {
  const compared = await ask(
    `select count(*) filter (where (v.checked_at, v.is_stale, v.in_catalog) is distinct from (o.checked_at, o.is_stale, ${isListed} and o.in_catalog))::int,
      count(*) > 0 from ${view} v join collab.organizations o using (organization_id)`,
  )
  expect(compared).toEqual([[0, true]])
})

test('a stay carries the marks of its document or user group, and a person how many listings may be out of date', async () => {
  live.standIn.setFaults([
    {
      kind: 'forbidden',
      match: {
        organizationId: gone.organizationId,
        documentId: gone.documentId,
        operation: 'users',
      },
    },
  ])
  await live.run()
  const stays = await ask(
    `select m.is_stale, d.is_stale, count(*) > 0 from reporting.memberships m join collab.documents d using (organization_id, document_id) group by 1, 2 order by 1`,
  )
  expect(stays).toEqual([
    [false, false, true],
    [true, true, true],
  ])
  expect(
    await ask(
      'select organization_id, stale_listings::int from reporting.user_directory group by 1, 2 order by 2 desc',
    ),
  ).toEqual([
    [gone.organizationId, 1],
    [expect.anything(), 0],
  ])
})

test.each(VIEWS)('%s: of an organization that left the catalog all are', async (view) => {
  const other = threads.at(-1)?.organizationId
  await live.database.pool.query(
    'update collab_store.organizations set active = false where organization_id = $1',
    [other],
  )
  const rows = await ask(
    `select in_catalog, sum(comments - comments_not_in_catalog)::int from reporting.${view}
    where organization_id = '${other?.replaceAll("'", "''")}' group by 1`,
  )
  expect(rows).toEqual([[false, 0]])
})

async function ask(text: string): Promise<unknown[][]> {
  return (await live.database.pool.query({ text, rowMode: 'array' })).rows
}
