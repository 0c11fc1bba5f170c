import { expect, test } from 'vitest'
import type { RunDetails } from '../../src/documents/run.ts'
import { nightlyVerdict } from '../../src/http/pages/overview/nightly-verdict.ts'

const MINUTE = 60_000
const DUE = new Date('2025-11-21T02:00:00Z')
const NEXT = new Date('2025-11-22T02:00:00Z')
const SUCCEEDED = {
  status: 'succeeded',
  problem: null,
  requestedAt: DUE,
  finishedAt: new Date(DUE.getTime() + 5 * MINUTE),
  durationMs: 5 * MINUTE,
  scopesSucceeded: 1200,
  commentsWritten: 1,
  commentsDeleted: 0,
  usersWritten: 7,
  usersRemoved: 0,
  membersRemoved: 0,
  failuresByState: { failing: 0, resolved: 0, leftCatalog: 0 },
} as RunDetails

test('a night that went well is told with what it did', () => {
  expect(nightlyVerdict(SUCCEEDED, NEXT)).toEqual({
    tone: 'good',
    title: 'The last nightly run succeeded',
    sentence: 'Scopes: 1,200 succeeded, in 5 min 00 s. Comments: 1 written. Users: 7 written.',
  })
})

test('a night in which people left says so', () => {
  const nightly = { ...SUCCEEDED, usersRemoved: 1, membersRemoved: 1200 }
  expect(nightlyVerdict(nightly, NEXT).sentence).toMatch(
    /Users: 7 written, 1 removed, 1,200 memberships ended\.$/,
  )
  expect(nightlyVerdict({ ...nightly, membersRemoved: 1 }, NEXT).sentence).toMatch(
    /1 removed, 1 membership ended\.$/,
  )
})

test('a night that did not go well is told with its own sentence', () => {
  const nightly = { ...SUCCEEDED, status: 'partial', problem: '3 scopes failed.' } as RunDetails
  expect(nightlyVerdict(nightly, NEXT)).toEqual({
    tone: 'warn',
    title: 'The last nightly run succeeded in part',
    sentence: '3 scopes failed.',
  })
  expect(nightlyVerdict({ ...nightly, status: 'failed' }, NEXT)).toMatchObject({ tone: 'bad' })
  const failuresByState = { failing: 1, resolved: 2, leftCatalog: 0 }
  expect(nightlyVerdict({ ...nightly, failuresByState }, NEXT)).toMatchObject({
    sentence: '3 scopes failed. Now: 1 still failing, 2 resolved.',
  })
})

test('a run that is under way is told so', () => {
  const nightly = { ...SUCCEEDED, status: 'running', finishedAt: null } as RunDetails
  expect(nightlyVerdict(nightly, NEXT)).toMatchObject({
    tone: 'info',
    title: 'The nightly run is under way',
  })
})

test('before the first night nothing is judged', () => {
  expect(nightlyVerdict(null, NEXT)).toMatchObject({
    tone: 'idle',
    title: 'No nightly run yet',
    sentence: 'The first one starts when its time comes and a worker is alive.',
  })
  expect(nightlyVerdict(null, null).sentence).toBe('None is scheduled.')
})
