import { beforeEach, expect, test } from 'vitest'
import { addComment, deleteComment } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import { places } from '../../src/demo/catalog.ts'
import type { User } from '../../src/demo/people.ts'
import { sendJson } from '../../src/demo/stand-in.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { onApp } from '../client/on-app.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, unlistened } from '../http/served.ts'
import type { FaultRule } from '../service/faults.ts'
import { amend, textsOf } from './every-text.ts'

const PERSON: User = {
  userId: 'qx-person-p1',
  name: 'Änna Zzyzx',
  email: 'änna.zzyzx@bücher.example',
}
const ADDRESS = PERSON.email ?? ''
const WHOLE = [
  ADDRESS.normalize('NFD').toUpperCase(),
  'Änna.Zzyzx@xn--bcher-kva.example',
  'än\u00adna.zz\u200byzx@bücher.example',
  'änna.zzyzx＠bücher．example',
]
/** Every spelling that the erasure promises to find. */
const SPELLINGS = [
  ...WHOLE,
  'änna.<b class="hit">zzyzx</b>@bücher.example',
  encodeURIComponent(ADDRESS),
]
const EVERYWHERE = { userId: PERSON.userId, organizationId: null, reason: 'asked by letter' }

let live: Live
let place: Place
beforeEach(async () => {
  live = await openLoaded('none')
  place = [...places(live.world)][0] as Place
})

/** A comment of somebody else. */
function say(members: Record<string, unknown>): void {
  amend(live.world, place, addComment(live.world, place, { text: 'x' }), members)
}

/** Comments of the person that cannot be stored, and a name of a field that cannot. */
function sayRejected(): void {
  const { live: comments, deleted } = live.world.thread(place) ?? { live: [], deleted: [] }
  const rejected = [
    { commentId: { text: 'zzyzx words', name: PERSON.name, mail: ADDRESS }, from: PERSON },
    { commentId: ADDRESS, commentText: 'zzyzx words', from: PERSON },
    { commentId: 90_001, commentText: 'x', [`key nul ${ADDRESS.replace('.', '\0.')}`]: 1 },
  ]
  live.world.putThread(place, { live: [...comments, ...(rejected as never[])], deleted })
}

/** Everything that is stored, as a reader sees it: in NFC, decoded, without tags and what is not displayed. */
async function stored(): Promise<string> {
  const texts = [...(await textsOf(live.database)).values()].join('\n').normalize('NFC')
  const decoded = texts.replaceAll(/(?:%[\da-f]{2})+/gi, (text) => {
    try {
      return decodeURIComponent(text)
    } catch {
      return text
    }
  })
  return decoded.replaceAll(/<[^>]*>|[\u00ad\u200b]|\\+u0000/g, '').toLowerCase()
}

/** Where the text contains the person, with some characters around. */
function tracesIn(text: string): string[] {
  return [...text.matchAll(/zzyzx|qx-person|xn--bcher|bücher/g)].map(({ index }) =>
    text.slice(Math.max(0, index - 80), index + 40),
  )
}

test('no spelling of the address, no id in markup or a list, and no id of another type brings an erased person back', async () => {
  live.world.putUser(place.organizationId, PERSON)
  const sayAll = () => {
    const { userId } = PERSON
    sayRejected()
    for (const email of WHOLE)
      say({ commentText: 'zzyzx words', from: { email, name: PERSON.name } })
    for (const spelling of SPELLINGS)
      say({ commentText: `Ask ${spelling}, please`, note: [spelling] })
    say({
      commentHtml: `<span class="x" data-user-id="${userId}">Bob</span> urn:user:${userId}`,
      link: `users/${userId}`,
      watchers: `user-18, ${userId}`,
    })
  }
  sayAll()
  const message = `No user:${PERSON.userId} <${SPELLINGS[0]}>`
  const refusal = {
    kind: 'custom',
    respond: (_request, response) =>
      sendJson(response, 404, JSON.stringify({ error: { message, status: 'ODD' } })),
  } satisfies FaultRule
  const refuse = () =>
    live.standIn.setFaults([
      { ...refusal, match: { operation: 'users' }, times: 6 },
      { ...refusal, match: ({ data }) => 'commentIds' in data },
    ])
  refuse()
  await live.run()
  await live.run()
  const name = `1:1 ${SPELLINGS[1]}; ${PERSON.userId}`
  const lines = [{ organizationId: place.organizationId, organizationName: name }]
  await onApp(await live.openApp()).addToCatalog({ lines })
  expect(tracesIn(await stored()).length).toBeGreaterThan(30)

  const done = await eraseUser(live.database.pool, EVERYWHERE)
  expect(done).toMatchObject({ users: 1, comments: WHOLE.length })
  expect(tracesIn(await stored())).toEqual([])

  sayAll()
  const [known] = live.world.comments(place) ?? []
  deleteComment(live.world, place, known?.commentId ?? 0)
  refuse()
  await live.run()
  const failed = `select from sync.failures where error_status = 'ODD' and annotation_id is not null`
  expect(await live.rows(failed)).toHaveLength(1)
  expect(tracesIn(await stored())).toEqual([])

  const server = await unlistened(await live.openApp())
  const organizationId = encodeURIComponent(place.organizationId)
  const user = `${organizationId}/${encodeURIComponent(done.pseudonym)}`
  const { runId } = (await live.rows(`select run_id as "runId" from sync.runs limit 1`))[0]
  for (const url of [
    '/',
    '/held',
    '/organizations',
    '/runs',
    `/runs/${runId}`,
    `/thing?organizationId=${organizationId}`,
    `/thing?organizationId=${organizationId}&userId=${encodeURIComponent(done.pseudonym)}`,
    '/v1/failures',
    '/v1/runs',
    `/v1/runs/${runId}`,
    '/v1/organizations',
    `/v1/users/${user}`,
  ]) {
    const { statusCode, body } = await server.app.inject({ url, headers: BEARER })
    expect([url, statusCode, tracesIn(body.toLowerCase())]).toEqual([url, 200, []])
  }
})

test('a person is found by another spelling of the address', async () => {
  say({ commentText: 'zzyzx', from: { name: 'Änna', email: ADDRESS } })
  await live.run()
  let comments = 0
  for (const email of [ADDRESS.normalize('NFD'), 'änna.zzyzx＠XN--BCHER-KVA.example']) {
    const request = { email, organizationId: null, reason: 'a letter' }
    comments += 1
    expect(await eraseUser(live.database.pool, request)).toMatchObject({ comments })
    expect(tracesIn(await stored())).toEqual([])
    say({ commentText: 'zzyzx', from: { name: 'Änna', email: ADDRESS } })
    await live.database.pool.query('delete from sync.erasures')
    await live.run()
  }
})

test('with PRIVACY_EMAIL=hash too, a person is erased by the address', async () => {
  say({ commentText: 'zzyzx', from: { name: 'Änna', email: ADDRESS } })
  const settings = { PRIVACY_EMAIL: 'hash' }
  await live.define(settings)
  await live.run({ settings })
  const request = { email: ADDRESS, organizationId: null, reason: 'a letter' }
  expect(await eraseUser(live.database.pool, request)).toMatchObject({ comments: 1 })
  await live.run({ settings })
  expect(tracesIn(await stored())).toEqual([])
})

test('an id with a letter in title case is found in a list', async () => {
  const userId = 'qx-ǅ-1'
  live.world.putUser(place.organizationId, { userId, name: 'Bob' })
  say({ watchers: `user-18, ${userId}` })
  await live.run()
  expect(await stored()).toContain('user-18, qx-ǆ-1')
  await eraseUser(live.database.pool, { ...EVERYWHERE, userId })
  expect(await stored()).not.toContain('qx-ǆ-1')
})
