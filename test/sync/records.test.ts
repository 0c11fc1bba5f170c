import { describe, expect, test } from 'vitest'
import { COMMENTS } from '../../src/core/sync/record/comment.ts'
import { processingFault, Received } from '../../src/core/sync/record/received.ts'
import type { Reject } from '../../src/core/sync/record/received.ts'
import { readAgain, Records } from '../../src/core/sync/record/records.ts'
import { USERS } from '../../src/core/sync/record/user.ts'
import { commentColumns, userColumns } from '../helpers/columns.ts'

/** How items of responses become records; `record-boundary.pg` stores them. */

/** Reads the items of a response, each as its JSON text. */
function read<T extends typeof COMMENTS | typeof USERS>(reader: T, ...items: string[]) {
  const dataText = `[ ${items.join(' , ')} ]`
  const data = JSON.parse(dataText) as unknown[]
  const rules = { writtenPath: null, redact: () => null, leaveOut: { comments: null, users: null } }
  const records = new Records<never, never>(reader as never, 'o', { rules, keepsTexts: true })
  records.addAll({ status: 'data', digest: Buffer.alloc(16), data, dataText, paged: false })
  return records
}

/** Reads one comment with these members. */
function readComment(members: string) {
  const { byId, rejects } = read(COMMENTS, `{"commentId":5,${members}}`)
  const record = [...byId.values()][0] as ReturnType<typeof COMMENTS.read> | undefined
  const reasons = rejects.map(({ reason }) => reason)
  return { record, reasons, columns: commentColumns(record), author: record?.people[0] ?? null }
}

const NO_KEY = 'commentId is no integer between -(2^53 - 1) and 2^53 - 1'
const UNSTORABLE = 'holds characters that PostgreSQL cannot hold'

test.each([
  [COMMENTS, 'null', 'null where a comment belongs'],
  [COMMENTS, '7', 'a number where a comment belongs'],
  [COMMENTS, '[1]', 'an array where a comment belongs'],
  [COMMENTS, '{}', 'commentId is missing'],
  [COMMENTS, '{"commentId":null}', 'commentId is missing'],
  [COMMENTS, '{"commentId":"7"}', 'commentId is a string, not an integer'],
  [COMMENTS, '{"commentId":1.5}', NO_KEY],
  [COMMENTS, '{"commentId":9007199254740993}', NO_KEY],
  [USERS, '"ann"', 'a string where a user belongs'],
  [USERS, '{}', 'userId is missing'],
  [USERS, '{"userId":7}', 'userId is a number, not a string'],
  [USERS, '{"userId":""}', 'userId is empty'],
  [USERS, '{"userId":"a\\u0000"}', 'userId holds a character that PostgreSQL cannot hold'],
  [USERS, '{"userId":"\\ud800"}', 'userId holds a character that PostgreSQL cannot hold'],
])('without a usable key, an item is rejected as a whole: %o %s', (reader, item, reason) => {
  const { byId, rejects, nameless } = read(reader, item)
  expect(rejects).toEqual([{ reason, record: item, isWhole: true }])
  expect([byId.size, nameless]).toEqual([0, 1])
})

test('the largest safe integer is a key', () => {
  const { byId, rejects } = read(COMMENTS, '{"commentId":9007199254740991}')
  expect([[...byId.keys()], rejects]).toEqual([[Number.MAX_SAFE_INTEGER], []])
})

describe('a member that cannot be stored', () => {
  test.each([
    ['"commentText":7', 'commentText is a number, not a string: comment_text was set to null'],
    ['"commentText":"\\u0000"', `commentText ${UNSTORABLE}: comment_text is stored without them`],
    ['"status":["x"]', 'status is an array, not a string: status was set to null'],
    ['"lastUpdated":"x"', 'lastUpdated is no readable time: last_updated was set to null'],
    ['"x":{"y":["a","\\ud800"]}', `x.y[1] ${UNSTORABLE}: raw has it without them`],
    ['"x":{"a\\u0000b":1}', 'x.a\\u0000b cannot be stored: left out of raw'],
    ['"x":1e1000', 'x cannot be stored: left out of raw'],
    [
      '"from":{"userId":"u1","name":"a\\u0000"}',
      `from: name ${UNSTORABLE}: name is stored without them`,
    ],
  ])('%s costs only itself: %s', (member, reason) => {
    const item = `{"commentId":5, "type":"text", ${member}, "big":12345678901234567890}`
    const { byId, rejects } = read(COMMENTS, item)
    expect(rejects).toEqual([{ reason, record: item, isWhole: false }])
    const columns = commentColumns(byId.get(5 as never))
    expect([columns.type, columns.rest]).toEqual(['text', expect.stringContaining('4567890')])
  })

  test('keeps its readable part: the record is equal to one without the NUL', () => {
    const members = `"commentText":"a#b","from":{"userId":"u1","name":"A#nn"},
      "lastUpdated":"2026-01-02T03:04:05#.678Z","meta":{"tags":["ok","n#o"],"n":1}`
    const plain = readComment(members.replaceAll('#', ''))
    const { record, reasons } = readComment(members.replaceAll('#', '\\u0000'))
    expect(record?.texts).toEqual(plain.record?.texts)
    expect(record?.people).toEqual(plain.record?.people)
    expect([reasons.length, plain.reasons.length]).toEqual([4, 0])
  })

  test('is left out of rest where it may be an ID: a shortened one would be the ID of another', () => {
    const id = '"u\\u0000"'
    const { columns, reasons } = readComment(
      `"parentId":${id},"taggedUsers":[{"userId":${id},"name":${id}}],"readBy":["v",${id}],"from":{"userId":${id},"name":${id}}`,
    )
    expect(columns.authorUserId).toBeNull()
    expect(JSON.parse(columns.rest ?? '')).toEqual({
      taggedUsers: [{ name: 'u' }],
      readBy: ['v', null],
      from: { name: 'u' },
    })
    expect(reasons.filter((reason) => reason.endsWith('left out of raw'))).toHaveLength(4)
  })

  test.each([
    [`"x":${'['.repeat(100)}1${']'.repeat(100)}`, `"x":${'['.repeat(101)}1${']'.repeat(101)}`],
    [`"x":1${'0'.repeat(999)}`, `"x":1${'0'.repeat(1000)}`],
    ['"x":1e999', '"x":1e1000'],
  ])('is one step beyond the limit: %s', (below, above) => {
    expect(readComment(below).reasons).toEqual([])
    expect(readComment(above).reasons).toEqual([expect.stringMatching(/^x.*: left out of raw$/)])
  })

  test('has at most 1,000 characters of its path in the reason, and null is no fault', () => {
    const { reasons } = readComment(`"${'x'.repeat(2000)}":"\\u0000"`)
    expect(reasons).toEqual([expect.stringMatching(/^x{1000} holds characters /)])
    const nulls = readComment('"status":null,"lastUpdated":null')
    expect([nulls.reasons, nulls.columns.rest]).toEqual([[], '{"lastUpdated":null,"status":null}'])
  })
})

test('a time in another form stays in rest, so that raw gives it back', () => {
  const { columns } = readComment('"lastUpdated":1767323045678')
  expect(columns.lastUpdated).toBe('2026-01-02T03:04:05.678Z')
  expect(columns.rest).toBe('{"lastUpdated":1767323045678}')
})

test('the order of members is not content, every digit of a number is', () => {
  const digestOf = (members: string) => readComment(members).record?.digest.toString('hex')
  const one = digestOf('"x":{"up":1,"down":2},"n":12345678901234567891')
  expect(digestOf('"n":12345678901234567891,"x":{"down":2,"up":1}')).toBe(one)
  expect(digestOf('"x":{"up":1,"down":2},"n":12345678901234567892')).not.toBe(one)
})

test.each([
  ['1.00000000000000000001', true],
  ['0.1000000000000000055', true],
  ['100000.000000000000001', true],
  ['1e-400', true],
  ['1E+308', true],
  ['1234567890123456', true],
  ['123456789012345', false],
  ['1.5e10', false],
])('the number %s keeps every digit; its text is read again: %s', (number, isLong) => {
  const { columns, author } = readComment(`"from":{"userId":"u1","x":${number}},"x":[${number}]`)
  const written = isLong ? number : JSON.stringify(Number(number))
  expect(columns.rest).toBe(`{"from":{"userId":"u1","x":${written}},"x":[${written}]}`)
  expect(userColumns(author).rest).toBe(`{"x":${written}}`)
  // A record beside it is not read again.
  const dataText = `[{"n":1},{"n":${number}}]`
  const received = new Received({ data: JSON.parse(dataText), dataText })
  expect(received.exactText()).toBeNull()
  received.index = 1
  expect(received.exactText() !== null).toBe(isLong)
})

describe('the author of a comment', () => {
  test('is a user of the organization, with what has no column in rest', () => {
    const { columns, author } = readComment('"from":{"userId":"u1","name":"Ann","plan":"x"}')
    expect(author?.userId).toBe('u1')
    expect(userColumns(author)).toEqual({ name: 'Ann', email: null, rest: '{"plan":"x"}' })
    expect(columns).toMatchObject({
      authorUserId: 'u1',
      authorName: 'Ann',
      rest: '{"from":{"name":"Ann","plan":"x","userId":"u1"}}',
    })
  })

  test.each([
    ['{}', [], { authorName: null, rest: '{"from":{}}' }],
    ['{"name":"Ann"}', [], { authorName: 'Ann', rest: '{"from":{"name":"Ann"}}' }],
    ['null', [], { rest: '{"from":null}' }],
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
      { authorName: null, rest: '{"from":{"name":"Ann","userId":7}}' },
    ],
  ])('is none where from is %s', (from, faults, expected) => {
    const { columns, reasons, author } = readComment(`"from":${from}`)
    expect([reasons, author]).toEqual([faults, null])
    expect(columns).toMatchObject({ authorUserId: null, ...expected })
  })
})

test('of two records of one user the same one is stored, in whichever order they come', () => {
  const [one, other] = ['{"userId":"u","name":"One"}', '{"userId":"u","name":"Other"}'] as const
  const [forth, back] = [read(USERS, one, other), read(USERS, other, one)]
  const kept = forth.texts?.get('u' as never)
  expect([one, other]).toContain(kept)
  const reason = 'userId is in the response twice, with different content'
  for (const { byId, rejects, texts } of [forth, back]) {
    expect(userColumns(byId.get('u' as never)).name).toBe(JSON.parse(kept ?? '').name)
    expect(texts?.get('u' as never)).toBe(kept)
    expect(rejects).toEqual([{ reason, record: kept === one ? other : one, isWhole: true }])
  }
  expect(read(USERS, one, one).rejects).toMatchObject([{ isWhole: false }])
})

test('a response is refused where the rejected texts are more than 32 million characters', () => {
  const long = `{"x":"${'x'.repeat(15_999_992)}"}`
  expect(long).toHaveLength(16_000_000)
  expect(read(USERS, long, long).rejects).toHaveLength(2)
  expect(() => read(USERS, long, long, '{}')).toThrow(
    'Too many or too long records or members of a response with 3 records cannot be stored: nothing of it was stored.',
  )
})

test('a record is rejected without its text where that cannot be redacted', () => {
  const rejects: Reject[] = []
  const failing = () => {
    throw new Error('redaction failed')
  }
  new Received({ data: [1], dataText: '[1]' }, failing, rejects).reject('odd', true)
  expect(rejects).toEqual([{ reason: 'odd', record: '', isWhole: true }])
})

test('a stored record is read again from its own text, of two members with one name the last', () => {
  const from = '"from":{"userId":"u1","x":1},"from":{"userId":"u2","x":12345678901234567890}'
  const { people } = readAgain(COMMENTS, `{"commentId":1, ${from} }`)
  expect(people).toEqual([{ userId: 'u2', texts: [null, null, '{"x":12345678901234567890}'] }])
  expect(() => readAgain(USERS, '{"userId":""}')).toThrow('userId is empty')
})

test.each([
  [new TypeError('a value'), 'could not be processed: TypeError'],
  [{ name: 'error', code: 7 }, 'could not be processed: error'],
  [{ code: '22P05', message: 'a value' }, 'could not be processed: PostgreSQL refused it (22P05)'],
  [
    { code: '54000', message: 'row size 3000' },
    'could not be processed: PostgreSQL refused it (54000, row size 3000)',
  ],
])('the reason holds no value of the record: %o gives %s', (error, reason) => {
  expect(processingFault(error)).toBe(reason)
})
