import { describe, expect, test } from 'vitest'
import { COMMENTS } from '../../src/core/sync/record/comment.ts'
import { processingFault, Received } from '../../src/core/sync/record/received.ts'
import type { Reject } from '../../src/core/sync/record/received.ts'
import { readAgain } from '../../src/core/sync/record/records.ts'
import { USERS } from '../../src/core/sync/record/user.ts'

function of(dataText: string, redact: ((item: unknown) => unknown) | null = null) {
  const rejects: Reject[] = []
  const received = new Received({ data: JSON.parse(dataText), dataText }, redact, rejects)
  return Object.assign(received, { rejects })
}

describe('what is received', () => {
  test('has the text of each item as it came, and none beyond the last', () => {
    const received = of('[ {"a": 1} ,"b"]')
    expect([0, 1, 2].map((index) => received.text(index))).toEqual(['{"a": 1}', '"b"', ''])
    expect([received.length, received.read()]).toEqual([2, { a: 1 }])
    received.index = 1
    expect([received.raw, received.text()]).toEqual(['b', '"b"'])
  })

  test('is redacted wherever it is read, but as it came for its key', () => {
    const received = of('[{"a":1,"secret":"x"}]', () => ({ a: 1 }))
    expect([received.read(), received.text()]).toEqual([{ a: 1 }, '{"a":1}'])
    expect(received.raw).toEqual({ a: 1, secret: 'x' })
  })

  test.each([
    ['1234567890123456', true],
    ['123456789012345', false],
    ['-1234567890.123456', true],
    ['1e100', true],
    ['1e+100', true],
    ['1.5e-400', true],
    ['1E308', true],
    ['1e10', false],
    ['1.5', false],
  ])('has the exact text of a number that a double may not hold: %s, %s', (number, isLong) => {
    for (const text of [`{"n":${number}}`, `[ ${number}]`, `[0,${number}]`])
      expect(of(`[${text}]`).exactText()).toBe(isLong ? text : null)
    const beside = of(`[{"n":1},{"n":${number}}]`)
    expect(beside.exactText()).toBeNull()
    beside.index = 1
    expect(beside.exactText() === null).toBe(!isLong)
  })

  test('is rejected with its text, or with none where that cannot be redacted', () => {
    const failing = of('[1]', () => {
      throw new Error('redaction failed')
    })
    const readable = of('["a", "b"]')
    failing.reject('odd', true)
    readable.reject('odd', true, 1)
    expect([failing.rejects, readable.rejects]).toEqual([
      [{ reason: 'odd', record: '', isWhole: true }],
      [{ reason: 'odd', record: '"b"', isWhole: true }],
    ])
  })
})

test('a stored record is read again from its own text, of two members with one name the last', () => {
  const from = '"from":{"userId":"u1","x":1},"from":{"userId":"u2","x":12345678901234567890}'
  const { author } = readAgain(COMMENTS, `{"commentId":1, ${from} }`)
  expect(author).toEqual({ userId: 'u2', texts: [null, null, '{"x":12345678901234567890}'] })
  expect(() => readAgain(USERS, '{"userId":""}')).toThrow('userId is empty')
})

test.each([
  [new TypeError('with a value'), 'could not be processed: TypeError'],
  [{}, 'could not be processed: an error'],
  [{ name: 'error', code: 7 }, 'could not be processed: error'],
  [
    { code: '22P05', message: 'with a value' },
    'could not be processed: PostgreSQL refused it (22P05)',
  ],
  [
    { code: '54000', message: 'index row size 3000' },
    'could not be processed: PostgreSQL refused it (54000, index row size 3000)',
  ],
  [{ code: '22054', message: 'x' }, 'could not be processed: PostgreSQL refused it (22054)'],
])('of %o is told what holds no value: %s', (error, told) => {
  expect(processingFault(error)).toBe(told)
})
