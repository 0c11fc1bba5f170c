import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { syncBatch } from '../../src/core/sync/batch.ts'
import { finishRun } from '../../src/core/run/finish.ts'
import { createCatalog, scopesOf } from '../fuzz/layout.ts'
import { openProgram } from '../fuzz/place.ts'
import type { Program } from '../fuzz/place.ts'
import { startService } from '../fuzz/service.ts'
import type { Asked, Service } from '../fuzz/service.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { keyOf } from '../worlds/log.ts'

/** What one answer holds may cost the record or the scope that it is about, never a neighbour, and every run ends. */

const LAYOUT = { organizations: 1, documents: 1, annotations: 12, groups: 1 }
const ODD = keyOf({ organizationId: 'o0', documentId: 'd0-0', annotationId: 'a0-0-3' })
const USERS = keyOf({ organizationId: 'o0' })
const MAX_BODY_BYTES = 40_000_000

let database: TestDatabase
let service: Service
let program: Program
let bodies: Map<string, string | Buffer>
let encoding: string | null

beforeEach(async () => {
  service = await startService()
  bodies = new Map()
  encoding = null
  service.answer = (asked) => {
    const isOdd = bodies.has(asked.key) && asked.ids === null
    const bytes = Buffer.from(bodies.get(isOdd ? asked.key : '') ?? soundBody(asked))
    const plain = { httpStatus: 200, isChunked: false, isCut: false }
    return { ...plain, bytes, encoding: isOdd ? encoding : null }
  }
  database = await createCatalog(LAYOUT)
  program = await openProgram(database.url, service.url, {
    SYNC_MAX_BODY_BYTES: `${MAX_BODY_BYTES}`,
  })
})
afterEach(async () => {
  await program?.close()
  await database?.drop()
  await service?.close()
})

describe('a body that is odd', () => {
  test('nested 5,000 and 100,000 levels deep ends as a record without that member', async () => {
    for (const depth of [5_000, 100_000]) {
      const deep = `${'{"x":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`
      bodies.set(ODD, listing(record(1, `,"extra":${deep},"kept":1`), record(2)))
      const run = await program.run()
      expect(await statusOf(run)).toMatchObject({ scopes_failed: 0, rejected: 1 })
      expect(await reasons(run)).toEqual([
        expect.stringMatching(/^extra(\.x|\[0\])+ cannot be stored: left out of raw$/),
      ])
      expect(await oddComments()).toEqual(['text 1', 'text 2'])
      await expectNeighbours()
    }
  })

  test('with one key twice beside a number longer than a double is read as JSON.parse reads it', async () => {
    const twice = ',"big":12345678901234567890,"x":1,"x":{"y":1,"y":98765432109876543210}'
    bodies.set(ODD, listing(record(1, twice)))
    expect(await statusOf(await program.run())).toMatchObject({ status: 'succeeded' })
    expect(await ofOdd("raw->>'big'")).toEqual(['12345678901234567890'])
    expect(await ofOdd("raw->'x'->>'y'")).toEqual(['98765432109876543210'])
    await expectNeighbours()
  })

  test('with data or result twice, by whatever spelling, fails its scope', async () => {
    const sound = `[${record(1)}]`
    for (const body of [
      `{"result":{"status":"success","data":${sound},"data":[${record(2)}]}}`,
      `{"result":{"status":"success","d\\u0061ta":[],"data":${sound}}}`,
      `{"result":{"data":[${record(2)}]},"result":{"status":"success","data":${sound}}}`,
      `{"res\\u0075lt":{"data":[[1]]},"result":{"status":"success","data":${sound}}}`,
    ]) {
      bodies.set(ODD, body)
      const run = await program.run()
      expect(await failures(run)).toEqual([
        { annotation_id: 'a0-0-3', error_status: 'body_ambiguous' },
      ])
      expect(await oddComments()).toEqual([])
    }
    await expectNeighbours()
  })

  test('of more records than may be rejected fails its scope, and so does one of more than are read', async () => {
    bodies.set(ODD, listing(...Array.from({ length: 10_001 }, () => 'null')))
    const first = await program.run()
    expect(await failures(first)).toMatchObject([{ error_status: 'too_many_rejected' }])
    bodies.set(ODD, `{"result":{"data":[${'0,'.repeat(1_000_000)}0]}}`)
    const second = await program.run()
    expect(await failures(second)).toMatchObject([{ error_status: 'too_many_records' }])
    bodies.set(ODD, listing(record(1), ...Array.from({ length: 10_000 }, () => 'null')))
    const third = await program.run()
    expect(await failures(third)).toEqual([])
    expect(await oddComments()).toEqual(['text 1'])
    await expectNeighbours()
  })
})

describe('a record beyond a limit', () => {
  test('a user id longer than 2,000 bytes is rejected, in a listing and as an author, and nobody leaves for it', async () => {
    const user = (id: string) => `{"userId":"${id}","name":"N"}`
    const [longest, longer] = ['ü'.repeat(1000), `${'ü'.repeat(1000)}x`]
    bodies.set(USERS, listing(user('u1'), user('u2'), user(longest)))
    await program.run()
    bodies.set(
      USERS,
      listing(user('u1'), user('u2'), user(longest), user(longer), user('x'.repeat(5000))),
    )
    bodies.set(
      ODD,
      listing(record(1, `,"from":${user(longer)}`), record(2, `,"from":${user(longest)}`)),
    )
    const run = await program.run()
    expect(await statusOf(run)).toMatchObject({ scopes_failed: 0, scopes_held: 0 })
    expect(await reasons(run)).toEqual([
      'from: userId is longer than 2,000 bytes: author_user_id was set to null',
      'userId is longer than 2,000 bytes',
      'userId is longer than 2,000 bytes',
    ])
    const rows = await ask('select user_id from collab.users where listed')
    expect(rows.map(({ user_id: id }) => id).sort()).toEqual(['u1', 'u2', longest])
    expect(await ofOdd('author_user_id')).toEqual([null, longest])
  })

  test('a comment of 1.4 MB with distinct words is stored', async () => {
    const words = Array.from({ length: 200_000 }, (_, n) => `w${n.toString(36)}`).join(' ')
    bodies.set(ODD, listing(record(1, `,"commentText":"${words}"`), record(2)))
    expect(await statusOf(await program.run())).toMatchObject({ status: 'succeeded' })
    expect(await oddComments()).toEqual([words, 'text 2'])
    await expectNeighbours()
  })

  test('of more than 16,000,000 characters is rejected, one at the limit is stored', async () => {
    const filled = (id: number, length: number) => {
      const empty = record(id, ',"commentText":""')
      return record(id, `,"commentText":"${'x'.repeat(length - empty.length)}"`)
    }
    bodies.set(ODD, listing(filled(1, 16_000_000), filled(2, 16_000_001), record(3)))
    const run = await program.run()
    expect(await reasons(run)).toEqual(['the record is longer than 16,000,000 characters'])
    expect(await ofOdd('comment_id')).toEqual([1, 3])
    const kept = 'select max(length(record)) as length from sync.rejected_records'
    expect(await ask(kept)).toEqual([{ length: 16_000_000 }])
  })

  test('of more than 20 members that cannot be stored is stored without them, and told once', async () => {
    const members = (count: number) =>
      Array.from({ length: count }, (_, n) => `,"m${n}":1e9999`).join('')
    bodies.set(ODD, listing(record(1, members(20)), record(2, members(21)), record(3)))
    const run = await program.run()
    expect(await statusOf(run)).toMatchObject({ rejected: 21, records_rejected: 0 })
    expect(await reasons(run)).toContain('21 members cannot be stored as received')
    expect(await oddComments()).toEqual(['text 1', 'text 2', 'text 3'])
  })
})

test('a NUL that comes into a text, and goes, makes no version and is reported', async () => {
  const nul = JSON.stringify({ commentId: 3, commentText: 'a\0b', status: 'added', note: 'c\0d' })
  const plain = nul.replaceAll('\\u0000', '')
  for (const [item, rejected] of [
    [plain, 0],
    [nul, 2],
    [plain, 0],
  ] as const) {
    bodies.set(ODD, listing(item))
    expect(await statusOf(await program.run())).toMatchObject({ status: 'succeeded', rejected })
    const rows = await ask(
      `select c.comment_text, raw->>'note' as note, version from collab.comments c
      join collab.comment_versions using (annotation_id, comment_id) where annotation_id = 'a0-0-3'`,
    )
    expect(rows).toEqual([{ comment_text: 'ab', note: 'cd', version: 1 }])
  }
})

describe('what no limit knows', () => {
  test('a record that PostgreSQL refuses is found, rejected and costs no neighbour, among new threads and known ones', async () => {
    // Whatever a later version of PostgreSQL, or an administrator, may refuse.
    await ask(
      `alter table collab_store.comments add constraint refused check (comment_text <> 'text 13')`,
    )
    const records = Array.from({ length: 40 }, (_, n) => record(n))
    bodies.set(ODD, listing(...records))
    const first = await program.run()
    expect(await statusOf(first)).toMatchObject({ scopes_failed: 0, rejected: 1 })
    expect(await reasons(first)).toEqual(['could not be processed: PostgreSQL refused it (23514)'])
    const kept = 'select record from sync.rejected_records'
    expect(await ask(kept)).toEqual([{ record: records[13] }])
    expect(await oddComments()).toHaveLength(39)
    await expectNeighbours()
    // Its batches had several commits each, and no call counts in two of them.
    const [counted] = await ask(
      'select sum(i.calls) = max(r.calls) as equal from sync.runs r join sync.run_items i using (run_id) where run_id = $1',
      first,
    )
    expect(counted).toEqual({ equal: true })

    bodies.set(ODD, listing(...records, record(41), record(42, ',"commentText":"text 13"')))
    const second = await program.run()
    expect(await statusOf(second)).toMatchObject({ scopes_failed: 0, records_rejected: 2 })
    expect(await oddComments()).toHaveLength(40)
    const deleted = 'select from collab.comments where deleted_at is not null'
    expect(await ask(deleted)).toEqual([])
  })

  test('a bug of the program that a response triggers fails its scope, or costs one record', async () => {
    const { collabApi, observed } = program.app.sync
    const get = collabApi.get.bind(collabApi)
    const fault = () => {
      throw new TypeError('thrown by the test')
    }
    let faults = Infinity
    vi.spyOn(collabApi, 'get').mockImplementation(async (operation, filter, call) => {
      const answer = await get(operation, filter, call)
      const isOdd =
        'annotationId' in filter && filter.annotationId === 'a0-0-3' && (faults -= 1) >= 0
      return isOdd ? Object.defineProperty({ ...answer }, 'data', { get: fault }) : answer
    })
    const failed = { annotation_id: 'a0-0-3', error_status: 'could_not_be_processed' }
    expect(await failures(await program.run())).toEqual([failed])
    await expectNeighbours()
    faults = 1
    expect(await statusOf(await program.run())).toMatchObject({ status: 'succeeded' })
    expect(await oddComments()).toEqual(['text 1', 'text 2'])

    const see = observed.see.bind(observed)
    vi.spyOn(observed, 'see').mockImplementation((object, seen) =>
      JSON.stringify(seen).includes('odd') ? fault() : see(object, seen),
    )
    bodies.set(ODD, listing(record(1), record(2), record(3, ',"x":"odd"'), record(4)))
    const run = await program.run()
    expect(await statusOf(run)).toMatchObject({ scopes_failed: 0, rejected: 1 })
    expect(await reasons(run)).toEqual(['could not be processed: TypeError'])
    expect(await oddComments()).toEqual(['text 1', 'text 2', 'text 4'])
  })

  test('a user whom PostgreSQL refuses is rejected and does not leave', async () => {
    const users = ['u1', 'u2', 'u3'].map((id) => `{"userId":"${id}","name":"N"}`)
    bodies.set(USERS, listing(...users))
    await program.run()
    await ask("alter table collab_store.users add constraint refused check (name <> 'odd')")
    bodies.set(USERS, listing(...users.slice(1), '{"userId":"u1","name":"odd"}', '{"userId":"u4"}'))
    const run = await program.run()
    expect(await statusOf(run)).toMatchObject({
      scopes_failed: 0,
      scopes_held: 0,
      records_rejected: 1,
    })
    const listed = await ask('select user_id, name from collab.users where listed order by 1')
    const names = listed.map(({ user_id: id, name }) => [id, name])
    expect(Object.fromEntries(names)).toEqual({ u1: 'N', u2: 'N', u3: 'N', u4: null })
    // The one without an ID may be u4, who is missing.
    bodies.set(USERS, listing(...users, '{"name":"N"}'))
    expect(await statusOf(await program.run())).toMatchObject({ scopes_failed: 0, scopes_held: 1 })
  })

  test('an item that a listing of the same users has as well is rejected each night', async () => {
    const users = ['u1', 'u2', 'u3'].map((id) => `{"userId":"${id}"}`)
    for (const [items, rejected] of [
      [users, 0],
      [[...users, '7'], 1],
      [[...users, '7'], 1],
    ] as const) {
      bodies.set(USERS, listing(...items))
      expect(await statusOf(await program.run())).toMatchObject({ records_rejected: rejected })
    }
  })

  test('an item that is tried in vain again and again is given up, though calls were counted for it', async () => {
    await ask(`create function sync.no_table() returns trigger language plpgsql as $$
      begin raise undefined_table; end $$;
      create trigger no_table before insert on sync.rejected_records execute function sync.no_table()`)
    bodies.set(ODD, listing(record(1), 'null'))
    const run = await program.run()
    expect(await statusOf(run)).toMatchObject({ status: 'partial', scopes_failed: 12 })
    expect((await failures(run))[0]).toMatchObject({ error_status: 'worker_died' })
  })

  test('an item that an older version delivered without end comes to its end', async () => {
    await ask(`insert into sync.runs (status, trigger) values ('running', 'schedule')`)
    await ask(`insert into sync.run_items (run_id, kind, organization_key, batch_key, scopes_planned, attempts)
      select run_id, 'sync-batch', organization_key, batch_key, 12, 0 from sync.runs, collab_store.batches
      where operation = 'comments'`)
    bodies.set(ODD, listing(record(1, `,"extra":${'['.repeat(5_000)}${']'.repeat(5_000)}`)))
    const [{ run_id: runId, item_id: itemId }] = await ask(
      'select run_id, item_id from sync.run_items',
    )
    await syncBatch(program.app.sync, { runId, itemId })
    await finishRun(program.app.sync, runId)
    expect(await statusOf(runId)).toMatchObject({ scopes_failed: 0, scopes_succeeded: 12 })
    await expectNeighbours()
  })
})

test('an encoded body that decodes to more than may be is refused; a damaged one, and one by an unknown encoding, is unreadable', async () => {
  const cases = [
    ['gzip', gzipSync(Buffer.alloc(MAX_BODY_BYTES + 1)), 'body_too_large'],
    ['gzip', gzipSync(Buffer.from(listing(record(1)))).subarray(0, 40), 'body_unreadable'],
    ['zebra', Buffer.from(listing(record(1))), 'body_unreadable'],
    ['gzip, br', brotliCompressSync(gzipSync(listing(record(1)))), 'body_unreadable'],
  ] as const
  for (const [name, body, expected] of cases) {
    encoding = name
    bodies.set(ODD, body)
    const run = await program.run()
    expect(await failures(run)).toEqual([{ annotation_id: 'a0-0-3', error_status: expected }])
  }
})
function record(id: number, further = ''): string {
  return `{"commentId":${id},"commentText":"text ${id}","status":"added"${further}}`
}

function listing(...records: string[]): string {
  return `{"result":{"status":"success","message":"ok","data":[${records.join()}]}}`
}

function soundBody({ key, ids }: Asked): string {
  if (ids !== null) return listing(...ids.map(() => 'null'))
  const [, , annotationId] = JSON.parse(key)
  return annotationId === null ? listing('{"userId":"u1"}') : listing(record(1), record(2))
}

const ask: TestDatabase['rows'] = (...of) => database.rows(...of)

async function statusOf(runId: string) {
  const [run] = await ask('select * from sync.runs where run_id = $1', runId)
  return run
}

async function reasons(runId: string): Promise<string[]> {
  const rows = await ask('select reason from sync.rejected_records where run_id = $1', runId)
  return rows.map(({ reason }) => reason as string).sort()
}

function failures(runId: string) {
  const ids = 'select annotation_id, error_status from sync.failures where run_id = $1 order by 1'
  return ask(ids, runId)
}

/** A column or an expression for each comment of the odd annotation. */
async function ofOdd(expression: string): Promise<unknown[]> {
  const rows = await ask(
    `select ${expression} as it from collab.comments
    where annotation_id = 'a0-0-3' and deleted_at is null order by comment_id`,
  )
  return rows.map(({ it }) => it)
}
const oddComments = () => ofOdd('comment_text')

/** Every other annotation holds what the service answered. */
async function expectNeighbours(): Promise<void> {
  const rows = await ask(
    "select annotation_id, count(*)::int as n from collab.comments where annotation_id <> 'a0-0-3' group by 1 order by 1",
  )
  const others = [...scopesOf(LAYOUT)].flatMap(({ annotationId }) =>
    annotationId === null || annotationId === 'a0-0-3' ? [] : [annotationId],
  )
  expect(rows).toEqual(others.sort().map((annotation_id) => ({ annotation_id, n: 2 })))
}
