import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/errors.ts'
import {
  checkCommentsFilter,
  checkUsersFilter,
  chunkIds,
  describeCall,
} from '../../src/service/filters.ts'
import type { CommentsFilter, UsersFilter } from '../../src/service/filters.ts'

const organizationId = 'o'
const documentId = 'd'
const annotationId = 'a'
const userIds = ['u']
const organizationUserGroupIds = ['g']

describe('filters of Get Users', () => {
  test.each<UsersFilter>([
    { organizationId },
    { organizationId, documentId },
    { organizationId, userIds },
    { organizationId, documentId, userIds },
    { organizationId, organizationUserGroupIds },
    { organizationId, userIds, organizationUserGroupIds },
  ])('the documented combination %j passes', (filter) => {
    expect(() => checkUsersFilter(filter)).not.toThrow()
  })

  test('other combinations are neither typed nor let through at run time', () => {
    // @ts-expect-error organizationId is in every documented combination
    const withoutOrganization: UsersFilter = { documentId }
    expect(() => checkUsersFilter(withoutOrganization)).toThrow('organizationId is missing')
    // @ts-expect-error a document and groups are in no documented combination
    const both: UsersFilter = { organizationId, documentId, organizationUserGroupIds }
    expect(() => checkUsersFilter(both)).toThrow(UsageError)
    // @ts-expect-error annotationId is no member of Get Users
    const other: UsersFilter = { organizationId, annotationId }
    expect(() => checkUsersFilter(other)).toThrow('annotationId is never sent')
  })

  test.each([
    [{ organizationId: '' }, 'organizationId'],
    [{ organizationId: 7 }, 'organizationId'],
    [{ organizationId, documentId: null }, 'documentId'],
    [{ organizationId, documentId: undefined }, 'documentId'],
    [{ organizationId, userIds: [] }, 'userIds'],
    [{ organizationId, userIds: 'u' }, 'userIds'],
    [{ organizationId, userIds: ['u', ''] }, 'userIds'],
    [{ organizationId, organizationUserGroupIds: [null] }, 'organizationUserGroupIds'],
    [{ organizationId, constructor: 'x' }, 'constructor'],
  ])('%j is refused, naming %s', (filter, member) => {
    expect(() => checkUsersFilter(filter as never)).toThrow(`Get Users: ${member} `)
  })
})

describe('filters of Get Comments', () => {
  test('the three ids pass, alone and with comment ids up to 2^53 - 1', () => {
    const commentIds = [0, 1, -1, Number.MAX_SAFE_INTEGER]
    expect(() => checkCommentsFilter({ organizationId, documentId, annotationId })).not.toThrow()
    expect(() =>
      checkCommentsFilter({ organizationId, documentId, annotationId, commentIds }),
    ).not.toThrow()
  })

  test.each([
    [{ organizationId, documentId }, 'annotationId'],
    [{ documentId, annotationId }, 'organizationId'],
    [{ organizationId, documentId, annotationId, userIds }, 'userIds'],
    [{ organizationId, documentId, annotationId, commentIds: [] }, 'commentIds'],
    [{ organizationId, documentId, annotationId, commentIds: [2 ** 53] }, 'commentIds'],
    [{ organizationId, documentId, annotationId, commentIds: [1.5] }, 'commentIds'],
    [{ organizationId, documentId, annotationId, commentIds: ['1'] }, 'commentIds'],
  ])('%j is refused, naming %s', (filter, member) => {
    expect(() => checkCommentsFilter(filter as unknown as CommentsFilter)).toThrow(
      `Get Comments: ${member} `,
    )
  })
})

test('ids are cut into chunks in order, and none make none', () => {
  expect(chunkIds([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]])
  expect(chunkIds([1, 2], 2)).toEqual([[1, 2]])
  expect(chunkIds([], 2)).toEqual([])
})

test('a call in words names its ids and shortens long lists', () => {
  expect(describeCall('users', { organizationId: 'a "b"', userIds })).toBe(
    'Get Users of organizationId "a \\"b\\"", userIds ["u"]',
  )
  const commentIds = [1, 2, 3, 4, 5]
  expect(describeCall('comments', { organizationId, documentId, annotationId, commentIds })).toBe(
    'Get Comments of organizationId "o", documentId "d", annotationId "a", commentIds [1,2,3,... 5 in all]',
  )
})
