import { describe, expect, test } from 'vitest'
import { UsageError } from '../src/errors.ts'
import type { Operation } from '../src/errors.ts'
import {
  describeScope,
  isNarrowed,
  OPERATIONS,
  operationsOf,
  parseScope,
  storedScope,
} from '../src/scope.ts'
import type { Scope } from '../src/scope.ts'

const organizationIds = ['o']
const thread = { organizationIds, documentId: 'd', annotationId: 'a' }

describe('a scope', () => {
  test.each<Scope>([
    {},
    { organizationIds: ['o', 'p'] },
    { organizationIds, documentId: 'd' },
    thread,
    { ...thread, commentIds: [0, -1, Number.MAX_SAFE_INTEGER] },
    { userIds: ['u'] },
    { organizationIds, documentId: 'd', userIds: ['u'] },
    { organizationUserGroupIds: ['g'] },
    { organizationIds, organizationUserGroupIds: ['g'], userIds: ['u'] },
    { operations: ['comments', 'users'] },
    { ...thread, operations: ['comments'] },
    { userIds: ['u'], operations: ['users'] },
    { ...thread, operations: ['users', 'comments'] },
  ])('that asks for something passes as it is: %j', (scope) => {
    expect(parseScope(scope)).toEqual(scope)
  })

  test('that is left out is the whole catalog', () => {
    expect(parseScope(undefined)).toEqual({})
    expect(parseScope(null)).toEqual({})
  })

  test.each([
    ['text', /^scope: scope is wrong: .*expected object/],
    [{ organization: 'o' }, /^scope has no member "organization"\.$/],
    [{ organizationIds: [] }, /^scope: organizationIds is wrong: /],
    [{ organizationIds: [''] }, /^scope: organizationIds\.0 is wrong: /],
    [{ organizationIds: ['o', 7] }, /^scope: organizationIds\.1 is wrong: /],
    [{ organizationIds, documentId: '' }, /^scope: documentId is wrong: /],
    [{ ...thread, annotationId: '' }, /^scope: annotationId is wrong: /],
    [{ ...thread, commentIds: [] }, /^scope: commentIds is wrong: /],
    [{ ...thread, commentIds: [1.5] }, /^scope: commentIds\.0 is wrong: /],
    [{ userIds: [] }, /^scope: userIds is wrong: /],
    [{ organizationUserGroupIds: [''] }, /^scope: organizationUserGroupIds\.0 is wrong: /],
    [{ operations: [] }, /^scope: operations is wrong: /],
    [{ operations: ['likes'] }, /^scope: operations\.0 is wrong: .*"users"\|"comments"/],
    [{ documentId: 'd' }, 'scope: documentId needs exactly one organization in organizationIds.'],
    [
      { organizationIds: ['o', 'p'], documentId: 'd' },
      'scope: documentId needs exactly one organization in organizationIds.',
    ],
    [{ organizationIds, annotationId: 'a' }, 'scope: annotationId needs documentId.'],
    [
      { organizationIds, documentId: 'd', commentIds: [1] },
      'scope: commentIds needs annotationId.',
    ],
    [
      { organizationIds, documentId: 'd', organizationUserGroupIds: ['g'] },
      'scope: organizationUserGroupIds cannot be combined with documentId.',
    ],
    [{ ...thread, userIds: ['u'] }, 'scope: userIds cannot be combined with annotationId.'],
    [{ ...thread, operations: ['users'] }, 'scope: operations users cannot be narrowed that way.'],
    [
      { userIds: ['u'], operations: ['comments'] },
      'scope: operations comments cannot be narrowed that way.',
    ],
  ])('that nothing can be asked with is refused by a sentence: %j', (value, sentence) => {
    expect(() => parseScope(value)).toThrow(
      typeof sentence === 'string' ? new UsageError(sentence) : sentence,
    )
    expect(() => parseScope(value)).toThrow(UsageError)
  })

  test('of a stored run keeps what another version knew, and is refused where a known member is wrong', () => {
    const stored = { ...thread, colours: ['red'] }
    expect(storedScope(stored)).toEqual(stored)
    expect(() => storedScope({ documentId: 7 })).toThrow()
  })
})

describe('the operations of a scope', () => {
  test.each<[Scope, readonly Operation[], readonly Operation[]]>([
    [{}, OPERATIONS, ['users', 'comments']],
    [{}, ['comments'], ['comments']],
    [{ operations: ['comments', 'users'] }, ['users'], ['users', 'comments']],
    [thread, OPERATIONS, ['comments']],
    [thread, ['users'], []],
    [{ userIds: ['u'] }, OPERATIONS, ['users']],
    [{ organizationUserGroupIds: ['g'] }, OPERATIONS, ['users']],
    [{ organizationIds, documentId: 'd' }, OPERATIONS, ['users', 'comments']],
  ])('%j with %j set are %j', (scope, defaults, operations) => {
    expect(operationsOf(scope, defaults)).toEqual(operations)
  })

  test('are narrowed by users and comments, which leave a listing incomplete, and by nothing else', () => {
    expect(isNarrowed({ userIds: ['u'] })).toBe(true)
    expect(isNarrowed({ ...thread, commentIds: [1] })).toBe(true)
    expect(isNarrowed(thread)).toBe(false)
    expect(isNarrowed({ organizationUserGroupIds: ['g'], operations: ['users'] })).toBe(false)
  })
})

test('a scope is told in words, and steers no terminal', () => {
  expect(describeScope({})).toBe('everything in the catalog')
  expect(
    describeScope({
      organizationIds: ['acme', 'bolt'],
      documentId: 'plan',
      annotationId: 'a1',
      commentIds: [1, 2],
      userIds: ['u', 'v'],
      organizationUserGroupIds: ['g', 'h'],
      operations: ['users', 'comments'],
    }),
  ).toBe(
    'organization acme, bolt, document plan, annotation a1, comment 1, 2, user u, v, group g, h, users and comments only',
  )
  expect(describeScope({ organizationIds: ['a\u001b[2J'] })).toBe('organization a\\u001b[2J')
})
