import { beforeEach, describe, expect, test } from 'vitest'
import { prune } from '../../src/features/privacy/prune.ts'
import { transaction } from '../../src/core/database/pool.ts'
import type { Client } from '../../src/core/database/pool.ts'
import { putUsers, USER_SOURCES } from '../../src/core/database/users.ts'
import type { UserSource } from '../../src/core/database/users.ts'
import { addComment } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { User } from '../../src/demo/people.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { userTexts } from '../helpers/columns.ts'
import { rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { textsOf } from '../privacy/every-text.ts'
import { until } from '../helpers/until.ts'

/** People as they were: versions of names, addresses and listings, and the directory as it was known at a time. */

const ANN = { userId: 'ann', name: 'Ann Able', email: 'ann@old.example' }

let live: Live
let place: Place
let here: string
beforeEach(async () => {
  live = await openLoaded('none', {
    world: {
      organizations: 2,
      documentsPerOrganization: 2,
      annotationsPerDocument: 2,
      commentsPerAnnotation: 2,
      usersPerOrganization: 4,
      groupsPerOrganization: 1,
    },
  })
  place = [...places(live.world)][0] as Place
  here = place.organizationId
})

async function run(settings: Record<string, string> = {}): Promise<string> {
  await live.define(settings)
  expect((await live.run({ settings }))['status']).toBe('succeeded')
  return (await ask<{ at: string }>('select clock_timestamp()::text as at'))[0]?.at ?? ''
}

async function ask<T = Record<string, unknown>>(text: string, values: unknown[] = []) {
  return (await live.database.pool.query(text, values)).rows as T[]
}

/** Each run finds one more of these; what the clock says after each. */
async function check(...users: (User | null)[]): Promise<string[]> {
  const times: string[] = []
  for (const user of users) {
    if (user === null) live.world.dropUser(here, ANN.userId)
    else live.world.putUser(here, user)
    times.push(await run())
  }
  return times
}

function membersNow(): string[] {
  return (live.world.documentUsers(here, place.documentId) ?? []).map(({ userId }) => userId)
}

function versions(userId = ANN.userId) {
  return ask(
    `select version, change, name, email, listed, removed_at is not null as removed, valid_to is null as current
    from collab.user_versions where organization_id = $1 and user_id = $2 order by version`,
    [here, userId],
  )
}

async function directoryAt(at: string, userId = ANN.userId) {
  const [row] = await ask(
    `select name, email, listed, documents::int, left_at is not null as left, is_known_then
    from reporting.user_directory_at($1) where organization_id = $2 and user_id = $3`,
    [at, here, userId],
  )
  return row
}

const RENAMED = { ...ANN, name: 'Ann Baker' }
const MOVED = { ...RENAMED, email: 'ann@new.example' }

test('a rename, another address, a departure and a return are versions; nothing else is', async () => {
  const times = await check(ANN, RENAMED, MOVED, null, MOVED, { ...MOVED, nickname: 'Annie' })
  const names = { listed: true, removed: false, current: false }
  expect(await versions()).toEqual([
    { version: 1, change: 'added', ...names, name: ANN.name, email: ANN.email },
    { version: 2, change: 'edited', ...names, name: RENAMED.name, email: ANN.email },
    { version: 3, change: 'edited', ...names, name: RENAMED.name, email: MOVED.email },
    { version: 4, change: 'removed', name: RENAMED.name, email: MOVED.email, listed: false, removed: true, current: false }, // prettier-ignore
    { version: 5, change: 'restored', ...names, name: RENAMED.name, email: MOVED.email, current: true }, // prettier-ignore
  ])
  const all = await Promise.all(times.map((at) => directoryAt(at)))
  expect(all.map((row) => [row?.['name'], row?.['email'], row?.['listed'], row?.['left']])).toEqual(
    [
      ['Ann Able', 'ann@old.example', true, false],
      ['Ann Baker', 'ann@old.example', true, false],
      ['Ann Baker', 'ann@new.example', true, false],
      ['Ann Baker', 'ann@new.example', false, true],
      ['Ann Baker', 'ann@new.example', true, false],
      ['Ann Baker', 'ann@new.example', true, false],
    ],
  )
  expect(await directoryAt('2020-01-01Z')).toBeUndefined()
})

test('a departure sets changed_at, by which an export finds it', async () => {
  const [before] = await check(ANN)
  await check(null)
  const [row] = await ask(
    'select not listed as left, changed_at > $3 as changed from collab.users where organization_id = $1 and user_id = $2',
    [here, ANN.userId, before],
  )
  expect(row).toEqual({ left: true, changed: true })
})

test('neither a first load nor a run over an unchanged service writes a version', async () => {
  await run()
  const stored = `select (select count(*)::int from collab_store.user_versions) as versions,
    (select count(*)::int from collab_store.users where num_nonnulls(version, version_at, change) > 0) as changed`
  expect(await ask(stored)).toEqual([{ versions: 0, changed: 0 }])
  await check(ANN, RENAMED)
  const touched = await rowsTouched(live.database)
  await run()
  expect(await rowsTouched(live.database)).toBe(touched)
  expect(await ask(stored)).toEqual([{ versions: 1, changed: 1 }])
})

test('an author in no listing has versions too, and one who comes into the listing is listed then', async () => {
  const author = (name: string) =>
    addComment(live.world, place, { text: name, from: { userId: 'zoe', name } })
  author('Zoe One')
  const before = await run()
  author('Zoe Two')
  const between = await run()
  live.world.putUser(here, { userId: 'zoe', name: 'Zoe Two', email: 'zoe@x.example' })
  await run()
  expect((await versions('zoe')).map(({ change, name, listed }) => [change, name, listed])).toEqual(
    [
      ['added', 'Zoe One', false],
      ['edited', 'Zoe Two', false],
      ['listed', 'Zoe Two', true],
    ],
  )
  expect(await directoryAt(before, 'zoe')).toMatchObject({ name: 'Zoe One', listed: false })
  expect(await directoryAt(between, 'zoe')).toMatchObject({ name: 'Zoe Two', email: null })
  const [comment] = await ask(
    `select author_name, author_name_then, author_email, author_email_then from reporting.comments
    where comment_text = 'Zoe One'`,
  )
  expect(comment).toEqual({
    author_name: 'Zoe Two',
    author_name_then: 'Zoe One',
    author_email: 'zoe@x.example',
    author_email_then: null,
  })
})

test('the directory of now is that of this moment', async () => {
  live.world.putDocumentUsers(here, place.documentId, [...membersNow(), ANN.userId])
  await check(ANN, RENAMED, null)
  const columns = `organization_id, user_id, name, email, listed, documents, user_groups, document_ids,
    organization_user_group_ids, first_seen_at, left_at`
  const now = await ask(`select ${columns} from reporting.user_directory order by 1, 2`)
  expect(now.length).toBeGreaterThan(8)
  expect(await ask(`select ${columns} from reporting.user_directory_at(now()) order by 1, 2`)).toEqual(now) // prettier-ignore
})

test('what was pruned is not known: the answer says so and is never another one', async () => {
  const members = membersNow()
  live.world.putDocumentUsers(here, place.documentId, [...members, ANN.userId])
  const [first = ''] = await check(ANN)
  live.world.putDocumentUsers(here, place.documentId, members)
  const [second = ''] = await check(RENAMED)
  live.world.putDocumentUsers(here, place.documentId, [...members, ANN.userId])
  const [third = ''] = await check(MOVED)
  const nothing = { name: null, email: null, listed: null, left: false, documents: null }
  expect(await directoryAt(first)).toMatchObject({ name: ANN.name, documents: 1, is_known_then: true }) // prettier-ignore
  const [later, last] = [await directoryAt(second), await directoryAt(third)]
  expect(later).toMatchObject({ name: RENAMED.name, documents: 0, is_known_then: true })
  // The first version and the first stay ended before the second look.
  const before = new Date((await ask<{ at: Date }>('select $1::timestamptz as at', [second]))[0]?.at ?? 0) // prettier-ignore
  expect(await prune(live.database.pool, before)).toMatchObject({ userVersions: 1 })
  expect(await directoryAt(first)).toEqual({ ...nothing, is_known_then: false })
  // Of a stay that was pruned it is not known any more when it ended.
  expect(await directoryAt(second)).toEqual({ ...later, documents: null, is_known_then: false })
  expect(await directoryAt(third)).toEqual(last)
  await prune(live.database.pool, new Date())
  expect(await directoryAt(first)).toEqual({ ...nothing, is_known_then: false })
  expect(await directoryAt(second)).toEqual({ ...nothing, is_known_then: false })
  expect(await directoryAt(third)).toEqual(last)
  expect(await versions()).toHaveLength(1)
})

describe('an erased person', () => {
  const request = { userId: ANN.userId, organizationId: null, reason: 'asked by letter' }

  test('is in no version, whatever they were called; the versions stay, under the pseudonym', async () => {
    const other = { userId: 'bob', name: 'Bob of ann@old.example', email: 'bob@x.example' }
    live.world.putUser(here, other)
    const wilhelmine = { ...ANN, name: 'Wilhelmine Zzyzx', email: 'zzyzx@old.example' }
    const [first = ''] = await check(wilhelmine)
    live.world.putUser(here, { ...other, name: 'Bob' })
    await check({ ...wilhelmine, name: 'Wilhelmine Xylo' }, null, ANN)
    const done = await eraseUser(live.database.pool, request)
    expect(done).toMatchObject({ users: 1, userVersions: 4 })
    for (const [table, text] of await textsOf(live.database))
      expect(text, table).not.toMatch(/Wilhelmine|zzyzx|xylo|ann@old/i)
    expect(
      (await versions(done.pseudonym)).map(({ change, name, email }) => [change, name, email]),
    ).toEqual([
      // prettier-ignore
      ['added', null, null],
      ['edited', null, null],
      ['removed', null, null],
      ['restored', null, null],
    ])
    expect(await directoryAt(first, done.pseudonym)).toMatchObject({ listed: true, name: null })
    const touched = await rowsTouched(live.database)
    await run()
    expect(await rowsTouched(live.database)).toBe(touched)
  })

  test('whom a run has stored under the pseudonym already keeps no version of before', async () => {
    const [first = ''] = await check(ANN, RENAMED)
    const { pseudonym } = await eraseUser(live.database.pool, request)
    await live.database.pool.query(
      `insert into collab_store.users (organization_key, source, listed, first_seen_at, changed_at, digest, user_id, name)
      select organization_key, 3, true, now() - interval '1 year', now(), '', 'ann', 'Ann Able'
      from collab_store.organizations where organization_id = $1`,
      [here],
    )
    await eraseUser(live.database.pool, request)
    expect(await directoryAt(first, pseudonym)).toMatchObject({ listed: true })
    expect(await directoryAt(await longAgo(), pseudonym)).toMatchObject({ is_known_then: false })
  })

  async function longAgo(): Promise<string> {
    return (
      (await ask<{ at: string }>(`select (now() - interval '1 month')::text as at`))[0]?.at ?? ''
    )
  }
})

describe('a policy on addresses', () => {
  test('that drops them leaves none in versions, and makes no version by itself', async () => {
    await check(ANN, MOVED, { ...ANN, email: 'ann@third.example' })
    await run({ PRIVACY_EMAIL: 'drop' })
    const texts = (await textsOf(live.database)).get('collab_store.user_versions') ?? ''
    expect(texts).not.toContain('@')
    expect((await versions()).map(({ change, email }) => [change, email])).toEqual([
      ['added', null],
      ['edited', null],
      ['edited', null],
    ])
    expect(await ask(`select count(*)::int as n from collab.user_versions where change = 'edited' and user_id <> 'ann'`)).toEqual([{ n: 0 }]) // prettier-ignore
    live.world.putUser(here, { ...ANN, name: 'Ann Last', email: 'ann@last.example' })
    await run({ PRIVACY_EMAIL: 'drop' })
    expect((await versions()).map(({ name }) => name)).toEqual(['Ann Able', 'Ann Baker', 'Ann Able', 'Ann Last']) // prettier-ignore
  })

  test('that hashes them keeps hashes only, and a new address makes a version', async () => {
    await run({ PRIVACY_EMAIL: 'keep' })
    live.world.putUser(here, ANN)
    await run({ PRIVACY_EMAIL: 'keep' })
    await run({ PRIVACY_EMAIL: 'hash' })
    expect(await versions()).toHaveLength(1)
    live.world.putUser(here, { ...ANN, email: 'ann@new.example' })
    await run({ PRIVACY_EMAIL: 'hash' })
    const [before, after, ...more] = await versions()
    expect([before?.['email'], after?.['email']]).toEqual([
      expect.stringMatching(/^hmac:/),
      expect.stringMatching(/^hmac:/),
    ])
    expect(more).toEqual([])
    await run({ PRIVACY_EMAIL: 'keep' })
    expect(await versions()).toHaveLength(2)
  })
})

describe('a person who is written', () => {
  let key: number
  beforeEach(async () => {
    await run()
    const rows = await ask<{ key: number }>(
      'select organization_key as key from collab_store.organizations where organization_id = $1',
      [here],
    )
    key = rows[0]?.key ?? 0
  })
  const NO_RUN = '00000000-0000-0000-0000-000000000000'

  async function put(
    client: Client,
    name: string,
    { source = USER_SOURCES.listing, runId = NO_RUN }: { source?: UserSource; runId?: string } = {},
  ): Promise<number> {
    const row = {
      userId: 'new',
      texts: userTexts({ name }),
      digest: Buffer.from(name),
      source,
      sourceAt: null,
      listed: source === USER_SOURCES.listing,
    }
    return putUsers(client, key, [row], new Date(), { emails: 'keep', runId })
  }

  test('by two transactions at a time has the versions of both', async () => {
    let second: Promise<number> = Promise.resolve(0)
    for (const [one, two] of [
      ['One', 'Two'],
      ['Three', 'Four'],
    ] as const) {
      await transaction(live.database.pool, async (client) => {
        expect(await put(client, one)).toBe(1)
        // It waits for this transaction: for the new row at first, for the lock on it then.
        second = transaction(live.database.pool, (other) => put(other, two))
        await until('one waits', async () => (await waiting()) === 1)
      })
      expect(await second).toBe(1)
    }
    expect((await versions('new')).map(({ version, name }) => [version, name])).toEqual([
      [1, 'One'],
      [2, 'Two'],
      [3, 'Three'],
      [4, 'Four'],
    ])
  })

  test('by one run as author, member and listed has one version, and by the next run another', async () => {
    const [{ runId } = { runId: '' }] = await ask<{ runId: string }>(
      `insert into sync.runs (trigger, status, requested_at, started_at)
      values ('cli', 'running', now(), now()) returning run_id as "runId"`,
    )
    const write = (name: string, source: UserSource) =>
      transaction(live.database.pool, (client) => put(client, name, { source, runId }))
    await write('A.', USER_SOURCES.comment)
    await write('Ann', USER_SOURCES.member)
    await write('Ann Able', USER_SOURCES.listing)
    const one = { change: 'added', name: 'Ann Able', listed: true }
    expect(await versions('new')).toEqual([{ version: 1, ...one, email: null, removed: false, current: true }]) // prettier-ignore
    // Two listings in one run: the second saw a change.
    await write('Ann Baker', USER_SOURCES.listing)
    expect(await versions('new')).toMatchObject([one, { change: 'edited', name: 'Ann Baker' }])
  })
})

async function waiting(): Promise<number> {
  const [row] = await ask<{ n: number }>(
    `select count(*)::int as n from pg_locks where not granted and locktype in ('transactionid', 'tuple')`,
  )
  return row?.n ?? 0
}
