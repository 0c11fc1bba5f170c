import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../src/core/database/pool.ts'
import { addComment } from '../../src/demo/changes.ts'
import { sendJson } from '../../src/demo/stand-in.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { User } from '../../src/demo/people.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { UsageError } from '../../src/base/errors.ts'
import { rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { amend, expectNoTrace as expectNone, textsOf } from './every-text.ts'

const PERSON: User = {
  userId: 'qx-zzyzx-17',
  name: 'Wilhelmine Zzyzx',
  email: 'W.Zzyzx@unlisted.example',
}
const ADDRESS = 'W.Zzyzx@unlisted.example'
const WAYS = [
  ADDRESS,
  ADDRESS.toUpperCase(),
  encodeURIComponent(ADDRESS),
  ADDRESS.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`),
]
const REQUEST = { userId: PERSON.userId, organizationId: null, reason: 'asked by letter' }

let live: Live
const rows: Live['rows'] = (...of) => live.rows(...of)
let here: string
let place: Place
beforeEach(async () => {
  live = await openLoaded('none')
  ;[here] = [...live.world.organizationIds()] as [string]
  const documentId = [...live.world.documentIds(here)][0] ?? ''
  const annotationId = [...live.world.annotationIds(here, documentId)][0] ?? ''
  place = { organizationId: here, documentId, annotationId }
})

/** A comment of somebody else with members that the service does not document. */
function say(members: Record<string, unknown>): number {
  const commentId = addComment(live.world, place, { text: 'x' })
  amend(live.world, place, commentId, members)
  return commentId
}

function refusing(status: string): string {
  return JSON.stringify({
    error: { message: `No user <${ADDRESS}> at /users/${PERSON.userId}`, status },
  })
}

const expectNoTrace = (traces = [ADDRESS, PERSON.userId]) => expectNone(live.database, traces)

test('in others’ records every address, id and name of the person goes, and no sync brings it back', async () => {
  const { world } = live
  world.putUser(here, PERSON)
  addComment(world, place, { text: 'mine', from: PERSON })
  for (const way of WAYS) {
    say({
      commentText: `Ask ${way} or https://x.example/?to=${way}`,
      commentHtml: `<a href="mailto:${way}">x</a>`,
      notifyEmails: [way, 'other@y.example'],
      assigneeEmail: way,
      assigneeName: PERSON.name,
      link: `https://x.example/users/${PERSON.userId}?mail=${way}`,
      readBy: { [PERSON.userId]: true, [way]: true },
      taggedUserContacts: [{ text: `@${PERSON.name}`, contact: { ...PERSON, email: way } }],
    })
  }
  const words = say({ commentText: `Thank ${PERSON.name}, 42 times` })
  say({ commentText: 'x', lastUpdated: `${ADDRESS} \0` })
  live.standIn.setFaults([
    {
      kind: 'custom',
      match: { operation: 'users' },
      times: 6,
      respond: (_request, response) => sendJson(response, 404, refusing('ODD')),
    },
  ])
  await live.run()
  live.standIn.setFaults([])
  await live.run()
  expect(
    await rows('select from sync.failures where error_message like $1', `%${ADDRESS}%`),
  ).not.toHaveLength(0)
  await live.database.pool.query('analyze')

  const done = await eraseUser(live.database.pool, { ...REQUEST, reason: `asked by ${ADDRESS}` })
  expect(done).toMatchObject({ users: 1, comments: 1, mentionsLeft: 1, isResumed: false })
  // And the one whose lastUpdated is stored without its NUL.
  expect(done.mentionsInRecords).toBe(WAYS.length + 1)
  expect(done.rejectedRecords).toBeGreaterThan(0)
  expect(done.messages).toBeGreaterThan(0)
  await expectNoTrace()
  const touched = await rowsTouched(live.database)
  await live.run()
  expect(await rowsTouched(live.database)).toBe(touched)
  await expectNoTrace()
  expect(
    await rows(`select comment_id::int from collab.comments where raw::text like '%Zzyzx%'`),
  ).toEqual([{ comment_id: words }])
  expect(
    await rows(
      `select count(*)::int as n from collab.comments where raw -> 'notifyEmails' ->> 1 = 'other@y.example'`,
    ),
  ).toEqual([{ n: WAYS.length }])

  live.standIn.setFaults([
    {
      kind: 'custom',
      match: { operation: 'users' },
      respond: (_request, response) => sendJson(response, 404, refusing(ADDRESS)),
    },
  ])
  await live.run()
  await expectNoTrace()
})

test('every column that can hold text is looked through, also one of a later migration', async () => {
  const { world, database } = live
  world.putUser(here, PERSON)
  await live.run()
  const { pool } = database
  await pool.query('alter table sync.failures add column note varchar')
  await pool.query('create table sync.later (later_id int primary key, a text[], b jsonb, c json)')
  await pool.query(`insert into sync.later values (1, '{a}', '{}', '{}')`)
  const [run] = await rows('select run_id from sync.runs')
  const id = run?.['run_id']
  await pool.query(
    `insert into sync.failures (run_id, attempts, operation, error_message) values ($1, 1, 'x', 'x')`,
    [id],
  )
  await pool.query(
    `insert into sync.rejected_records (run_id, operation, reason, record, is_whole, digest) values ($1, 'x', 'x', 'x', true, 'x')`,
    [id],
  )
  await pool.query(
    `insert into sync.observed_errors (http_status, operation, error_status, sample) values (1, 'x', 'x', 'x')`,
  )
  await pool.query(
    `insert into sync.held (run_id, batch_key, scope_key, users_before, operation, kind, content_digest, organization_id, missing_user_ids)
    values ($1, 1, 1, 1, 'users', 'document', '', $2, '{a}')`,
    [id, here],
  )
  await pool.query(
    `with n as (insert into sync.notifications (thing, kind, facts) values ('x', 'x', '{}') returning notification_id)
    insert into sync.notification_deliveries (notification_id, receiver) select notification_id, 'x' from n`,
  )
  await pool.query(
    `insert into sync.schedule (cron, time_zone, removed) values ('x', 'UTC', false) on conflict do nothing`,
  )
  await pool.query(
    `insert into collab_store.comment_versions (comment_id, valid_from, valid_to, annotation_key, version, change)
    select comment_id, now(), now(), annotation_key, 99, 'edited' from collab_store.comments limit 1`,
  )
  const columns = await rows(
    `select format('%I.%I', table_schema, table_name) as name, quote_ident(column_name) as column, data_type as type
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema in ('collab_store', 'sync', 'collab_sync', 'bullmq') and table_type = 'BASE TABLE' and is_generated = 'NEVER'
      and data_type in ('text', 'character varying', 'jsonb', 'json', 'ARRAY') and udt_name not in ('_int2', '_int4', '_int8', '_uuid')
      and column_name not in ('organization_id', 'document_id', 'annotation_id', 'organization_user_group_id', 'worker_id')
      and (table_name, column_name) not in (('erasures', 'pseudonym'), ('erasures', 'email_hashes'), ('erasures', 'name_hashes'), ('erasures', 'identity'))`,
  )
  let filled = 0
  const refused: unknown[] = []
  for (const [index, { name, column, type }] of columns.entries()) {
    const way = WAYS[index % WAYS.length] as string
    const isWhole = String(column).endsWith('user_id')
    const value = isWhole ? ADDRESS : `to ${way}, please`
    const json = JSON.stringify({ a: [{ to: value }] })
    const what = type === 'ARRAY' ? [value] : /json/.test(String(type)) ? json : value
    try {
      const { rowCount } = await pool.query(
        `update ${name} set ${column} = $1 where ctid = (select ctid from ${name} limit 1)`,
        [what],
      )
      filled += rowCount ?? 0
    } catch (error) {
      // Words of ours that a CHECK lists, references to other tables, and names of time zones.
      refused.push([(error as { code?: string }).code, name, column])
    }
  }
  expect(
    refused.filter((each) => !['23514', '23503', '22023'].includes((each as string[])[0] ?? '')),
  ).toEqual([])
  expect(filled).toBeGreaterThan(50)
  expect([...(await textsOf(live.database)).values()].join()).toContain(ADDRESS)
  await eraseUser(pool, { email: ADDRESS.toLowerCase(), organizationId: null, reason: 'a letter' })
  await expectNoTrace([ADDRESS])
})

test('a person without an id is erased by the address; others stay whole', async () => {
  const nobody = { name: 'Nemo Nobody', email: 'nemo@nowhere.example' }
  say({ commentText: 'nemo wrote', from: nobody })
  say({ reviewer: { email: 'NEMO@nowhere.example', name: 'Nemo Nobody' }, note: 'kept' })
  await live.run()
  const others = async () =>
    (await rows(`select (to_jsonb(c) - 'checked_at')::text as row from collab.comments c`)).map(
      ({ row }) => row,
    )
  const before = (await others()).filter((row) => !/nemo/i.test(String(row)))
  const request = { organizationId: null, reason: 'a letter' }
  const done = await eraseUser(live.database.pool, { ...request, email: 'Nemo@nowhere.example' })
  expect(done).toMatchObject({ comments: 1, mentionsInRecords: 1, users: 0 })
  await live.run()
  await expectNoTrace(['nemo'])
  const after = new Set(await others())
  expect(before.filter((row) => !after.has(row))).toEqual([])
  expect(
    await rows(`select raw ->> 'reviewer' as who from collab.comments where raw ? 'note'`),
  ).toEqual([{ who: '{}' }])
  for (const email of ['nemo', 'a b@c', '', '@x.example']) {
    await expect(eraseUser(live.database.pool, { ...request, email })).rejects.toThrow(UsageError)
  }
  await expect(
    eraseUser(live.database.pool, { ...request, email: 'nobody@nowhere.example' }),
  ).rejects.toThrow('so nothing was erased')
})

test('an erasure that was interrupted goes on when it is repeated, also for addresses it had emptied already', async () => {
  live.world.putUser(here, PERSON)
  addComment(live.world, place, { text: 'xylograph', from: PERSON })
  say({ commentText: 'xylograph', from: { email: ADDRESS } })
  const last = say({ notifyEmails: [ADDRESS.toUpperCase()] })
  await live.run()
  const { pool } = live.database
  const holder = await pool.connect()
  const erasing = openDatabase(live.database.url, { applicationName: 'erase of the test' })
  try {
    await holder.query('begin')
    await holder.query('select from collab_store.comments where comment_id = $1 for update', [last])
    const failed = expect(eraseUser(erasing, REQUEST)).rejects.toThrow()
    await expect
      .poll(async () => {
        const { rowCount } = await pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name like 'collab-sync erase of the test%' and wait_event_type = 'Lock'`,
        )
        return rowCount
      })
      .toBe(1)
    await failed
    await holder.query('rollback')
  } finally {
    holder.release()
    await erasing.end()
  }
  expect(
    await rows('select finished_at, identity ->> $1 as id from sync.erasures', 'userId'),
  ).toEqual([{ finished_at: null, id: PERSON.userId }])
  await live.run()
  expect(await rows('select from collab.users where user_id = $1', PERSON.userId)).toEqual([])
  const done = await eraseUser(pool, REQUEST)
  expect(done.isResumed).toBe(true)
  expect(await rows('select count(*)::int as n from sync.erasures')).toEqual([{ n: 1 }])
  await expectNoTrace([ADDRESS, PERSON.userId, 'xylograph'])
  await expect(eraseUser(pool, REQUEST)).rejects.toThrow('so nothing was erased')
})

test('runs go on beside erasures, and what they write holds nothing of the person', async () => {
  const people = Array.from({ length: 4 }, (_, n) => ({
    userId: `qx-zzyzx-${n}`,
    name: `Wilhelmine Zzyzx ${n}`,
    email: `w${n}.zzyzx@unlisted.example`,
  }))
  for (const organizationId of live.world.organizationIds()) {
    for (const person of people) live.world.putUser(organizationId, person)
    for (const documentId of live.world.documentIds(organizationId)) {
      live.world.putDocumentUsers(
        organizationId,
        documentId,
        people.map(({ userId }) => userId),
      )
      for (const annotationId of live.world.annotationIds(organizationId, documentId)) {
        for (const from of people) {
          const text = people.map(({ email }) => email).join(' ')
          addComment(live.world, { organizationId, documentId, annotationId }, { text, from })
        }
      }
    }
  }
  await live.run()
  let isOver = false
  const erasing = (async () => {
    for (const { userId } of people) {
      await sleep(300)
      await eraseUser(live.database.pool, { ...REQUEST, userId })
    }
    isOver = true
  })()
  const statuses: unknown[] = []
  while (!isOver) {
    for (const { userId } of people) {
      const text = `/users/${userId} ${people.map(({ email }) => encodeURIComponent(email)).join(' ')}`
      addComment(live.world, place, { text, from: people[statuses.length % 4] as User })
    }
    statuses.push((await live.run()).status)
  }
  await erasing
  statuses.push((await live.run()).status)
  expect(new Set(statuses)).toEqual(new Set(['succeeded']))
  await expectNoTrace(people.flatMap(({ userId, email }) => [userId, email]))
  expect(
    await rows('select deadlocks::int from pg_stat_database where datname = current_database()'),
  ).toEqual([{ deadlocks: 0 }])
  const [members] = await rows(`select count(*)::int as n, count(distinct user_id)::int as users
    from collab.document_users where removed_at is null and user_id like 'erased:%'`)
  const documents = [...live.world.organizationIds()].flatMap((each) => [
    ...live.world.documentIds(each),
  ])
  expect(members).toEqual({ n: documents.length * 4, users: 4 })
})
