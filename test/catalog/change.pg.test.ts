import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { UsageError } from '../../src/base/errors.ts'
import { lock } from '../../src/core/database/locks.ts'
import { rolledBack } from '../../src/core/database/pool.ts'
import type { CatalogChanges, CatalogEntry, CatalogLine } from '../../src/schemas/catalog-line.ts'
import { addToCatalog, removeFromCatalog } from '../../src/features/catalog/change.ts'
import { onApp } from '../client/on-app.ts'
import { openLive } from '../helpers/live.ts'
import { BEARER, unlistened } from '../http/served.ts'

const live = await openLive('none')
const app = await live.openApp()
const collabSync = onApp(app)
const server = await unlistened(app)
beforeEach(async () => {
  await live.rows('truncate collab_store.organizations, sync.catalog_imports, sync.runs cascade')
})

const BY = { source: 'a test', requestedBy: 'somebody' }
const ACME = { organizationId: 'acme' }
const PLAN = { ...ACME, documentId: 'plan' }
const FIRST = { ...PLAN, annotationId: 'a1' }
const GROUP = { ...ACME, organizationUserGroupId: 'staff' }

const add = (lines: readonly CatalogLine[], parents = false) =>
  addToCatalog(live.database.pool, lines, { ...BY, add: parents })
const remove = (lines: readonly CatalogLine[]) => removeFromCatalog(live.database.pool, lines, BY)

/** Counts that are not zero, such as `documents added 1`. */
function did(changes: CatalogChanges): string[] {
  return Object.entries(changes).flatMap(([kind, counts]) =>
    Object.entries(counts).flatMap(([what, count]) =>
      count > 0 ? [`${kind} ${what} ${count}`] : [],
    ),
  )
}

async function texts(sql: string): Promise<string[]> {
  return (await live.rows(sql)).map(({ text }) => text)
}

const imports = () =>
  texts(
    `select concat_ws(' ', source, requested_by, state, lines, added, removed) as text from sync.catalog_imports order by import_id`,
  )
/** Active scopes by organization and operation. */
const planned = () =>
  texts(
    `select concat_ws(' ', organization_id, operation, sum(scopes)) as text from collab_store.batches
    join collab_store.organizations using (organization_key) group by organization_id, operation
    having sum(scopes) > 0 order by 1`,
  )

describe('adding', () => {
  test('a line needs its parents in the catalog, unless they are to be added too', async () => {
    await expect(add([FIRST])).rejects.toThrow(/^Organization "acme" is not in the catalog; add it/)
    expect(did(await add([ACME]))).toEqual(['organizations added 1'])
    await expect(add([GROUP, FIRST])).rejects.toThrow(/^Document "plan" is not in the catalog/)
    expect(await planned()).toEqual(['acme users 1'])
    const added = ['documents added 1', 'annotations added 1', 'userGroups added 1']
    expect(did(await add([GROUP, FIRST], true))).toEqual(added)
    expect(await planned()).toEqual(['acme comments 1', 'acme users 3'])
    expect(await imports()).toEqual([
      'a test somebody applied 1 1 0',
      'a test somebody applied 2 3 0',
    ])
  })

  test('again locks nothing and writes nothing', async () => {
    await add([FIRST, GROUP], true)
    await rolledBack(live.database.pool, async (client) => {
      await lock(client, 'catalog')
      expect(did(await add([FIRST, PLAN, GROUP, ACME]))).toEqual([])
    })
    expect(await imports()).toHaveLength(1)
  })

  test('the same line many times at once adds it once', async () => {
    await add([ACME])
    const many = Array.from({ length: 12 }, () => add([FIRST], true))
    const annotations = (await Promise.all(many)).map(({ annotations: { added } }) => added)
    expect(annotations.reduce((sum, added) => sum + added)).toBe(1)
    expect(await planned()).toEqual(['acme comments 1', 'acme users 2'])
  })
})

describe('removing', () => {
  test('deactivates everything beneath; rows and checks stay; adding reactivates parents too', async () => {
    const other = { organizationId: 'other', documentId: 'plan' }
    await add([FIRST, { ...PLAN, annotationId: 'a2' }, GROUP, other], true)
    await live.database.pool.query(`update collab_store.batches set checked_at = '2026-01-01Z'`)
    expect(did(await remove([FIRST]))).toEqual(['annotations deactivated 1'])
    expect(did(await remove([PLAN, GROUP]))).toEqual([
      'documents deactivated 1',
      'annotations deactivated 1',
      'userGroups deactivated 1',
    ])
    expect(await planned()).toEqual(['acme users 1', 'other users 2'])
    expect(did(await remove([PLAN, FIRST]))).toEqual([])
    expect(did(await remove([ACME]))).toEqual(['organizations deactivated 1'])
    expect(await planned()).toEqual(['other users 2'])
    expect((await imports()).slice(1)).toEqual([
      'a test somebody applied 1 0 1',
      'a test somebody applied 2 0 3',
      'a test somebody applied 1 0 1',
    ])
    expect(
      await texts(
        `select concat_ws(' ', annotation_id, active, checked_at at time zone 'UTC') as text from collab.annotations order by 1`,
      ),
    ).toEqual(['a1 f 2026-01-01 00:00:00', 'a2 f 2026-01-01 00:00:00'])
    expect(did(await add([FIRST]))).toEqual([
      'organizations reactivated 1',
      'documents reactivated 1',
      'annotations reactivated 1',
    ])
    expect(await planned()).toEqual(['acme comments 1', 'acme users 2', 'other users 2'])
  })

  test('what the catalog never had is refused, and nothing is changed', async () => {
    await add([FIRST], true)
    for (const [line, sentence] of [
      [{ organizationId: 'acmee' }, 'Organization "acmee"'],
      [{ ...PLAN, documentId: 'plans' }, 'Document "plans"'],
      [{ ...PLAN, annotationId: 'a2' }, 'Annotation "a2"'],
      [GROUP, 'User group "staff"'],
    ] as const)
      await expect(remove([FIRST, line])).rejects.toThrow(`${sentence} is not in the catalog`)
    expect(await planned()).toEqual(['acme comments 1', 'acme users 2'])
  })
})

test('a listing names what is directly beneath, page by page', async () => {
  const annotations = Array.from({ length: 3 }, (_, n) => ({ ...PLAN, annotationId: `a${n}` }))
  const documents = ['plan', 'budget'].map((documentId) => ({ ...ACME, documentId }))
  const groups = ['staff', 'guests'].map((id) => ({ ...ACME, organizationUserGroupId: id }))
  await add([...annotations, ...documents, ...groups, { organizationId: 'zeta' }], true)
  await remove([{ organizationId: 'zeta' }])
  const all = async (of: { organizationId?: string; documentId?: string }) => {
    const found: CatalogEntry[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await collabSync.listCatalog({ ...of, limit: 1, ...(cursor && { cursor }) })
      expect(page.items).toHaveLength(1)
      found.push(...page.items)
      cursor = page.nextCursor
    }
    expect((await collabSync.listCatalog(of)).items).toEqual(found)
    return found.map((entry) =>
      [entry.annotationId, entry.organizationUserGroupId, entry.documentId, entry.organizationId]
        .filter((id) => id !== null)
        .concat(entry.active ? [] : ['inactive'])
        .join(' '),
    )
  }
  expect(await all({})).toEqual(['acme', 'zeta inactive'])
  expect(await all(ACME)).toEqual(['guests acme', 'staff acme', 'budget acme', 'plan acme'])
  expect(await all(PLAN)).toEqual(['a0 plan acme', 'a1 plan acme', 'a2 plan acme'])
  const none = { items: [], nextCursor: null }
  expect(await collabSync.listCatalog({ organizationId: 'nobody' })).toEqual(none)
  await expect(collabSync.listCatalog({ documentId: 'plan' })).rejects.toThrow(
    'documentId needs organizationId.',
  )
  await expect(collabSync.listCatalog({ cursor: 'WyJydW5zIiwxXQ' })).rejects.toThrow(UsageError)
})

describe('over HTTP', () => {
  const request = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => {
    const url = `/v1/${path}`
    const answer = await server.app.inject({ method, url, headers: BEARER, ...(body && { body }) })
    return { status: answer.statusCode, body: answer.json() as never }
  }

  test('lines are added, listed and removed', async () => {
    const odd = { organizationId: 'a/c me', documentId: 'ü?&', annotationId: 'x'.repeat(300) }
    const added = await request('POST', 'catalog', { lines: [odd, GROUP], add: true })
    expect(added.status).toBe(200)
    expect(did(added.body)).toContain('organizations added 2')
    expect(await imports()).toEqual(['catalog add HTTP_TOKEN applied 2 5 0'])
    const query = new URLSearchParams({ organizationId: 'a/c me', documentId: 'ü?&' })
    expect(await request('GET', `catalog?${query}`)).toMatchObject({
      status: 200,
      body: { items: [{ ...odd, active: true, checkedAt: null }], nextCursor: null },
    })
    const [organization, document, annotation] = Object.values(odd).map(encodeURIComponent)
    const path = `catalog/organizations/${organization}/documents/${document}`
    const removed = await request('DELETE', `${path}/annotations/${annotation}`)
    expect(did(removed.body)).toEqual(['annotations deactivated 1'])
    const group = await request('DELETE', 'catalog/organizations/acme/user-groups/staff')
    expect(did(group.body)).toEqual(['userGroups deactivated 1'])
  })

  test.each([
    ['POST', 'catalog', { lines: [FIRST] }, 422, /^Organization "acme" is not in the catalog/],
    ['POST', 'catalog', { lines: [] }, 400, /must be a list of 1 to 1000 lines/],
    ['DELETE', 'catalog/organizations/acme', undefined, 404, /^Organization "acme" is not in the/],
    ['GET', 'catalog?cursor=x', undefined, 400, /cursor must be the nextCursor/],
  ] as const)('%s %s %j fails with a problem', async (method, path, body, status, detail) => {
    const answer = await request(method, path, body)
    expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } })
    expect(await planned()).toEqual([])
  })

  test('a run can add its scope first, as it can from a program and through the queue', async () => {
    const [organization = ''] = live.world.organizationIds()
    const [documentId = ''] = live.world.documentIds(organization)
    const [annotationId = ''] = live.world.annotationIds(organization, documentId)
    const scope = { organizationIds: [organization], documentId, annotationId }
    await expect(collabSync.startRun({ scope })).rejects.toThrow(/is not in the catalog/)
    const wanted = { scope, add: true } as const
    expect(await request('POST', 'runs', wanted)).toMatchObject({ status: 202 })
    expect(await collabSync.startRun(wanted)).toMatchObject({ isNew: true })
    const job = await jobs['start-run'](app, { data: wanted, requestKey: 'job' })
    expect(job).toMatchObject({ runId: expect.any(String) })
    expect(await imports()).toEqual(['run --add HTTP_TOKEN applied 1 3 0'])
    const nothing = { scope: {}, add: true }
    await expect(collabSync.startRun(nothing)).rejects.toThrow('add needs organizationIds')
  })
})

test('a job of the queue adds and removes lines, and is refused with the name of a wrong member', async () => {
  const perform = (data: unknown) =>
    jobs.catalog(app, { data, requestKey: 'key' }) as Promise<CatalogChanges>
  const adding = { change: 'add', lines: [FIRST], add: true }
  expect(did(await perform(adding))).toHaveLength(3)
  expect(did(await perform(adding))).toEqual([])
  expect(did(await perform({ change: 'remove', lines: [PLAN] }))).toHaveLength(2)
  expect(await imports()).toEqual([
    'catalog add a program applied 1 3 0',
    'catalog remove a program applied 1 0 2',
  ])
  for (const [data, sentence] of [
    [undefined, /^data is wrong: /],
    [{ change: 'drop', lines: [ACME] }, /^data\.change /],
    [{ change: 'remove', lines: [ACME], add: true }, 'data has no member "add".'],
  ] as const)
    await expect(perform(data)).rejects.toThrow(sentence)
})
