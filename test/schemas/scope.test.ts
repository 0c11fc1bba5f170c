import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { canSelect, OPERATION_NAMES, OPERATIONS } from '../../src/base/operations.ts'
import type { Operation } from '../../src/base/operations.ts'
import {
  describeScope,
  operationsOf,
  parseScope,
  StoredScopeSchema,
} from '../../src/schemas/scope.ts'
import type { Scope } from '../../src/schemas/scope.ts'

const organizationIds = ['o']
const thread = { organizationIds, documentId: 'd', annotationId: 'a' }

describe('an operation', () => {
  test('has a condition that names it', () => {
    for (const { name, condition } of Object.values(OPERATIONS)) expect(condition).toContain(name)
  })

  test('has no part of a scope but those that it can be limited to', () => {
    const selecting = (operation: Operation) =>
      ['documentId', 'userIds', 'organizationUserGroupIds', 'annotationId', 'commentIds'].filter(
        (member) => canSelect(operation, { organizationIds, [member]: 'any' }),
      )
    expect(selecting('users')).toEqual(['documentId', 'userIds', 'organizationUserGroupIds'])
    expect(selecting('comments')).toEqual(['documentId', 'annotationId', 'commentIds'])
  })
})

test('is limited by no member that is undefined', () => {
  for (const operation of OPERATION_NAMES)
    expect(canSelect(operation, { userIds: undefined, commentIds: undefined })).toBe(true)
})

describe('a scope', () => {
  test.each<Scope>([
    {},
    { ...thread, commentIds: [0, -1, Number.MAX_SAFE_INTEGER] },
    { organizationIds, documentId: 'd', userIds: ['u'] },
    { organizationIds, organizationUserGroupIds: ['g'], userIds: ['u'] },
    { ...thread, operations: ['users', 'comments'] },
  ])('that asks for something passes as it is: %j', (scope) => {
    expect(parseScope(scope)).toEqual(scope)
  })

  test('that is left out is the whole catalog', () => {
    expect(parseScope(undefined)).toEqual({})
    expect(parseScope(null)).toEqual({})
  })

  test.each([
    ['text', 'scope must be an object.'],
    [{ organization: 'o' }, 'scope has no member "organization".'],
    [{ organizationIds: [] }, 'scope.organizationIds must not be empty.'],
    [{ organizationIds: 'o' }, 'scope.organizationIds must be a list.'],
    [{ organizationIds: ['o', 7] }, 'scope.organizationIds.1 must be a text.'],
    [{ ...thread, commentIds: [1.5] }, 'scope.commentIds.0 must be a whole number.'],
    [{ operations: ['likes'] }, 'scope.operations.0 must be users or comments.'],
    [{ documentId: 'd' }, 'scope.documentId needs exactly one organization in organizationIds.'],
    [
      { organizationIds: ['o', 'p'], documentId: 'd' },
      'scope.documentId needs exactly one organization in organizationIds.',
    ],
    [{ organizationIds, annotationId: 'a' }, 'scope.annotationId needs documentId.'],
    [{ organizationIds, documentId: 'd', commentIds: [1] }, 'scope.commentIds needs annotationId.'],
    [
      { organizationIds, documentId: 'd', organizationUserGroupIds: ['g'] },
      'scope.organizationUserGroupIds cannot be combined with documentId.',
    ],
    [{ ...thread, userIds: ['u'] }, 'scope.userIds cannot be combined with annotationId.'],
    [
      { ...thread, operations: ['users'] },
      'scope.operations users cannot be used with this scope.',
    ],
    [
      { userIds: ['u'], operations: ['comments'] },
      'scope.operations comments cannot be used with this scope.',
    ],
  ])('that nothing can be asked with is refused by a sentence: %j', (value, sentence) => {
    expect(() => parseScope(value)).toThrow(new UsageError(sentence))
  })

  test('of a stored run keeps what another version knew, and is refused where a known member is wrong', () => {
    const stored = { ...thread, documentId: 'd'.repeat(3000), colours: ['red'] }
    expect(StoredScopeSchema.parse(stored)).toEqual(stored)
    expect(() => StoredScopeSchema.parse({ documentId: 7 })).toThrow()
  })
})

describe('the operations of a scope', () => {
  test.each<[Scope, readonly Operation[], readonly Operation[]]>([
    [{}, OPERATION_NAMES, ['users', 'comments']],
    [{}, ['comments'], ['comments']],
    [thread, ['users'], []],
    [{ userIds: ['u'] }, OPERATION_NAMES, ['users']],
  ])('%j with %j set are %j', (scope, defaults, operations) => {
    expect(operationsOf(scope, defaults)).toEqual(operations)
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
