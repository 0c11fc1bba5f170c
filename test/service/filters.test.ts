import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { checkFilter, chunkIds, describeCall } from '../../src/core/service/filters.ts'
import type { CommentsFilter, UsersFilter } from '../../src/core/service/filters.ts'

const organizationId = 'o'
const documentId = 'd'
const annotationId = 'a'
const userIds = ['u']
const organizationUserGroupIds = ['g']
const WHOLE = 'commentIds must hold only whole numbers from -(2^53 - 1) to 2^53 - 1'

describe('filters of Get Users', () => {
  test.each<UsersFilter>([
    { organizationId },
    { organizationId, documentId },
    { organizationId, userIds },
    { organizationId, documentId, userIds },
    { organizationId, organizationUserGroupIds },
    { organizationId, userIds, organizationUserGroupIds },
  ])('the documented combination %j passes', (filter) => {
    expect(() => checkFilter('users', filter)).not.toThrow()
  })

  test('other combinations are neither typed nor let through at run time', () => {
    // @ts-expect-error organizationId is in every documented combination
    const withoutOrganization: UsersFilter = { documentId }
    expect(() => checkFilter('users', withoutOrganization)).toThrow(
      'Get Users: organizationId is missing',
    )
    // @ts-expect-error a document and groups are in no documented combination
    const both: UsersFilter = { organizationId, documentId, organizationUserGroupIds }
    expect(() => checkFilter('users', both)).toThrow(
      'documentId and organizationUserGroupIds cannot be in one filter',
    )
    // @ts-expect-error annotationId is no member of Get Users
    const other: UsersFilter = { organizationId, annotationId }
    expect(() => checkFilter('users', other)).toThrow('annotationId is never sent')
  })

  test.each([
    [{ organizationId: '' }, 'organizationId must be a text that is not empty'],
    [{ organizationId: 7 }, 'organizationId must be a text that is not empty'],
    [{ organizationId, documentId: null }, 'documentId must be a text that is not empty'],
    [{ organizationId, documentId: undefined }, 'documentId must be a text that is not empty'],
    [{ organizationId, userIds: [] }, 'userIds must be a list that is not empty'],
    [{ organizationId, userIds: 'u' }, 'userIds must be a list that is not empty'],
    [{ organizationId, userIds: ['u', ''] }, 'userIds must hold only texts that are not empty'],
    [
      { organizationId, organizationUserGroupIds: [null] },
      'organizationUserGroupIds must hold only texts that are not empty',
    ],
    [{ organizationId, constructor: 'x' }, 'constructor is never sent'],
  ])('%j is refused: %s', (filter, fault) => {
    expect(() => checkFilter('users', filter as never)).toThrow(
      new UsageError(`Get Users: ${fault}`),
    )
  })
})

describe('filters of Get Comments', () => {
  test('the three ids pass, alone and with comment ids up to 2^53 - 1', () => {
    const commentIds = [0, 1, -1, Number.MAX_SAFE_INTEGER]
    expect(() =>
      checkFilter('comments', { organizationId, documentId, annotationId }),
    ).not.toThrow()
    expect(() =>
      checkFilter('comments', { organizationId, documentId, annotationId, commentIds }),
    ).not.toThrow()
  })

  test.each([
    [{ organizationId, documentId }, 'annotationId is missing'],
    [{ organizationId, annotationId }, 'documentId is missing'],
    [{ documentId, annotationId }, 'organizationId is missing'],
    [{ organizationId: '', documentId, annotationId }, 'organizationId must be a text'],
    [{ organizationId, documentId: '', annotationId }, 'documentId must be a text'],
    [{ organizationId, documentId, annotationId: '' }, 'annotationId must be a text'],
    [{ organizationId, documentId, annotationId, userIds }, 'userIds is never sent'],
    [{ organizationId, documentId, annotationId, commentIds: [] }, 'commentIds must be a list'],
    [{ organizationId, documentId, annotationId, commentIds: [2 ** 53] }, WHOLE],
    [{ organizationId, documentId, annotationId, commentIds: [1, 1.5] }, WHOLE],
    [{ organizationId, documentId, annotationId, commentIds: ['1'] }, WHOLE],
  ])('%j is refused: %s', (filter, fault) => {
    expect(() => checkFilter('comments', filter as unknown as CommentsFilter)).toThrow(
      `Get Comments: ${fault}`,
    )
  })
})

test('ids are cut into chunks in order, and none make none', () => {
  expect(chunkIds([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]])
  expect(chunkIds([1, 2], 2)).toEqual([[1, 2]])
  expect(chunkIds([], 2)).toEqual([])
})

test('a call in words names its ids and shortens lists of more than three', () => {
  expect(describeCall('users', { organizationId: 'o', userIds: ['1', '2', '3'] })).toBe(
    'Get Users of organizationId "o", userIds ["1","2","3"]',
  )
  expect(describeCall('users', { organizationId: 'a "b"', userIds })).toBe(
    'Get Users of organizationId "a \\"b\\"", userIds ["u"]',
  )
  const commentIds = [1, 2, 3, 4, 5]
  expect(describeCall('comments', { organizationId, documentId, annotationId, commentIds })).toBe(
    'Get Comments of organizationId "o", documentId "d", annotationId "a", commentIds [1,2,3,... 5 in all]',
  )
})
