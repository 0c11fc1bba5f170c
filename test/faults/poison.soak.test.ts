import { afterEach, beforeEach, expect, test } from 'vitest'
import { edit } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import { expectedComments, expectedUsers } from '../service/expected.ts'
import { poison } from '../service/faults.ts'
import type { Place } from '../../src/demo/layout.ts'
import { POISON_KINDS, poisonRecords } from '../service/poison.ts'
import type { PoisonKind } from '../service/poison.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

/** What is told of each kind in a comment; none where it is sound. */
const REASONS: Partial<Record<PoisonKind, RegExp>> = {
  nul: /commentText holds characters that PostgreSQL cannot hold: comment_text is stored without them/,
  'lone-surrogate': /commentText holds characters .*: comment_text is stored without them/,
  'big-id': /commentId is no integer between/,
  'wrong-types': /commentText is a object, not a string: comment_text was set to null/,
  'unreadable-date': /lastUpdated is no readable time: last_updated was set to null/,
  duplicate: /is in the answer twice, with equal content/,
  'conflicting-duplicate': /is in the answer twice, with different content/,
  'null-record': /null where a comment belongs/,
  'string-record': /a string where a comment belongs/,
}

/** Those of which a whole record is lost. */
const LOST: PoisonKind[] = ['big-id', 'conflicting-duplicate', 'null-record', 'string-record']

let live: Live
let place: Place

beforeEach(async () => {
  live = await openLive('none', {
    world: { organizations: 2, documentsPerOrganization: 2, annotationsPerDocument: 4 },
  })
  await live.importCatalog()
  place = [...places(live.world)].find(
    (each) => (live.world.comments(each)?.length ?? 0) >= 3,
  ) as Place
})
afterEach(() => live?.close())

test('every poison between good records: the good ones are in, the bad ones are told, and all of it adds up', async () => {
  live.standIn.setFaults([poison(...POISON_KINDS)])
  const run = await live.run()
  expect(run).toMatchObject({ status: 'partial', scopes_failed: 0 })
  await expectWorldIn()
  const rows = await rowsOf(
    'select count(*)::int as n from sync.rejected_records where run_id = $1',
    [run.run_id],
  )
  expect(rows).toEqual([{ n: run['rejected'] }])
  expect(Number(run['records_rejected'])).toBeGreaterThan(0)

  const again = await live.run()
  expect(again).toMatchObject({ status: 'partial', records_inserted: 0, records_updated: 0 })
  expect(again['rejected']).toBe(run['rejected'])
  // Each is one row, however often it is met.
  expect(await rowsOf('select count(*)::int as n from sync.rejected_records')).toEqual(rows)

  live.standIn.setFaults([])
  // The service answers null for each of the poison's ids now: that is evidence.
  const poisoned = await rowsOf(
    'select count(*)::int as n from collab.comments where comment_id between 7000000000 and 7000000099',
  )
  const last = await live.run()
  expect(last).toMatchObject({ status: 'succeeded', comments_deleted: poisoned[0]?.['n'] })
  await expectWorldIn()
})

test.each(POISON_KINDS)(
  '%s in one annotation: told with its reason and the text as received',
  async (kind) => {
    live.standIn.setFaults([{ ...poison(kind), match: { operation: 'comments', ...place } }])
    const run = await live.run()
    expect(run.status).toBe(LOST.includes(kind) ? 'partial' : 'succeeded')
    await expectWorldIn()
    const told = await rowsOf('select * from sync.rejected_records')
    const reason = REASONS[kind]
    if (reason === undefined) expect(told).toEqual([])
    else {
      expect(told).toHaveLength(1)
      expect(told[0]).toMatchObject({
        operation: 'comments',
        annotation_id: place.annotationId,
        is_whole: LOST.includes(kind),
      })
      expect(told[0]?.['reason']).toMatch(reason)
      const texts = poisonRecords(kind, 'comments').map(({ text }) => text)
      expect(texts).toContain(told[0]?.['record'])
    }
    const stored = await rowsOf(
      'select comment_id::text as id, comment_text, last_updated from collab.comments where comment_id between 7000000000 and 7000000099',
    )
    const ids = poisonRecords(kind, 'comments').map(({ id }) => id)
    const [id] = ids
    expect(stored.map((row) => row['id'])).toEqual(id === null ? [] : [String(id)])
    if (kind === 'million-characters') {
      expect(stored[0]?.['comment_text']).toBe('long '.repeat(200_000))
    }
    if (kind === 'epoch-ms')
      expect(stored[0]?.['last_updated']).toEqual(new Date(1_700_000_000_123))
  },
)

test('a comment whose record is rejected is not taken for missing, neither in its listing nor when asked by its id', async () => {
  await live.run()
  const [victim] = live.world.comments(place) ?? []
  const id = victim?.commentId ?? 0
  const raw = JSON.stringify({ ...victim, commentId: String(id) })
  const others = (live.world.comments(place) ?? [])
    .slice(1)
    .map((comment) => JSON.stringify(comment))
  live.standIn.setFaults([
    {
      kind: 'custom',
      match: { operation: 'comments', ...place },
      respond: (request, response) => {
        const ids = 'commentIds' in request.data ? (request.data.commentIds ?? []) : null
        const data = ids === null ? [raw, ...others] : ids.map(() => raw)
        response.end(`{"result":{"status":"success","message":"m","data":[${data.join(',')}]}}`)
      },
    },
  ])
  const run = await live.run()
  expect(run).toMatchObject({ status: 'partial', comments_deleted: 0, records_rejected: 1 })
  expect(
    await rowsOf('select count(*)::int as n from collab.comments where deleted_at is not null'),
  ).toEqual([{ n: 0 }])
  expect(await rowsOf('select error_status from sync.failures')).toEqual([
    { error_status: 'answer_does_not_line_up' },
  ])
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  await expectTablesEqual(live.database, live.world)
})

test('a comment that turns bad keeps its row: its readable rest is stored, the reason is told, and it heals', async () => {
  await live.run()
  const [victim] = live.world.comments(place) ?? []
  const id = victim?.commentId ?? 0
  edit(live.world, place, id, { text: 'a NUL \0 inside' })
  expect(await live.run()).toMatchObject({ status: 'succeeded', rejected: 2, records_rejected: 0 })
  const row = async () =>
    (
      await rowsOf(
        'select comment_text, deleted_at from collab.comments where annotation_id = $1 and document_id = $2 and organization_id = $3 and comment_id = $4',
        [place.annotationId, place.documentId, place.organizationId, id],
      )
    )[0]
  expect(await row()).toEqual({ comment_text: 'a NUL  inside', deleted_at: null })
  edit(live.world, place, id, { text: 'whole again' })
  expect(await live.run()).toMatchObject({ status: 'succeeded', rejected: 0 })
  expect(await row()).toEqual({ comment_text: 'whole again', deleted_at: null })
  await expectTablesEqual(live.database, live.world)
})

/** Everything the world serves is stored as it serves it, whatever else is. */
async function expectWorldIn(): Promise<void> {
  const comments = new Map<string, unknown>()
  for (const row of await rowsOf('select * from collab.comments where deleted_at is null')) {
    comments.set(
      JSON.stringify([
        row['organization_id'],
        row['document_id'],
        row['annotation_id'],
        row['comment_id'],
      ]),
      row['raw'],
    )
  }
  for (const each of expectedComments(live.world)) {
    const { organizationId, documentId, annotationId, commentId, comment } = each
    const key = JSON.stringify([organizationId, documentId, annotationId, commentId])
    expect(comments.get(key)).toEqual(comment)
  }
  const users = new Map<string, unknown>()
  for (const row of await rowsOf('select organization_id, user_id, raw from collab.users')) {
    users.set(JSON.stringify([row['organization_id'], row['user_id']]), row['raw'])
  }
  for (const { organizationId, userId, raw } of expectedUsers(live.world)) {
    expect(users.get(JSON.stringify([organizationId, userId]))).toEqual(raw)
  }
}

async function rowsOf(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await live.database.pool.query(text, values)).rows
}
