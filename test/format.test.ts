import { describe, expect, test } from 'vitest'
import {
  count,
  counted,
  describeFailure,
  duration,
  scopePath,
  shorten,
  time,
} from '../src/schemas/format.ts'
import type { Columns } from '../src/schemas/columns.ts'
import { table } from '../src/cli/table.ts'
import { scopeOf } from '../src/cli/requested-scope.ts'

test.each([
  [0, '0 ms'],
  [-5, '0 ms'],
  [340.4, '340 ms'],
  [1_000, '1.0 s'],
  [59_949, '59.9 s'],
  [59_960, '1 min 00 s'],
  [185_000, '3 min 05 s'],
  [3_599_600, '1 h 00 min'],
  [7_380_000, '2 h 03 min'],
  [4 * 86_400_000, '4 days'],
])('%d ms is told as %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test('numbers have separators and their noun its number, and times are UTC', () => {
  expect([count(1_234_567), counted(1, 'scope'), counted(1200, 'scope')]).toEqual([
    '1,234,567',
    '1 scope',
    '1,200 scopes',
  ])
  expect(time(new Date('2025-11-03T12:00:00.999+02:00'))).toBe('2025-11-03 10:00:00Z')
})

test('a long text is cut on one line, never within a character', () => {
  expect(shorten('a\n b\tc', 10)).toBe('a b c')
  expect(shorten('ab😀cd', 4)).toBe('ab�…')
  expect(shorten('abcdef', 6)).toBe('abcdef')
  expect(shorten('the answer was cut', 16)).toBe('the answer was…')
})

test('a cause is words first, the codes second', () => {
  const cause = (httpStatus: number | null, errorStatus: string | null) =>
    describeFailure({ httpStatus, errorStatus })
  expect(cause(200, 'body_unreadable')).toBe('an unreadable response (HTTP 200 body_unreadable)')
  expect(cause(403, 'PERMISSION_DENIED')).toBe('Forbidden (HTTP 403 PERMISSION_DENIED)')
  expect(cause(null, 'timeout')).toBe('no response in time (timeout)')
  expect(cause(403, 'breaker_open')).toBe(
    'not called after repeated failures (breaker_open, the last of them HTTP 403)',
  )
  expect(cause(599, null)).toBe('HTTP 599')
  expect(cause(null, null)).toBe('no response')
})

test('the path of a scope names its group as such', () => {
  expect(scopePath({ organizationId: 'a', documentId: 'b', annotationId: 'c' })).toBe('a / b / c')
  expect(scopePath({ organizationId: 'a', organizationUserGroupId: 'g' })).toBe('a / group g')
})

describe('a table', () => {
  const columns: Columns<readonly [id: string, n: number]> = [
    ['id', ([id]) => id],
    ['n', ([, n]) => n, 'number'],
  ]

  test('aligns wide characters, and numbers at the right', () => {
    const rows = [
      ['株式会社', 1],
      ['b', 10],
    ] as const
    expect(table(columns, rows).split('\n')).toEqual([
      '  id         n',
      '  株式会社   1',
      '  b         10',
    ])
  })

  test('lets no control character of an id through, and keeps it on its line', () => {
    const text = table(columns, [['a\u001b]0;title\u0007\u009b2J\nb', 1]])
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
    expect(text.split('\n')).toHaveLength(2)
  })
})

test('the scope options become the members of a scope', () => {
  const options = { organization: ['o'], document: 'd', annotation: 'a', comment: [1, 2] }
  expect(scopeOf({ ...options, operations: 'comments' })).toEqual({
    organizationIds: ['o'],
    documentId: 'd',
    annotationId: 'a',
    commentIds: [1, 2],
    operations: ['comments'],
  })
  expect(scopeOf({ group: ['g'], user: ['u'] })).toEqual({
    organizationUserGroupIds: ['g'],
    userIds: ['u'],
  })
  expect(scopeOf({})).toEqual({})
  expect(() => scopeOf({ organization: ['a'], document: 'd', group: ['g'] })).toThrow(
    '--group cannot be combined with --document',
  )
})
