import type { UsersFilter } from '../../src/base/operations.ts'
import { expect, test } from 'vitest'
import { chunkIds, describeCall } from '../../src/core/service/filters.ts'

const organizationId = 'o'
const documentId = 'd'
const annotationId = 'a'
const userIds = ['u']
const organizationUserGroupIds = ['g']

test('the types allow the six documented combinations of Get Users, and no other', () => {
  const allowed: UsersFilter[] = [
    { organizationId },
    { organizationId, documentId },
    { organizationId, userIds },
    { organizationId, documentId, userIds },
    { organizationId, organizationUserGroupIds },
    { organizationId, userIds, organizationUserGroupIds },
  ]
  const others: UsersFilter[] = [
    // @ts-expect-error organizationId is in every documented combination
    { documentId },
    // @ts-expect-error a document and groups are in no documented combination
    { organizationId, documentId, organizationUserGroupIds },
    // @ts-expect-error annotationId is no member of Get Users
    { organizationId, annotationId },
  ]
  expect([allowed.length, others.length]).toEqual([6, 3])
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
