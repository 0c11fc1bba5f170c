import { beforeEach, expect, test } from 'vitest'
import { columnOf, COMMENT_PEOPLE } from '../../src/base/columns.ts'
import * as erase from '../../src/core/database/statements/erase.ts'
import * as privacy from '../../src/core/database/statements/privacy.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import { personOf } from '../../src/features/privacy/erase/person.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { expectNoTrace } from './every-text.ts'

/** Each person of a comment has a row as a user, and is erased: none can be forgotten. */

const ID = 'qx-zzyzx-17'
const EVERYWHERE = { organizationId: null, reason: 'asked by letter' }
const OLD = { userId: ID, name: 'Earlier Zzyzx', email: 'earlier@zzyzx.example' }
const MORE = { userId: ID, homeEmail: 'home@zzyzx.example', nickName: 'Zzyzxine' }
const NEW = { userId: ID, name: 'Later Zzyzx', email: 'later@zzyzx.example' }

let live: Live
let place: Place
beforeEach(async () => {
  const world = {
    organizations: 1,
    documentsPerOrganization: 1,
    annotationsPerDocument: 1,
    usersPerOrganization: 2,
    groupsPerOrganization: 1,
  }
  live = await openLoaded('none', { world })
  place = [...places(live.world)][0] as Place
})

/** Serves comments, each with other people than those given. */
function serve(...comments: object[]): void {
  const others = COMMENT_PEOPLE.map(({ person, member }) => [member, otherOf(person)])
  live.world.putThread(place, {
    live: comments.map((each, index) => ({
      commentId: index + 1,
      commentText: 'words',
      lastUpdated: `2026-01-0${index + 1}T00:00:00.000Z`,
      status: 'added',
      ...Object.fromEntries(others),
      ...each,
    })) as Comment[],
    deleted: [],
  })
}

function otherOf(person: string) {
  return { userId: `other-${person}`, name: 'Bob', email: 'bob@x.example' }
}

const raws = async () =>
  (await live.rows('select comment_id::int, raw from collab.comments order by 1')).map(
    ({ raw }) => raw as Comment & Record<string, unknown>,
  )

test.each(COMMENT_PEOPLE)(
  'the $person of a comment is a user, and is erased by all that comments say of them',
  async ({ person, member }) => {
    serve(
      { [member]: OLD },
      { [member]: MORE },
      { [member]: NEW },
      { [member]: { name: NEW.name, email: NEW.email } },
      { [member]: { ...NEW, userId: 'other-5' } },
      { [member]: { userId: 'other-6', name: 'Bob', email: `Bob <${NEW.email}>` } },
      { [member]: { userId: 'other-7', name: NEW.email } },
      {
        commentText: `Ask ${OLD.email} or ${MORE.homeEmail}`,
        task: { id: ID, of: OLD.name, by: MORE.nickName },
      },
    )
    // Each in one column alone.
    for (const user of [
      { userId: 'other-8', name: NEW.email },
      { userId: 'other-9', name: 'Bob', assistant: NEW.email },
    ])
      live.world.putUser(place.organizationId, user)
    await live.run()
    const before = await raws()
    const users = await live.rows(
      `select name, email, listed from collab.users where user_id = $1`,
      ID,
    )
    expect(users).toEqual([{ name: NEW.name, email: NEW.email, listed: false }])

    const { pseudonym } = await eraseUser(live.database.pool, { userId: ID, ...EVERYWHERE })
    await expectNoTrace(live.database, ['zzyzx'])
    const after = await raws()
    expect(after.map(({ task }) => task)).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7].map(() => undefined),
      { id: pseudonym, of: 'erased', by: 'erased' },
    ])
    for (const [index, { commentText, ...raw }] of after.slice(0, 7).entries()) {
      const isTheirs = person === 'author' && index < 4
      expect(commentText).toBe(isTheirs ? undefined : 'words')
      for (const other of COMMENT_PEOPLE)
        if (other.person !== person)
          expect(raw[other.member]).toEqual(before[index]?.[other.member])
    }
    const column = `${columnOf(person)}_user_id`
    const named = await live.rows(
      `select comment_id::int as id from collab.comments where ${column} = $1 order by 1`,
      pseudonym,
    )
    expect(named).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])

    const touched = await rowsTouched(live.database)
    await live.run()
    expect(await rowsTouched(live.database)).toBe(touched)
  },
)

test.each(COMMENT_PEOPLE)(
  'the names that comments and users have beside the address of their $person are erased with the address',
  async ({ member }) => {
    const first = { userId: 'other-7', name: 'First Zzyzx', email: NEW.email }
    const second = { ...first, name: 'Second Zzyzx' }
    live.world.putUser(place.organizationId, first)
    serve(
      { [member]: { name: NEW.name, email: NEW.email } },
      { [member]: { userId: 'other-6', name: OLD.name, email: NEW.email } },
      { task: { at: NEW.email, of: [NEW.name, OLD.name, first.name, second.name] } },
    )
    await live.run()
    live.world.putUser(place.organizationId, second)
    await live.run()
    await eraseUser(live.database.pool, { email: NEW.email, ...EVERYWHERE })
    await expectNoTrace(live.database, ['zzyzx'])
  },
)

test.each([
  ['the user', OLD],
  ['an earlier version of the user', NEW],
])('a name and an address that only %s has are erased', async (_, last) => {
  live.world.putUser(place.organizationId, OLD)
  serve({ commentText: `Ask ${OLD.email}`, task: { id: ID, of: OLD.name } })
  await live.run()
  live.world.putUser(place.organizationId, last)
  await live.run()
  await eraseUser(live.database.pool, { userId: ID, ...EVERYWHERE })
  await expectNoTrace(live.database, ['zzyzx'])
})

test('what a run emptied of an erased author after the registration leaves no words in the history', async () => {
  const from = { name: NEW.name, email: NEW.email }
  // A time that its column cannot give back exactly is in `rest` too.
  const comment = { from, commentText: 'xylograph', lastUpdated: '2026-01-01T00:00:00Z' }
  serve(comment)
  await live.run()
  const { salt } = await privacy.salt.one(live.database.pool)
  const identity = { userId: null, names: [], emails: [NEW.email] }
  await erase.register.one(live.database.pool, {
    ...EVERYWHERE,
    ...personOf(salt, identity),
    lookedFor: JSON.stringify(identity),
  })
  serve({ ...comment, status: 'resolved' })
  await live.run()
  expect((await raws()).map(({ commentText }) => commentText)).toEqual([undefined])
  const done = await eraseUser(live.database.pool, { email: NEW.email, ...EVERYWHERE })
  expect(done).toMatchObject({ isResumed: true, commentVersions: 1 })
  await expectNoTrace(live.database, ['zzyzx', 'xylograph'])
})
