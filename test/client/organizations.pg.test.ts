import { afterEach, beforeEach, expect, test } from 'vitest'
import type { App } from '../../src/worker/app.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { addComment, deleteComment } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { onApp } from './on-app.ts'

let live: Live
let app: App
let collabSync: CollabSync

beforeEach(async () => {
  live = await openLive('none')
  await live.importCatalog()
  app = await live.openApp()
  collabSync = onApp(app)
})
afterEach(() => live.close())

test('an organization tells its scopes, its live comments and its checks, before and after runs', async () => {
  const fresh = await listed()
  for (const each of fresh) {
    expect(each).toMatchObject({ comments: 0, failing: 0, held: 0, oldestCheck: null })
    expect(each.neverChecked).toBe(each.scopes)
  }
  await live.run()
  await expectCounted()
  const [place] = [...places(live.world)].filter(
    (each) => (live.world.comments(each) ?? []).length > 2,
  )
  if (place === undefined) throw new Error('The world has no busy annotation.')
  const [gone] = live.world.comments(place) ?? []
  deleteComment(live.world, place, gone?.commentId as number)
  await live.run()
  await expectCounted()
  addComment(live.world, place, { text: 'one' })
  addComment(live.world, place, { text: 'two' })
  await live.run({ scope: { organizationIds: [place.organizationId] } })
  const counted = await expectCounted()
  expect(counted.every(({ neverChecked }) => neverChecked === 0)).toBe(true)
  expect(await collabSync.getFreshness()).toMatchObject({
    scopes: counted.reduce((sum, { scopes }) => sum + scopes, 0),
    annotations: [...places(live.world)].length,
    neverChecked: 0,
  })
})

test('names from the catalog are listed beside the ids, and organizations are found by them', async () => {
  const [organizationId = ''] = live.world.organizationIds()
  const [documentId = ''] = live.world.documentIds(organizationId)
  const [groupId = ''] = live.world.groupIds(organizationId)
  await collabSync.addToCatalog({
    lines: [
      { organizationId, documentId, organizationName: 'Zirkon AG', documentName: 'Plan' },
      { organizationId, organizationUserGroupId: groupId, organizationUserGroupName: 'Ops' },
    ],
  })
  const { items } = await collabSync.search({ q: 'zIRK' })
  expect(items).toMatchObject([{ ids: { organizationId }, name: 'Zirkon AG' }])
  expect((await listed()).filter(({ name }) => name !== null)).toHaveLength(1)
  const beneath = await collabSync.listCatalog({ organizationId })
  const names = {
    organizationName: 'Zirkon AG',
    documentName: null,
    organizationUserGroupName: null,
  }
  expect(beneath.items).toContainEqual(
    expect.objectContaining({ ...names, documentId, documentName: 'Plan' }),
  )
  expect(beneath.items).toContainEqual(
    expect.objectContaining({
      ...names,
      organizationUserGroupId: groupId,
      organizationUserGroupName: 'Ops',
    }),
  )
  const [annotation] = (await collabSync.listCatalog({ organizationId, documentId })).items
  expect(annotation).toMatchObject({ ...names, documentName: 'Plan' })
  const [first] = (await collabSync.listCatalog()).items
  expect(first?.organizationName).toBe(
    first?.organizationId === organizationId ? 'Zirkon AG' : null,
  )
})

/** Every count equals one of the rows themselves. */
async function expectCounted() {
  const organizations = await listed()
  const { rows } = await live.database.pool.query(
    `select o.organization_id,
      (select count(*) from collab.comments c where c.organization_id = o.organization_id and c.deleted_at is null) as comments,
      (select count(*) from collab.annotations a where a.organization_id = o.organization_id) as annotations
    from collab.organizations o order by 1`,
  )
  const counts = organizations.map(({ organizationId, comments, annotations }) => ({
    organization_id: organizationId,
    comments,
    annotations,
  }))
  expect(counts).toEqual(rows)
  expect(counts.some(({ comments }) => comments > 0)).toBe(true)
  return organizations
}

async function listed() {
  return (await collabSync.listOrganizations()).items
}
