import { expect, test } from 'vitest'
import { describeCounts } from '../../src/schemas/format.ts'

test('counts of a run leave out what is 0 except for the first, and are written in the singular for 1', () => {
  const users = { usersWritten: 0, usersRemoved: 0, membersRemoved: 1200 }
  expect(describeCounts(users, 'users')).toBe('0 stored, 1,200 memberships ended')
  expect(describeCounts({ ...users, membersRemoved: 1 }, 'users')).toMatch(/, 1 membership ended$/)
})
