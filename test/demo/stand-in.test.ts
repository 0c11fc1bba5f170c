import { afterAll, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/base/operations.ts'
import { World } from '../../src/demo/world.ts'
import { call, listed } from '../service/call.ts'
import { startStandIn } from '../service/stand-in.ts'

const world = new World({
  seed: 11,
  organizations: 3,
  documentsPerOrganization: 4,
  annotationsPerDocument: 5,
  commentsPerAnnotation: 5,
  usersPerOrganization: 20,
  groupsPerOrganization: 3,
})
const org = { organizationId: 'org-0' }
const place = { ...org, documentId: 'doc-0', annotationId: 'ann-0' }

const standIn = await startStandIn({ world })
afterAll(() => standIn.close())

const ids = (users: readonly unknown[] = []) =>
  users.map((user) => (user as { userId: string }).userId).sort()

test('Get Comments returns all comments, or those with the ids, in order, and null for the others', async () => {
  const { status, body } = await call(standIn, 'comments', place)
  expect(status).toBe(200)
  expect(body.result?.message).toBe('Comments(s) retrieved successfully.')
  expect(body.result?.data).toEqual(expect.arrayContaining([...world.comments(place)!]))
  const [first, second] = world.comments(place) ?? []
  const commentIds = [second, { commentId: 5 }, first, second].map((one) => one?.commentId)
  const data = await listed(standIn, 'comments', { ...place, commentIds })
  expect(data).toEqual([second, null, first, second])
  for (const member of Object.keys(place))
    for (const some of [undefined, [1]]) {
      const nowhere = { ...place, commentIds: some, [member]: 'nowhere' }
      const refused = await call(standIn, 'comments', nowhere)
      expect(refused).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } })
    }
  expect(standIn.violations).toEqual([])
})

test('Get Users takes each of the six documented combinations', async () => {
  const { documentId } = place
  const inDocument = ids(world.documentUsers('org-0', documentId))
  const organizationUserGroupIds = ['group-0', 'группа 2', 'nowhere']
  const members = organizationUserGroupIds.flatMap((id) => ids(world.groupMembers('org-0', id)))
  const inGroups = [...new Set(members)].sort()
  const userIds = ['user-0', 'user-1', 'user-3', 'user-5', 'guest-1', 'former-0', 'nobody']
  const found = async (data: object) => ids(await listed(standIn, 'users', { ...org, ...data }))
  const among = (list: string[]) => list.filter((id) => userIds.includes(id))
  expect(await found({})).toEqual(ids(world.users('org-0')))
  expect(await found({ documentId })).toEqual(inDocument)
  expect(await found({ userIds })).toEqual(['user-0', 'user-1', 'user-3', 'user-5'])
  expect(await found({ documentId, userIds })).toEqual(among(inDocument))
  expect(await found({ organizationUserGroupIds })).toEqual(inGroups)
  expect(await found({ organizationUserGroupIds, userIds })).toEqual(among(inGroups))
  expect(standIn.violations).toEqual([])
})

test('records, and their members, come in another order each time', async () => {
  const lists: object[][] = []
  for (let count = 0; count < 12; count++)
    lists.push((await listed(standIn, 'comments', place)) as object[])
  expect(new Set(lists.map(([first]) => JSON.stringify(first))).size).toBeGreaterThan(2)
  expect(new Set(lists.flat().map((item) => Object.keys(item)[0])).size).toBeGreaterThan(1)
})

test.each<[string, 'users' | 'comments', unknown]>([
  ['userIds on Get Comments', 'comments', { ...place, userIds: ['user-0'] }],
  ['an unknown member', 'comments', { ...place, pageSize: 10 }],
  ['a missing annotationId', 'comments', { ...org, documentId: 'doc-0' }],
  ['an empty commentIds', 'comments', { ...place, commentIds: [] }],
  ['comment ids as text', 'comments', { ...place, commentIds: ['1'] }],
  ['more ids than allowed', 'comments', { ...place, commentIds: Array(31).fill(1) }],
  ['an empty documentId', 'comments', { ...place, documentId: '' }],
  ['no organizationId', 'users', { userIds: ['user-0'] }],
  ['document and groups', 'users', { ...org, documentId: 'd', organizationUserGroupIds: ['g'] }],
  ['a null user id', 'users', { ...org, userIds: [null] }],
  ['no data at all', 'users', undefined],
])('a violation of the document is refused and recorded: %s', async (_, operation, data) => {
  const before = standIn.calls.violationCount
  const { status, body } = await call(standIn, operation, data)
  expect(status).toBe(400)
  expect(body.error?.status).toBe('INVALID_ARGUMENT')
  expect(standIn.calls.violationCount).toBe(before + 1)
})

test.each<[string, number, RequestInit]>([
  ['a body that is not JSON', 400, { body: '{"data":' }],
  ['a member beside data', 400, { body: JSON.stringify({ data: org, limit: 5 }) }],
  ['another content type', 400, { headers: { 'content-type': 'text/plain' } }],
  ['another method', 405, { method: 'PUT' }],
])('so is %s', async (_, expected, request) => {
  const before = standIn.calls.violationCount
  expect((await call(standIn, 'users', org, request)).status).toBe(expected)
  expect(standIn.calls.violationCount).toBe(before + 1)
})

test('a wrong token is refused without a violation, a missing one and another path with one', async () => {
  const before = standIn.calls.violationCount
  const old = { url: standIn.url, apiKey: standIn.apiKey, authToken: standIn.authToken }
  standIn.authToken = 'another'
  const refused = await call(old, 'users', org)
  expect(refused).toMatchObject({ status: 401, body: { error: { status: 'UNAUTHENTICATED' } } })
  expect((await call(standIn, 'users', org)).status).toBe(200)
  expect(standIn.calls.violationCount).toBe(before)
  const post = { method: 'POST' }
  expect((await fetch(standIn.url + OPERATIONS.users.path, post)).status).toBe(401)
  expect((await fetch(`${standIn.url}/v2/users/get`, post)).status).toBe(404)
  expect(standIn.calls.violationCount).toBe(before + 2)
})
