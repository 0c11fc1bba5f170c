import { describe, expect, test } from 'vitest'
import { commentColumns, userColumns } from '../helpers/columns.ts'
import { readAnswer } from '../../src/core/service/answer.ts'
import { COMMENTS } from '../../src/core/sync/record/comment.ts'
import { readItems } from '../helpers/records.ts'

const GOOD = {
  commentId: 5,
  commentText: 'Hello',
  commentHtml: '<p>Hello</p>',
  from: { userId: 'u1', name: 'Ann', email: 'ann@example.com' },
  lastUpdated: '2026-01-02T03:04:05.678Z',
  status: 'added',
  type: 'text',
}

/** Reads one comment from the text of an answer, as the wire brings it. */
function read(itemText: string) {
  const answer = readAnswer(
    {
      httpStatus: 200,
      retryAfterMs: null,
      body: Buffer.from(`{"result":{"status":"success","message":"","data":[ ${itemText} ]}}`),
    },
    {
      operation: 'comments',
      filter: { organizationId: 'o', documentId: 'd', annotationId: 'a' },
      secrets: [],
    },
  )
  if (answer.status !== 'data') throw new Error('no data')
  const { byId, rejects } = readItems(COMMENTS, answer)
  const [record = null] = byId.values()
  return { record, rejects, reasons: rejects.map(({ reason }) => reason) }
}

const text = (change: object) => JSON.stringify({ ...GOOD, ...change })

describe('a comment as documented', () => {
  test('fills the columns and leaves nothing in rest', () => {
    const { record } = read(text({}))
    expect({ ...record, ...commentColumns(record) }).toMatchObject({
      commentId: 5,
      commentText: 'Hello',
      authorUserId: 'u1',
      lastUpdated: GOOD.lastUpdated,
      rest: null,
    })
  })

  test('has the same digest whatever the order of its members', () => {
    const reversed = JSON.stringify(Object.fromEntries(Object.entries(GOOD).reverse()))
    expect(read(reversed).record?.digest).toEqual(read(text({})).record?.digest)
  })

  test('keeps unknown members in rest, and they count for the digest whatever their order', () => {
    const a = read(text({ reactions: { up: 1, down: 2 } })).record
    const b = read(text({ reactions: { down: 2, up: 1 } })).record
    expect(JSON.parse(commentColumns(a).rest ?? '')).toEqual({ reactions: { up: 1, down: 2 } })
    expect(a?.digest).toEqual(b?.digest)
    expect(a?.digest).not.toEqual(read(text({})).record?.digest)
  })

  test('has another digest when the last digit of a number changes that no double can hold', () => {
    const long = (digit: number) => text({}).replace(/}$/, `,"order":1234567890123456789${digit}}`)
    expect(read(long(1)).record?.digest).not.toEqual(read(long(2)).record?.digest)
  })

  test('misses optional members without complaint', () => {
    const { reasons, record } = read('{"commentId":1}')
    expect(reasons).toEqual([])
    expect(new Set(record?.texts)).toEqual(new Set([null]))
  })

  test('takes the largest safe integer as its id', () => {
    expect(read('{"commentId":9007199254740991}').record?.commentId).toBe(Number.MAX_SAFE_INTEGER)
  })
})

const NO_KEY = 'commentId is no integer between -(2^53 - 1) and 2^53 - 1'

test.each([
  ['null', 'null where a comment belongs'],
  ['7', 'a number where a comment belongs'],
  ['"text"', 'a string where a comment belongs'],
  ['[1]', 'an array where a comment belongs'],
  ['{}', 'commentId is missing'],
  ['{"commentId":null}', 'commentId is missing'],
  ['{"commentId":true}', 'commentId is a boolean, not an integer'],
  ['{"commentId":"7"}', 'commentId is a string, not an integer'],
  ['{"commentId":1.5}', NO_KEY],
  ['{"commentId":9007199254740993}', NO_KEY],
  ['{"commentId":-9007199254740992}', NO_KEY],
])('without a sound key, %s is rejected: %s', (itemText, reason) => {
  const { record, rejects } = read(itemText)
  expect(record).toBeNull()
  expect(rejects).toEqual([{ reason, record: itemText, isWhole: true }])
})

describe('a member that cannot be stored', () => {
  test.each([
    ['"commentText":7', 'commentText is a number, not a string: comment_text was set to null'],
    [
      '"commentHtml":"\\u0000"',
      'commentHtml holds characters that PostgreSQL cannot hold: comment_html is stored without them',
    ],
    ['"status":["x"]', 'status is an array, not a string: status was set to null'],
    ['"lastUpdated":"x"', 'lastUpdated is no readable time: last_updated was set to null'],
    [
      '"from":{"userId":"u1","name":"a\\u0000"}',
      'from: name holds characters that PostgreSQL cannot hold: name is stored without them',
    ],
    ['"x":"\\u0000"', 'x holds characters that PostgreSQL cannot hold: raw has it without them'],
    [
      '"x":{"y":["a","\\ud800"]}',
      'x.y[1] holds characters that PostgreSQL cannot hold: raw has it without them',
    ],
    ['"x":{"a\\u0000b":1}', 'x.a\\u0000b cannot be stored: left out of raw'],
  ])('%s costs only itself: %s', (member, reason) => {
    const itemText = `{"commentId":5,"type":"text",${member}}`
    const { record, rejects } = read(itemText)
    expect(rejects).toEqual([{ reason, record: itemText, isWhole: false }])
    expect(commentColumns(record).type).toBe('text')
  })

  test('is told with the record as received, numbers not rounded', () => {
    const received = '{"commentId":5, "commentText":"a\\u0000b", "big":12345678901234567890}'
    expect(read(received).rejects[0]?.record).toBe(received)
    expect(commentColumns(read(received).record).rest).toBe('{"big":12345678901234567890}')
  })

  test('keeps its readable rest: the record is equal to one without the NUL', () => {
    const from = { userId: 'u1', name: 'Ann' }
    const members = { commentText: 'ab', status: 'added', lastUpdated: '2026-01-02T03:04:05.678Z' }
    const meta = { tags: ['ok', 'no'], n: 1 }
    const plain = read(text({ ...members, from, meta }))
    const nul = (value: string) => `${value.slice(0, 1)}\u0000${value.slice(1)}`
    const odd = Object.fromEntries(Object.entries(members).map(([name, own]) => [name, nul(own)]))
    const name = { ...from, name: nul(from.name) }
    const received = read(text({ ...odd, from: name, meta: { ...meta, tags: ['ok', nul('no')] } }))
    expect(commentColumns(received.record)).toEqual(commentColumns(plain.record))
    expect(received.record?.author).toEqual(plain.record?.author)
    expect(received.record?.digest).toEqual(plain.record?.digest)
    expect(received.reasons).toHaveLength(5)
    expect(received.reasons.join()).toContain('meta.tags[1] holds characters')
  })

  test('is left out of rest where it may be an ID: a shortened one would be the ID of another', () => {
    const id = 'u\u0000'
    const odd = { parentId: id, taggedUsers: [{ userId: id, name: id }], readBy: ['v', id] }
    const { record, reasons } = read(text({ ...odd, from: { userId: id, name: id } }))
    expect(commentColumns(record).authorUserId).toBeNull()
    expect(JSON.parse(commentColumns(record).rest ?? '')).toEqual({
      taggedUsers: [{ name: 'u' }],
      readBy: ['v', null],
      from: { name: 'u' },
    })
    expect(reasons.filter((reason) => reason.endsWith('left out of raw'))).toHaveLength(4)
  })

  test('may be a number that PostgreSQL cannot hold, or nesting without end', () => {
    const deep = '['.repeat(300) + ']'.repeat(300)
    const { record, reasons } = read(`{"commentId":5,"huge":1e999999,"deep":${deep}}`)
    expect(record?.commentId).toBe(5)
    expect(reasons.join()).toContain('huge')
    expect(reasons.join()).toContain('deep')
  })
})

describe('limits, one below and one above', () => {
  test.each([
    [
      'nesting',
      `"x":${'['.repeat(100)}1${']'.repeat(100)}`,
      `"x":${'['.repeat(101)}1${']'.repeat(101)}`,
    ],
    ['a number', `"x":1${'0'.repeat(999)}`, `"x":1${'0'.repeat(1000)}`],
    ['an exponent', '"x":1e999', '"x":1e1000'],
  ])('of %s', (_what, below, above) => {
    expect(read(`{"commentId":5,${below}}`)).toMatchObject({ reasons: [] })
    const { record, reasons } = read(`{"commentId":5,${above}}`)
    expect(record?.commentId).toBe(5)
    expect(reasons).toEqual([expect.stringMatching(/^x.* cannot be stored: left out of raw$/)])
  })

  test.each([
    ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.001+00:01'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999-00:01'],
    [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('0001-01-01T00:00:00.000Z') - 1],
    [Date.parse('9999-12-31T23:59:59.999Z'), Date.parse('9999-12-31T23:59:59.999Z') + 1],
  ])('of times: %j is one, %j is beyond', (within, beyond) => {
    expect(read(text({ lastUpdated: within })).reasons).toEqual([])
    expect(read(text({ lastUpdated: beyond })).reasons).toEqual([
      'lastUpdated is no readable time: last_updated was set to null',
    ])
  })
})

describe('lastUpdated', () => {
  test.each([
    ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05+0200', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    [1767323045678, '2026-01-02T03:04:05.678Z'],
  ])('%j is read as %s', (value, iso) => {
    expect(read(text({ lastUpdated: value })).record?.lastUpdated).toBe(iso)
  })

  test('that is not in the canonical form stays in rest, so that raw gives it back', () => {
    expect(commentColumns(read(text({ lastUpdated: 1767323045678 })).record).rest).toBe(
      '{"lastUpdated":1767323045678}',
    )
    expect(commentColumns(read(text({})).record).rest).toBeNull()
  })

  test.each(['2026-02-30T00:00:00.000Z', '0000-01-01T00:00:00.000Z', '12', 1e20, true])(
    '%j is no time',
    (value) => {
      expect(read(text({ lastUpdated: value })).record?.lastUpdated).toBeNull()
    },
  )
})

test.each([
  '1.00000000000000000001',
  '0.1000000000000000055',
  '100000.000000000000001',
  '1e-400',
  '12345678901234567890',
])('the undocumented number %s keeps every digit', (number) => {
  const { record } = read(`{"commentId":5,"from":{"userId":"u1","x":${number}},"x":[${number}]}`)
  expect(commentColumns(record).rest).toBe(`{"from":{"userId":"u1","x":${number}},"x":[${number}]}`)
  expect(userColumns(record?.author).rest).toBe(`{"x":${number}}`)
})

test.each([
  '0099-01-01T00:00:00+01:00',
  '1850-06-01T00:00:00+00:00',
  '1899-12-31',
  -62135596800000,
])('lastUpdated %s, before 1901, is a time', (lastUpdated) => {
  expect(read(text({ lastUpdated })).reasons).toEqual([])
})

describe('the author of a comment', () => {
  test('is a person of the organization, with what has no column in rest', () => {
    const { record } = read(text({ from: { userId: 'u1', name: 'Ann', plan: 'x' } }))
    expect(record?.author?.userId).toBe('u1')
    expect(userColumns(record?.author)).toEqual({ name: 'Ann', email: null, rest: '{"plan":"x"}' })
    expect(commentColumns(record)).toMatchObject({
      authorUserId: 'u1',
      authorName: 'Ann',
      authorEmail: null,
      rest: '{"from":{"name":"Ann","plan":"x","userId":"u1"}}',
    })
    expect(record?.index).toBe(0)
  })

  test.each([
    ['{}', [], { authorUserId: null, authorName: null, rest: '{"from":{}}' }],
    [
      '{"name":"Ann"}',
      [],
      { authorUserId: null, authorName: 'Ann', rest: '{"from":{"name":"Ann"}}' },
    ],
    [
      '{"userId":null,"email":"a@x.example"}',
      [],
      { authorEmail: 'a@x.example', rest: '{"from":{"email":"a@x.example","userId":null}}' },
    ],
    ['null', [], { authorUserId: null, rest: '{"from":null}' }],
    [
      '{"name":7}',
      ['from.name is a number, not a string: author_name was set to null'],
      { authorName: null, rest: '{"from":{"name":7}}' },
    ],
    [
      '"Ann"',
      ['from: a string where a user belongs: author_user_id was set to null'],
      { rest: '{"from":"Ann"}' },
    ],
    [
      '{"userId":7,"name":"Ann"}',
      ['from: userId is a number, not a string: author_user_id was set to null'],
      { authorUserId: null, authorName: null, rest: '{"from":{"name":"Ann","userId":7}}' },
    ],
  ])('who is %s', (from, faults, columns) => {
    const { record, reasons } = read(`{"commentId":5,"from":${from}}`)
    expect(reasons).toEqual(faults)
    expect(commentColumns(record)).toMatchObject(columns)
    expect(record?.author).toBeNull()
  })

  test('that was left out is nobody', () => {
    const { record } = read('{"commentId":5}')
    expect([record?.author, commentColumns(record).rest]).toEqual([null, null])
  })
})

test('the path of a fault is cut, and a member that is null or a time that is null is none', () => {
  const { reasons } = read(`{"commentId":5,"${'x'.repeat(2000)}":"\\u0000"}`)
  expect(reasons).toEqual([expect.stringMatching(/^x{1000} holds characters /)])
  const nulls = read('{"commentId":5,"status":null,"lastUpdated":null}')
  expect(nulls.reasons).toEqual([])
  expect(commentColumns(nulls.record).rest).toBe('{"lastUpdated":null,"status":null}')
})

test('the digest of a comment is made once, or is the one that was made with others', () => {
  const { record } = read(text({}))
  expect(record?.digest).toBe(record?.digest)
  const other = Buffer.alloc(16, 9)
  record?.keepDigest(other)
  expect(record?.digest).toBe(other)
})
