import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/pool.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand } from '../cli/built-command.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { askPages, wordsOf } from '../pages/ask-pages.ts'
import { membersOf, noticed, observe } from './observed.ts'
import type { Member } from './observed.ts'

/** Counts the members of a record as the service sends it, by their paths. */
function countMembers(counts: Map<string, Member>, record: object): void {
  const seen = new Map<string, Set<string>>()
  const walk = (value: unknown, path: string) => {
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
    if (path !== '') seen.set(path, (seen.get(path) ?? new Set()).add(type))
    if (Array.isArray(value)) for (const each of value) walk(each, `${path}[]`)
    else if (type === 'object')
      for (const [name, each] of Object.entries(value as object))
        walk(each, path === '' ? name : `${path}.${name}`)
  }
  walk(record, '')
  for (const [path, types] of seen) {
    const { types: before, records } = counts.get(path) ?? { types: [], records: 0 }
    counts.set(path, {
      types: [...new Set([...before, ...types])].toSorted(),
      records: records + 1,
    })
  }
}

let live: Live
let pool: Database
let place: Place
let command: BuiltCommand
beforeAll(async () => {
  command = await buildCommand()
  // Enough comments for what comes up later to be new.
  live = await openLive('none', { world: { commentsPerAnnotation: 9 } })
  ;({ pool } = live.database)
  await live.importCatalog()
  const filled = [...places(live.world)].filter(
    (each) => (live.world.comments(each) ?? []).length > 2,
  )
  place = filled[0] as Place
})
afterAll(async () => {
  await live.close()
  await command.remove()
})

/** Has the service send the first comments of a thread with further members. */
function send(...members: object[]): void {
  const comments = live.world.comments(place) ?? []
  live.world.putThread(place, {
    live: comments.map((comment, index) => ({ ...comment, ...members[index] })) as never,
    deleted: [],
  })
}

test('what the service sends is counted by its members, and nothing of a first look is new', async () => {
  await live.run()
  await observe(pool)
  const counts = new Map<string, Member>()
  for (const each of places(live.world))
    for (const comment of live.world.comments(each) ?? []) countMembers(counts, comment)
  const found = [...(await membersOf(pool))].map(([path, { types, records }]) => [
    path,
    { types, records },
  ])
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(counts))
  const users = await membersOf(pool, 'user')
  expect([...users.keys()]).toEqual(['email', 'isAdmin', 'name', 'photoUrl', 'userId'])
  const { rows } = await pool.query('select count(*)::int as n from collab.users')
  // An author whom a listing names afterwards changed twice.
  expect(users.get('userId')?.records).toBeGreaterThanOrEqual(rows[0].n)
  expect(await noticed(pool)).toEqual([])
})

test('one that the service adds, and one of another type, are noticed when the run ends, once', async () => {
  const notice = async (...members: object[]) => {
    send(...members)
    await live.run()
    await observe(pool)
    return noticed(pool)
  }
  const data = { severity: 3, tags: ['a'], 'odd.name': null }
  expect(await notice({ data })).toEqual(['comment new data object'])
  const members = await membersOf(pool)
  expect(members.get('data.tags')).toEqual({ types: ['array'], records: 1, is_absent: false })
  expect(members.get('data.tags[]')).toMatchObject({ types: ['string'] })
  expect(members.get('data."odd.name"')).toMatchObject({ types: ['null'] })
  // Null is no other type, nor is what follows it.
  const other = { severity: 'high', tags: null, 'odd.name': 1 }
  expect(await notice({ data }, { data: other })).toEqual(['comment type data.severity string'])
  expect(await notice({ data }, { data: other }, { data: { ...data, more: true } })).toEqual([
    'comment new data.more boolean',
  ])
  expect(await notice({ data: other }, { data: { ...other, more: false } })).toEqual([])

  const pages = await askPages(await live.openApp())
  const overview = wordsOf(await pages.get('/'))
  await pages.close()
  const { stdout } = await command.run(['status'], { DATABASE_URL: live.database.url })
  for (const sentence of [
    'comments have a new member "data" (object)',
    'comments have a new member "data.more" (boolean)',
    'the member "data.severity" of comments has a type that it never had (string)',
  ]) {
    expect(overview).toContain(sentence)
    expect(stdout).toContain(sentence)
  }
})

test('a run is settled also where nothing can be looked through', async () => {
  const rename = (from: string, to: string) =>
    pool.query(`alter function collab_store.${from}(integer) rename to ${to}`)
  await rename('observe_page', 'gone')
  try {
    expect(await live.run()).toMatchObject({ status: 'succeeded' })
  } finally {
    await rename('gone', 'observe_page')
  }
})
