import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import { deleteComment, edit } from '../../src/demo/changes.ts'
import { SearchSchema, THING_KINDS, THING_SCHEMAS } from '../../src/schemas/thing.ts'
import type { Thing, ThingIds, ThingKind } from '../../src/schemas/thing.ts'
import { onApp } from '../client/on-app.ts'
import { openLoaded } from '../helpers/live.ts'
import { listingUsers } from '../helpers/places.ts'
import { BEARER, unlistened } from '../http/served.ts'
import { thingPath } from '../../src/http/pages/things/thing-link.tsx'
import { wordsOf } from '../pages/open-pages.ts'
import { buildCommand } from './built-command.ts'

const STEERING = '\u001b[31m\u009b2J\r\n\u2028All is well.\u202e'
const STEERS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

const command = await buildCommand()
const live = await openLoaded('none', {
  world: { organizations: 2, documentsPerOrganization: 2, annotationsPerDocument: 2 },
})
const { world } = live
await live.run()
const organizationId = [...world.organizationIds()][1] ?? ''
const place = [...places(world)].find((each) => each.organizationId === organizationId)
const [edited, deleted] = place === undefined ? [] : (world.comments(place) ?? [])
if (place === undefined || edited === undefined || deleted === undefined)
  throw new Error('an empty world')
edit(world, place, edited.commentId, { text: `one two ${STEERING}` })
deleteComment(world, place, deleted.commentId)
const scope = { organizationIds: [organizationId], documentId: place.documentId }
await live.run({ scope })
edit(world, place, edited.commentId, { text: `one three ${STEERING}` })
await live.run({ scope })
const { documentId } = place
const [organizationUserGroupId = ''] = world.groupIds(organizationId)
const gone: number = deleted.commentId
/** A thing of each kind, in an organization whose id has quotes, blanks and a slash. */
const things: Record<ThingKind, ThingIds> = {
  organization: { organizationId },
  userGroup: { organizationId, organizationUserGroupId },
  document: { organizationId, documentId },
  annotation: place,
  comment: { ...place, commentId: edited.commentId },
  user: { organizationId, userId: world.users(organizationId)?.[0]?.userId },
}
const app = await live.openApp()
const server = await unlistened(app)
const collabSync = onApp(app)

const show = (...args: string[]) =>
  command.run(['show', ...args], { DATABASE_URL: live.database.url })

function argsFor({ userId, organizationUserGroupId, ...ids }: ThingIds): string[] {
  const { organizationId, ...others } = ids
  if (userId !== undefined) return ['--user', organizationId, userId]
  if (organizationUserGroupId !== undefined)
    return ['--group', organizationId, organizationUserGroupId]
  return [organizationId, ...Object.values(others).map(String)]
}

function pathOf(ids: ThingIds): string {
  const segments = {
    organizationId: 'organizations',
    documentId: 'documents',
    annotationId: 'annotations',
    commentId: 'comments',
    organizationUserGroupId: 'user-groups',
  }
  const encoded = (value: unknown) => encodeURIComponent(String(value))
  const { userId, ...others } = ids
  if (userId !== undefined) return `/v1/users/${encoded(ids.organizationId)}/${encoded(userId)}`
  const parts = Object.entries(others).map(
    ([name, value]) => `/${segments[name as keyof typeof segments]}/${encoded(value)}`,
  )
  return `/v1${parts.join('')}`
}

const get = (url: string) => server.app.inject({ url, headers: BEARER })
const asJson = (document: unknown) => JSON.parse(JSON.stringify(document))

/** The arguments of a command that `show` printed, as a shell reads them. */
function argsIn(line: string): string[] {
  const [, words = ''] = /collab-sync show (.*)$/.exec(line) ?? []
  return execFileSync('sh', ['-c', `printf '%s\\0' ${words}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}

describe.each(THING_KINDS)('%s', (kind) => {
  test('show --json prints what /v1 and a program get', async () => {
    const ids = things[kind]
    const held: Thing | null = await collabSync.getThing(ids)
    expect(held).toMatchObject({ kind, ids })
    expect(THING_SCHEMAS[kind].strict().parse(held)).toEqual(held)
    const answer = await get(pathOf(ids))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual(asJson(held))
    const printed = await show(...argsFor(ids), '--json')
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(printed.stdout)).toEqual(asJson(held))
  })

  test('printed for a person it has the sentences of the document, and steers no terminal', async () => {
    const held = await collabSync.getThing(things[kind])
    const { code, stdout, stderr } = await show(...argsFor(things[kind]))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const sentence of [held?.why.sentence, held?.checked.sentence, held?.checked.next])
      expect(stdout).toContain(sentence)
    for (const line of stdout.split('\n')) expect(line).not.toMatch(STEERS)
    expect(stdout).not.toMatch(/^\s*All is well/m)
  })

  test('that is not stored: exit 2 and a sentence that names it; a problem 404', async () => {
    const missing = asJson(things[kind])
    const own = Object.keys(missing).at(-1) ?? ''
    missing[own] = own === 'commentId' ? 987654 : 'nowhere'
    expect(await show(...argsFor(missing))).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(`^Nothing is stored about .*"${missing[own]}".*\\n$`),
      ),
    })
    const answer = await get(pathOf(missing))
    expect(answer.json()).toMatchObject({ status: 404, detail: expect.stringMatching(/no such/) })
  })
})

test('an edited comment shows its words, a deleted one when the service returned null', async () => {
  const edited = await show(...argsFor(things.comment))
  expect(edited.stdout).toMatch(/one \[-two-\]\{\+three\+\}/)
  const deleted = await show(...argsFor({ ...things.annotation, commentId: gone }))
  expect(deleted.stdout).toMatch(/^Comment .*: gone\n {2}The service returned null for its ID/)
})

test('the printed commands lead to the next pages, down to the last', async () => {
  const events: string[] = []
  const contents: string[] = []
  for (const [ids, option, found] of [
    [things.comment, '--life', events],
    [things.organization, '--beneath', contents],
  ] as const) {
    let args: string[] | null = [...argsFor(ids), '--limit', '2']
    while (args !== null) {
      const { stdout, code } = await show(...args)
      expect(code).toBe(0)
      const lines = stdout.split('\n')
      const first = option === '--life' ? /^Events/ : /^User groups and documents/
      const part = lines.slice(lines.findIndex((line) => first.test(line)) + 1)
      const next = lines.find((line) => line.includes(`${option} `))
      found.push(...part.filter((line) => /^ {2}(\d{4}-|.* (Document|User group) )/.test(line)))
      args = next === undefined ? null : argsIn(next)
    }
  }
  expect(events.map((line) => /Version (\d)/.exec(line)?.[1])).toEqual(['3', '2', '1'])
  const { documentIds, groupIds } = {
    documentIds: live.world.documentIds(things.organization.organizationId),
    groupIds: live.world.groupIds(things.organization.organizationId),
  }
  expect(contents).toHaveLength([...documentIds].length + [...groupIds].length)
})

test('a held removal and its refusal are the same on pages, in commands, over /v1 and in SQL', async () => {
  const [organizationId = ''] = live.world.organizationIds()
  const users = live.world.users(organizationId) ?? []
  const data = users.slice(0, 1)
  const kept = users.length - data.length
  live.standIn.setFaults([
    listingUsers(organizationId, data),
    { kind: 'empty-list', match: { operation: 'users', organizationId } },
  ])
  const { run_id: runId, problem } = await live.run()
  const [{ listings, people, missing }] = await live.rows(
    `select count(distinct held_id)::int as listings, count(distinct (organization_id, user_id))::int as people,
      count(*)::int as missing
    from sync.held cross join unnest(missing_user_ids) m (user_id) where resolved_at is null`,
  )
  expect(missing).toBeGreaterThan(people)
  const run = async (...args: string[]) =>
    (await command.run(args, { DATABASE_URL: live.database.url })).stdout.replaceAll(/\s+/g, ' ')
  const page = async (url: string) => {
    const { body: text } = await server.app.inject({
      url,
      headers: { ...BEARER, accept: 'text/html' },
    })
    return wordsOf({ status: 200, text, headers: {} })
  }
  const both = async (url: string, ...args: string[]) => [await page(url), await run(...args)]
  const inAll = `${people} people are missing from ${listings} listings, and collab-sync removed none of them`
  expect(problem).toBe(`The removal of ${people} people from ${listings} listings was held.`)
  for (const words of [
    ...(await both(`/runs/${runId}`, 'status', runId)),
    ...(await both('/', 'status')),
    ...(await both(`/actions/accept?run=${runId}`, 'accept', runId, '--dry-run')),
  ])
    expect(words).toContain(inAll)
  expect((await get(`/v1/runs/${runId}`)).json()).toMatchObject({
    held: { listings, people },
    refused: { listings: 0 },
  })

  const reason = 'a fault of theirs.'
  const refused = await run('refuse', runId, '--reason', reason)
  expect(refused).toContain(
    `The removal is refused: ${people} people kept in ${listings} listings.`,
  )
  const ofListing = { usersReturned: data.length, usersMissing: kept, reason }
  const before = {
    organizationId,
    documentId: null,
    organizationUserGroupId: null,
    usersBefore: users.length,
  }
  const ofRun = (await get(`/v1/runs/${runId}`)).json().refused
  expect(ofRun).toMatchObject({ listings, people })
  expect(ofRun.first).toContainEqual(expect.objectContaining({ ...before, ...ofListing }))
  const [{ by }] = await live.rows(
    'select distinct decided_by as by from sync.held where is_standing',
  )
  const returned = `The response contained 1 user; ${kept} of ${users.length} stored users were missing. ${by} refused their removal at .*Z: a fault of theirs.`
  for (const words of await both(`/runs/${runId}`, 'status', runId)) {
    expect(words).toContain(`Refused removals: ${people} people kept in ${listings} listings`)
    expect(words).toMatch(new RegExp(`organization ${organizationId} ?: ${returned}`))
    expect(words).not.toContain(inAll)
  }

  // It stays as long as the service returns the same.
  await live.run()
  const ids = { organizationId, userId: users.at(-1)?.userId }
  const args = argsFor(ids)
  const { facts, removal } = (await get(pathOf({ organizationId }))).json()
  expect(facts).toMatchObject({ users: users.length, held: 0, refused: listings })
  expect(removal).toMatchObject({ decidedBy: by, runId, ...ofListing })
  expect(removal.sentence).toMatch(
    new RegExp(`^${returned} They are kept until the response changes.$`),
  )
  const ofUser = (await get(pathOf(ids))).json()
  expect(ofUser).toMatchObject({
    facts: { listed: true },
    removal,
    why: { at: removal.decidedAt, runId },
  })
  for (const words of [
    ...(await both(thingPath({ organizationId }), 'show', organizationId)),
    ...(await both(thingPath(ids), 'show', ...args)),
  ]) {
    expect(words).toContain(removal.sentence)
    expect(words).toMatch(/removal.refused/)
    expect(words).not.toMatch(/Users in the last listing|In the organization’s listing/)
  }
  live.standIn.setFaults([])
  await live.run()
  expect((await get(pathOf({ organizationId }))).json()).toMatchObject({
    facts: { users: users.length, refused: 0 },
    removal: null,
  })
})

describe('--find', () => {
  test('prints what /v1/search and a program get', async () => {
    const highest = String(Number.MAX_SAFE_INTEGER)
    for (const q of [things.document.documentId ?? '', highest]) {
      const held = await collabSync.search({ q, seconds: 60 })
      expect(SearchSchema.strict().parse(held)).toEqual(held)
      expect(held.items.length).toBeGreaterThan(q === highest ? 0 : 1)
      expect((await get(`/v1/search?seconds=60&q=${encodeURIComponent(q)}`)).json()).toEqual(
        asJson(held),
      )
      const printed = await show('--find', q, '--seconds', '60', '--json')
      expect(JSON.parse(printed.stdout)).toEqual(asJson(held))
    }
    expect((await show('--find', highest, '--seconds', '60')).stdout).toMatch(/ exact .* \d{16}\b/)
  })

  test('prints a command for each of them that shows it', async () => {
    const q = things.userGroup.organizationUserGroupId ?? ''
    const { items } = await collabSync.search({ q, seconds: 60 })
    const { stdout } = await show('--find', q, '--seconds', '60')
    const lines = stdout.split('\n').filter((line) => line.includes('collab-sync show'))
    expect(lines).toHaveLength(items.length)
    expect(lines.map(argsIn)).toContainEqual(argsFor(things.userGroup))
    expect(await show('--find', 'no-such-thing', '--seconds', '60')).toMatchObject({
      code: 0,
      stdout: 'Nothing was found.\n',
    })
  })
})
