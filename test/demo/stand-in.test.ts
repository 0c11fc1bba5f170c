import { afterEach, describe, expect, test } from 'vitest'
import { addComment, deleteComment, edit, restoreComment } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import {
  expectedComments,
  expectedDocumentUsers,
  expectedGroupMembers,
  expectedUsers,
} from '../service/expected.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { PATHS } from '../../src/demo/requests.ts'
import { startStandIn } from '../service/stand-in.ts'
import type { StandIn, StandInOptions } from '../service/stand-in.ts'
import { createWorld } from '../../src/demo/world.ts'
import { until } from '../helpers/until.ts'
import { call, listed } from '../service/call.ts'

const options = {
  seed: 11,
  organizations: 3,
  documentsPerOrganization: 4,
  annotationsPerDocument: 5,
  commentsPerAnnotation: 5,
  usersPerOrganization: 20,
  groupsPerOrganization: 3,
}
const place = { organizationId: 'org-0', documentId: 'doc-0', annotationId: 'ann-0' }
const running: StandIn[] = []

afterEach(async () => {
  for (const standIn of running.splice(0)) await standIn.close()
})

async function start(more: Partial<StandInOptions> = {}): Promise<StandIn> {
  const standIn = await startStandIn({ world: createWorld(options), ...more })
  running.push(standIn)
  return standIn
}

const idOf = (item: unknown) => {
  const { commentId, userId } = item as { commentId?: number; userId?: string }
  return commentId ?? userId
}
const ids = (items: unknown[]) => items.map(idOf).sort()

describe('Get Comments', () => {
  test('wraps all comments of the annotation as the document says', async () => {
    const standIn = await start()
    const { status, body } = await call(standIn, 'comments', place)
    expect(status).toBe(200)
    expect(body.result).toMatchObject({
      status: 'success',
      message: 'Comments(s) retrieved successfully.',
    })
    expect(ids(body.result?.data ?? [])).toEqual(ids([...(standIn.world.comments(place) ?? [])]))
  })

  test('answers ids one to one in the asked order, null where there is none', async () => {
    const standIn = await start()
    const [first, second] = standIn.world.comments(place) ?? []
    const commentIds = [second, { commentId: 5 }, first, second].map((one) => one?.commentId)
    const data = await listed(standIn, 'comments', { ...place, commentIds })
    expect(data).toEqual([second, null, first, second])
  })

  test('answers 404 for an organization, document or annotation that is not there', async () => {
    const standIn = await start()
    for (const member of ['organizationId', 'documentId', 'annotationId']) {
      for (const commentIds of [undefined, [1]]) {
        const data = { ...place, commentIds, [member]: 'nowhere' }
        const { status, body } = await call(standIn, 'comments', data)
        expect(status).toBe(404)
        expect(body.error?.status).toBe('NOT_FOUND')
      }
    }
    expect(standIn.violations).toEqual([])
  })
})

describe('Get Users', () => {
  test('answers each of the six documented combinations', async () => {
    const standIn = await start()
    const { world } = standIn
    const organizationId = 'org-0'
    const { documentId } = place
    const all = ids(world.users(organizationId) ?? [])
    const inDocument = ids(world.documentUsers(organizationId, documentId) ?? [])
    const groupIds = ['group-0', 'группа 2', 'nowhere']
    const inGroups = groupIds.flatMap((id) => ids(world.groupMembers(organizationId, id) ?? []))
    const userIds = ['user-0', 'user-1', 'user-3', 'user-5', 'guest-1', 'former-0', 'nobody']
    const ask = async (data: object) =>
      ids(await listed(standIn, 'users', { organizationId, ...data }))
    const among = (list: unknown[]) => list.filter((id) => userIds.includes(id as string))
    expect(await ask({})).toEqual(all)
    expect(await ask({ documentId })).toEqual(inDocument)
    expect(await ask({ userIds })).toEqual(['user-0', 'user-1', 'user-3', 'user-5'])
    expect(await ask({ documentId, userIds })).toEqual(among(inDocument))
    const members = [...new Set(inGroups)].sort()
    expect(await ask({ organizationUserGroupIds: groupIds })).toEqual(members)
    expect(await ask({ organizationUserGroupIds: groupIds, userIds })).toEqual(among(members))
    expect(standIn.violations).toEqual([])
  })
})

test('Everything that is expected in the tables is served, before and after changes', async () => {
  const standIn = await start()
  const { world } = standIn
  for (let round = 0; round < 3; round++) {
    const comments = []
    for (const one of places(world)) {
      for (const comment of await listed(standIn, 'comments', one)) comments.push({ one, comment })
    }
    const expected = [...expectedComments(world)].map((row) => JSON.stringify(sorted(row.comment)))
    expect(comments.map((row) => JSON.stringify(sorted(row.comment))).sort()).toEqual(
      expected.sort(),
    )
    const users: string[] = []
    const members: string[] = []
    for (const organizationId of world.organizationIds()) {
      const take = async (into: string[], data: object) => {
        for (const user of await listed(standIn, 'users', { organizationId, ...data })) {
          into.push(JSON.stringify([organizationId, ...Object.values(data).flat(), idOf(user)]))
        }
      }
      await take(users, {})
      for (const documentId of world.documentIds(organizationId))
        await take(members, { documentId })
      for (const id of world.groupIds(organizationId)) {
        await take(members, { organizationUserGroupIds: [id] })
      }
    }
    const listedUsers = [...expectedUsers(world)].filter((row) => row.listed)
    expect(users.sort()).toEqual(
      listedUsers.map((row) => JSON.stringify([row.organizationId, row.userId])).sort(),
    )
    const expectedMembers = [...expectedDocumentUsers(world), ...expectedGroupMembers(world)]
    expect(members.sort()).toEqual(
      expectedMembers.map((row) => JSON.stringify(Object.values(row))).sort(),
    )
    randomChanges(world, { count: 120, seed: round })
  }
  expect(standIn.violations).toEqual([])
})

/** The same record whatever the order of its members. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return entries.map(([name, inner]) => [name, sorted(inner)])
}

test('A change shows in the next answer although answers are kept', async () => {
  const standIn = await start()
  const { world } = standIn
  const id = world.comments(place)?.[0]?.commentId as number
  const served = async () => JSON.stringify(await listed(standIn, 'comments', place))
  // Often enough that every order of members was kept.
  for (let count = 0; count < 20; count++) await served()
  edit(world, place, id, { text: 'edited just now' })
  for (let count = 0; count < 20; count++) expect(await served()).toContain('edited just now')
  addComment(world, place, { text: 'added just now' })
  expect(await served()).toContain('added just now')
  deleteComment(world, place, id)
  expect(await served()).not.toContain('edited just now')
  expect(await listed(standIn, 'comments', { ...place, commentIds: [id] })).toEqual([null])
  restoreComment(world, place, id)
  expect(await served()).toContain('edited just now')
})

describe('the order of an answer', () => {
  const texts = async (standIn: StandIn) => {
    const seen = []
    for (let count = 0; count < 12; count++) {
      seen.push((await call(standIn, 'comments', place)).text)
    }
    return new Set(seen)
  }

  test('differs from call to call, in items and in members, from a seeded source', async () => {
    const one = await texts(await start({ seed: 4 }))
    expect(one.size).toBeGreaterThan(5)
    expect(await texts(await start({ seed: 4 }))).toEqual(one)
    expect(await texts(await start({ seed: 5 }))).not.toEqual(one)
  })

  test('differs in items and in members, or not at all', async () => {
    const bodies = [...(await texts(await start()))].map((text) => JSON.parse(text))
    const lists = bodies.map((body) => body.result.data as object[])
    expect(new Set(lists.map((list) => JSON.stringify(list.map(idOf)))).size).toBeGreaterThan(1)
    expect(new Set(lists.flat().map((item) => Object.keys(item)[0])).size).toBeGreaterThan(1)
    expect((await texts(await start({ shuffle: false }))).size).toBe(1)
  })

  test('differs in items alone while `shuffleRecords` is set, and not where ids fix it', async () => {
    const standIn = await start({ shuffle: false })
    const before = await texts(standIn)
    standIn.shuffleRecords = true
    const lists = [...(await texts(standIn))].map(
      (text) => JSON.parse(text).result.data as object[],
    )
    expect(lists.length).toBeGreaterThan(5)
    const records = lists.map((list) => list.map((item) => JSON.stringify(item)))
    expect(new Set(records.flat()).size).toBe(records[0]?.length)
    const commentIds = lists[0]?.map(idOf)
    const asked = await call(standIn, 'comments', { ...place, commentIds })
    expect(JSON.parse(asked.text).result.data.map(idOf)).toEqual(commentIds)
    standIn.shuffleRecords = false
    expect(await texts(standIn)).toEqual(before)
  })
})

describe('what is outside the document', () => {
  const org = { organizationId: 'org-0' }
  const bodies: [string, 'users' | 'comments', unknown][] = [
    ['userIds on Get Comments', 'comments', { ...place, userIds: ['user-0'] }],
    ['an unknown member', 'comments', { ...place, pageSize: 10 }],
    ['a missing annotationId', 'comments', { ...org, documentId: 'doc-0' }],
    ['an empty commentIds', 'comments', { ...place, commentIds: [] }],
    ['a null commentIds', 'comments', { ...place, commentIds: null }],
    ['comment ids as text', 'comments', { ...place, commentIds: ['1'] }],
    ['a fraction as comment id', 'comments', { ...place, commentIds: [1.5] }],
    ['more ids than allowed', 'comments', { ...place, commentIds: Array(31).fill(1) }],
    ['an empty documentId', 'comments', { ...place, documentId: '' }],
    ['a number as documentId', 'comments', { ...place, documentId: 7 }],
    ['no organizationId', 'users', { userIds: ['user-0'] }],
    ['document and groups', 'users', { ...org, documentId: 'd', organizationUserGroupIds: ['g'] }],
    ['an empty userIds', 'users', { ...org, userIds: [] }],
    ['an empty user id', 'users', { ...org, userIds: [''] }],
    ['a null user id', 'users', { ...org, userIds: [null] }],
    ['data as an array', 'users', [org]],
    ['data as null', 'users', null],
    ['no data at all', 'users', undefined],
  ]

  test.each(bodies)('is refused and recorded: %s', async (_, operation, data) => {
    const standIn = await start()
    const { status, body } = await call(standIn, operation, data)
    expect(status).toBe(400)
    expect(body.error?.status).toBe('INVALID_ARGUMENT')
    expect(standIn.violations).toMatchObject([{ operation }])
  })

  const requests: [string, number, RequestInit][] = [
    ['a body that is not JSON', 400, { body: '{"data":' }],
    ['a member beside data', 400, { body: JSON.stringify({ data: org, limit: 5 }) }],
    ['another content type', 400, { headers: { 'content-type': 'text/plain' } }],
    ['another method', 405, { method: 'PUT' }],
  ]

  test.each(requests)('is refused and recorded: %s', async (_, expected, request) => {
    const standIn = await start()
    expect((await call(standIn, 'users', org, request)).status).toBe(expected)
    expect(standIn.calls.violationCount).toBe(1)
  })

  test('is refused and recorded: another path', async () => {
    const standIn = await start()
    expect((await fetch(`${standIn.url}/v2/users/get`, { method: 'POST' })).status).toBe(404)
    expect(standIn.calls.violationCount).toBe(1)
  })

  test('does not hold a charset in the content type, nor exactly as many ids as allowed', async () => {
    const standIn = await start()
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const commentIds = Array(30).fill(1)
    expect((await call(standIn, 'users', org, { headers })).status).toBe(200)
    expect((await call(standIn, 'comments', { ...place, commentIds })).status).toBe(200)
    expect(standIn.violations).toEqual([])
  })
})

describe('credentials', () => {
  const org = { organizationId: 'org-0' }

  test('that are wrong are answered 401, and the token can change while it runs', async () => {
    const standIn = await start({ authToken: 'first' })
    const old = { url: standIn.url, apiKey: standIn.apiKey, authToken: 'first' }
    expect((await call(old, 'users', org)).status).toBe(200)
    standIn.authToken = 'second'
    const refused = await call(old, 'users', org)
    expect(refused.status).toBe(401)
    expect(refused.body.error?.status).toBe('UNAUTHENTICATED')
    expect((await call(standIn, 'users', org)).status).toBe(200)
    expect((await call({ ...old, apiKey: 'x' }, 'users', org)).status).toBe(401)
    expect(standIn.violations).toEqual([])
  })

  test('that are missing are a violation too', async () => {
    const standIn = await start()
    const response = await fetch(standIn.url + PATHS.users, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: org }),
    })
    expect(response.status).toBe(401)
    expect(standIn.violations[0]?.reason).toMatch(/header is missing/)
  })
})

test('A call waits as long as its latency says, and not after the caller gave up', async () => {
  const standIn = await start({ latencyMs: 200, latencyJitterMs: 50 })
  const startMs = Date.now()
  await call(standIn, 'comments', place)
  expect(Date.now() - startMs).toBeGreaterThan(190)
  standIn.latencyMs = 1_000_000
  const caller = new AbortController()
  const given = expect(
    call(standIn, 'comments', place, { signal: caller.signal }),
  ).rejects.toThrow()
  await until('the call came', () => standIn.calls.inFlight === 1)
  caller.abort()
  await given
  await until('the call is gone', () => standIn.calls.inFlight === 0)
  expect(standIn.calls.log.at(-1)?.status).toBeNull()
  expect(standIn.calls.byOperation.comments).toBe(2)
})
