import { expect, test } from 'vitest'
import { RUN_COUNTS, RUN_TIMES, SHOWN_COUNTS } from '../../src/schemas/counts.ts'
import { describeCounts } from '../../src/schemas/format.ts'

/** Counts with a place of their own in the description of a run. */
const ELSEWHERE = ['scopesPlanned', 'rejected']

test('every count of a run is described', () => {
  const described = [...Object.values(RUN_COUNTS), RUN_TIMES].flat().map(([, name]) => name)
  const missing = Object.keys(SHOWN_COUNTS).filter(
    (name) => !described.some((each) => each === name),
  )
  expect(missing.toSorted()).toEqual(ELSEWHERE.toSorted())
})

test('counts of a run leave out what is 0 except for the first, and are written in the singular for 1', () => {
  const users = { usersWritten: 0, usersRemoved: 0, membersRemoved: 1200 }
  expect(describeCounts(users, 'users')).toBe('0 stored, 1,200 memberships ended')
  expect(describeCounts({ ...users, membersRemoved: 1 }, 'users')).toMatch(/, 1 membership ended$/)
})
