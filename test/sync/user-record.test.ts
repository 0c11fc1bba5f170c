import { describe, expect, test } from 'vitest'
import { digestOfUser } from '../../src/core/sync/record/digest.ts'
import { USERS } from '../../src/core/sync/record/user.ts'
import { userColumns, userTexts } from '../helpers/columns.ts'
import { answerOf, readItems } from '../helpers/records.ts'

/** Reads the items of an answer, each as its JSON text. */
function read(items: string[], keepsTexts = false) {
  const read = readItems(USERS, answerOf(`[${items.join(' , ')}]`), keepsTexts)
  const { nameless, rejectedIds } = read
  return { ...read.result(), nameless, rejectedIds }
}

const reasons = (items: string[]) => read(items).rejects.map(({ reason }) => reason)

describe('a listing of users', () => {
  test('gives each user in columns, members without one in rest, and by its text where that is wanted', () => {
    const ann = '{"userId":"ann","name":"Ann","email":"a@x.example"}'
    const bob = '{"userId":"bob","plan":{"b":1,"a":[12345678901234567890]}}'
    const { records, rejects, texts, nameless, rejectedIds } = read([ann, bob], true)
    expect(records.map(({ userId }) => userId)).toEqual(['ann', 'bob'])
    expect(records.map(userColumns)).toEqual([
      { name: 'Ann', email: 'a@x.example', rest: null },
      { name: null, email: null, rest: '{"plan":{"a":[12345678901234567890],"b":1}}' },
    ])
    expect(records[0]?.digest).toEqual(digestOfUser(records[0] ?? { userId: '', texts: [] }))
    expect([rejects, nameless, rejectedIds.size]).toEqual([[], 0, 0])
    expect([...(texts ?? [])]).toEqual([
      ['ann', ann],
      ['bob', bob],
    ])
    expect(read([ann]).texts).toBeUndefined()
  })

  test.each([
    ['null', 'null where a user belongs'],
    ['"ann"', 'a string where a user belongs'],
    ['[]', 'an array where a user belongs'],
    ['7', 'a number where a user belongs'],
    ['{}', 'userId is missing'],
    ['{"userId":null}', 'userId is missing'],
    ['{"userId":7}', 'userId is a number, not a string'],
    ['{"userId":""}', 'userId is empty'],
    ['{"userId":"a\\u0000"}', 'userId holds a character that PostgreSQL cannot hold'],
    ['{"userId":"\\ud800"}', 'userId holds a character that PostgreSQL cannot hold'],
  ])('rejects %s as a whole, and somebody nameless is in it: %s', (item, reason) => {
    const { records, rejects, nameless } = read([item, '{"userId":"bob"}'])
    expect(rejects).toEqual([{ reason, record: item, isWhole: true }])
    expect([records.length, nameless]).toEqual([1, 1])
  })

  test('rejects an id that is too long for a key, which is nobody whom we hold', () => {
    const at = (bytes: number) => `{"userId":"${'x'.repeat(bytes)}"}`
    expect(read([at(2000)])).toMatchObject({ rejects: [], nameless: 0 })
    expect(read([at(2001)])).toMatchObject({
      rejects: [{ reason: 'userId is longer than 2,000 bytes', isWhole: true }],
      nameless: 0,
      records: [],
    })
    expect(reasons([`{"userId":"${'é'.repeat(1000)}"}`])).toEqual([])
    expect(reasons([`{"userId":"${'é'.repeat(1001)}"}`])).toHaveLength(1)
  })

  test.each([
    [
      '{"userId":"u","name":7}',
      'name is a number, not a string: name was set to null',
      '{"name":7}',
    ],
    [
      '{"userId":"u","email":[]}',
      'email is an array, not a string: email was set to null',
      '{"email":[]}',
    ],
    [
      '{"userId":"u","name":"a\\u0000"}',
      'name holds characters that PostgreSQL cannot hold: name is stored without them',
      null,
      'a',
    ],
    [
      '{"userId":"u","x":"a\\u0000"}',
      'x holds characters that PostgreSQL cannot hold: raw has it without them',
      '{"x":"a"}',
    ],
    ['{"userId":"u","xId":"a\\u0000"}', 'xId cannot be stored: left out of raw', null],
  ])('stores the rest of %s: %s', (item, reason, rest, name: string | null = null) => {
    const { records, rejects } = read([item])
    expect(rejects).toEqual([{ reason, record: item, isWhole: false }])
    expect(userColumns(records[0])).toMatchObject({ name, email: null, rest })
  })

  test('keeps a member that is null in rest, which is no fault', () => {
    const { records, rejects } = read(['{"userId":"u","name":null}'])
    expect([userColumns(records[0]).rest, rejects]).toEqual(['{"name":null}', []])
  })

  test('of two records of one user stores the same one in whichever order they come', () => {
    const [one, other] = ['{"userId":"u","name":"One"}', '{"userId":"u","name":"Other"}'] as const
    const forth = read([one, other], true)
    const back = read([other, one], true)
    expect(forth.records.map(userColumns)).toEqual(back.records.map(userColumns))
    const kept = userColumns(forth.records[0]).name === 'One' ? one : other
    for (const { rejects, texts } of [forth, back]) {
      expect(texts?.get('u')).toBe(kept)
      expect(rejects).toEqual([
        {
          reason: 'userId is in the answer twice, with different content',
          record: kept === one ? other : one,
          isWhole: true,
        },
      ])
    }
    expect(read([one, one]).rejects).toEqual([
      { reason: 'userId is in the answer twice, with equal content', record: one, isWhole: false },
    ])
  })

  test('tells each member that cannot be stored, but once of more than 20, and stores the others', () => {
    const item = (faults: number) =>
      `{"userId":"u",${Array.from({ length: faults }, (_, n) => `"m${n}":1e9999`).join()},"kept":1}`
    expect(read([item(20)]).rejects).toHaveLength(20)
    const { records, rejects } = read([item(21)])
    expect(records).toMatchObject([{ userId: 'u', texts: [null, null, '{"kept":1}'] }])
    expect(rejects).toEqual([
      {
        reason: '21 members cannot be stored as received',
        record: item(21),
        isWhole: false,
      },
    ])
  })
})

describe('an answer of which too much is rejected', () => {
  const refused = (records: string) =>
    expect.objectContaining({
      kind: 'refused',
      httpStatus: 200,
      errorStatus: 'too_many_rejected',
      message: `Too many or too long records or members of an answer with ${records} records cannot be stored: nothing of it was stored.`,
    })

  test('is refused where the rejected texts are 32 million characters', () => {
    const long = `{"x":"${'x'.repeat(15_999_992)}"}`
    expect(long).toHaveLength(16_000_000)
    expect(read([long, long]).rejects).toHaveLength(2)
    expect(() => read([long, long, '{}'])).toThrow(refused('3'))
  })

  test('keeps of a record beyond its limit the beginning, and rejects it', () => {
    const tooLong = `{"userId":"u","x":"${'x'.repeat(16_000_000)}"}`
    const { rejects, nameless } = read([tooLong, '{"userId":"v"}'])
    expect(rejects).toEqual([
      {
        reason: expect.stringMatching(/ 16,000,000 characters$/),
        record: tooLong.slice(0, 16_000_000),
        isWhole: true,
      },
    ])
    expect(nameless).toBe(1)
  })
})

test('the digest of a user tells null from an empty text, and each column from the next', () => {
  const digests = [
    { name: null, email: 'a' },
    { name: '', email: 'a' },
    { name: 'a', email: null },
    { name: 'a', email: '' },
    { name: 'a', rest: '{}' },
  ].map((columns) => digestOfUser({ userId: 'u', texts: userTexts(columns) }).toString('hex'))
  expect(new Set(digests).size).toBe(5)
})
