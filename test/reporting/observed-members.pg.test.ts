import { expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { buildCommand } from '../cli/built-command.ts'
import { openLoaded } from '../helpers/live.ts'
import { askPages, wordsOf } from '../pages/open-pages.ts'
import { membersOf, noticed } from './observed.ts'

/** The members of a record as the service sends it, by their paths, with their types. */
function addMembers(found: Map<string, Set<string>>, record: object): void {
  const walk = (value: unknown, path: string) => {
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
    if (path !== '') found.set(path, (found.get(path) ?? new Set()).add(type))
    if (Array.isArray(value)) for (const each of value) walk(each, `${path}[]`)
    else if (type === 'object')
      for (const [name, each] of Object.entries(value as object))
        walk(each, path === '' ? name : `${path}.${name}`)
  }
  walk(record, '')
}

const command = await buildCommand()
// Enough comments for what comes up later to be new.
const live = await openLoaded('none', { world: { commentsPerAnnotation: 9 } })
const { pool } = live.database
const filled = [...places(live.world)].filter(
  (each) => (live.world.comments(each) ?? []).length > 2,
)
const place = filled[0] as Place

/** Makes the service send additional fields in the first comments of a thread. */
function send(...members: object[]): void {
  const comments = live.world.comments(place) ?? []
  live.world.putThread(place, {
    live: comments.map((comment, index) => ({ ...comment, ...members[index] })) as never,
    deleted: [],
  })
}

test('what the service sends is counted by its members, and nothing of a first load is new', async () => {
  await live.run()
  const sent = new Map<string, Set<string>>()
  for (const each of places(live.world))
    for (const comment of live.world.comments(each) ?? []) addMembers(sent, comment)
  const expected = [...sent].map(([path, types]) => [path, [...types].toSorted()])
  const found = [...(await membersOf(pool))].map(([path, { types }]) => [path, types])
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
  const users = await membersOf(pool, 'user')
  expect([...users.keys()]).toEqual(['email', 'isAdmin', 'name', 'photoUrl', 'userId'])
  expect(await noticed(pool)).toEqual([])
  const { rows } = await pool.query(
    `select is_known from collab_store.observed_records where object = 'comment'`,
  )
  expect(rows).toEqual([{ is_known: true }])
})

test('one that the service adds, and one of another type, are noticed when the run ends, once', async () => {
  const notice = async (...members: object[]) => {
    send(...members)
    await live.run()
    return noticed(pool)
  }
  const data = { severity: 3, tags: ['a'], 'odd.name': null }
  expect(await notice({ data })).toEqual(['comment new data object'])
  const members = await membersOf(pool)
  expect(members.get('data.tags')).toMatchObject({ types: ['array'], is_absent: false })
  expect(members.get('data.tags[]')).toMatchObject({ types: ['string'] })
  expect(members.get('data."odd.name"')).toMatchObject({ types: ['null'] })
  // Null is no other type, nor is what follows it.
  const other = { severity: 'high', tags: null, 'odd.name': 1 }
  expect(await notice({ data }, { data: other })).toEqual(['comment type data.severity string'])
  expect(await notice({ data }, { data: other }, { data: { ...data, more: true } })).toEqual([
    'comment new data.more boolean',
  ])
  expect(await notice({ data: other }, { data: { ...other, more: false } })).toEqual([])
  const { rows } = await pool.query(
    `select first_seen_at < last_seen_at as is_seen_again from reporting.observed_members where member in ('data', 'data.more') order by member`,
  )
  expect(rows).toEqual([{ is_seen_again: true }, { is_seen_again: true }])

  const pages = await askPages(await live.openApp())
  const overview = wordsOf(await pages.get('/'))
  const { stdout } = await command.run(['status'], { DATABASE_URL: live.database.url })
  for (const sentence of [
    'comments have a new field "data" (object)',
    'comments have a new field "data.more" (boolean)',
    'the field "data.severity" of comments has a new type (string)',
  ]) {
    expect(overview).toContain(sentence)
    expect(stdout).toContain(sentence)
  }
})

test('a commit is made also where its members cannot be noted', async () => {
  await pool.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise program_limit_exceeded using message = 'too large'; end $$;
    create trigger refuse before insert on collab_store.observed_members for each row execute function refuse()`)
  send({ data: { severity: 1, refused: true } })
  expect(await live.run()).toMatchObject({ status: 'succeeded', comments_written: 1 })
  await pool.query('drop function refuse cascade')
  send({ data: { severity: 2, refused: true } })
  await live.run()
  expect(await noticed(pool)).toEqual(['comment new data.refused boolean'])
})
