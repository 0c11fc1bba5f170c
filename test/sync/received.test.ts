import { describe, expect, test } from 'vitest'
import {
  keptText,
  memberText,
  processingFault,
  receivedBefore,
  receivedOf,
} from '../../src/core/sync/record/received.ts'

const of = (dataText: string, redact: ((item: unknown) => unknown) | null = null) =>
  receivedOf({ data: JSON.parse(dataText), dataText }, redact)

describe('what is received', () => {
  test('has the text of each item as it came, and none beyond the last', () => {
    const received = of('[ {"a": 1} ,"b"]')
    expect([0, 1, 2].map((index) => received.textOf(index))).toEqual(['{"a": 1}', '"b"', ''])
    expect([received.length, received.rawAt(1), received.itemAt(0)]).toEqual([2, 'b', { a: 1 }])
  })

  test('is redacted wherever it is read, but as it came for its key', () => {
    const received = of('[{"a":1,"secret":"x"}]', () => ({ a: 1 }))
    expect([received.itemAt(0), received.textOf(0)]).toEqual([{ a: 1 }, '{"a":1}'])
    expect(received.rawAt(0)).toEqual({ a: 1, secret: 'x' })
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
      expect(of(`[${text}]`).exactTextOf(0)).toBe(isLong ? text : null)
    const beside = of(`[{"n":1},{"n":${number}}]`)
    expect(beside.exactTextOf(0)).toBeNull()
    expect(beside.exactTextOf(1) === null).toBe(!isLong)
  })

  test('before is read again from its own text', () => {
    const received = receivedBefore('{"a": 1}')
    expect(received.itemAt(0)).toEqual({ a: 1 })
    expect(received.textOf(0)).toBe('{"a": 1}')
  })
})

test('the text of a member is the last one of its name', () => {
  expect(memberText('{"a": [1] , "b":2,"a": {"c":3} }', 'a')).toBe('{"c":3}')
  expect(memberText('{"a":1}', 'b')).toBe('')
})

test('a text that cannot be had is empty', () => {
  const failing = of('[1]', () => {
    throw new Error('redaction failed')
  })
  expect([keptText(failing, 0), keptText(of('["a"]'), 0)]).toEqual(['', '"a"'])
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
