import { expect, test } from 'vitest'
import type { RunDetails } from '../../src/documents/run.ts'
import { nightlyVerdict } from '../../src/pages/overview/nightly-verdict.ts'

const MINUTE = 60_000
const DUE = new Date('2025-11-21T02:00:00Z')
const SCHEDULE = {
  cron: '0 2 * * *',
  timeZone: 'UTC',
  setBy: 'settings',
  by: null,
  setAt: null,
  next: new Date('2025-11-22T02:00:00Z'),
  registered: true,
} as const
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
} as RunDetails

test('a night that went well is told with what it did', () => {
  expect(judge({})).toEqual({
    tone: 'good',
    title: 'Last night succeeded',
    sentence:
      '1,200 scopes checked in 5 min 00 s, 1 comment written, 0 found deleted, 7 users written.',
  })
})

test('a night in which people left says so', () => {
  const nightly = { ...SUCCEEDED, usersRemoved: 1, membersRemoved: 1200 }
  expect(judge({ nightly }).sentence).toMatch(
    /7 users written, 1 user removed, 1,200 memberships ended\.$/,
  )
})

test('a night that did not go well is told with its own sentence', () => {
  const nightly = { ...SUCCEEDED, status: 'partial', problem: '3 scopes failed.' } as RunDetails
  expect(judge({ nightly })).toEqual({
    tone: 'warn',
    title: 'Last night succeeded in part',
    sentence: '3 scopes failed.',
  })
  expect(judge({ nightly: { ...nightly, status: 'failed' } })).toMatchObject({ tone: 'bad' })
})

test('a run that is due and did not start is told, once it is late', () => {
  const before = { ...SUCCEEDED, requestedAt: new Date('2025-11-20T02:00:00Z') }
  const at = (minutes: number) => new Date(DUE.getTime() + minutes * MINUTE)
  expect(judge({ nightly: before, now: at(29) })).toMatchObject({ tone: 'good' })
  expect(judge({ nightly: before, now: at(31) })).toEqual({
    tone: 'bad',
    title: 'The nightly run did not start',
    sentence:
      'It was due at 2025-11-21 02:00. A worker must be alive to start it (`collab-sync worker`).',
  })
})

test('a schedule that was set since, or removed, asked for nothing', () => {
  const nightly = { ...SUCCEEDED, requestedAt: new Date('2025-11-19T02:00:00Z') }
  const setAt = new Date('2025-11-21T02:10:00Z')
  expect(judge({ nightly, setAt })).toMatchObject({ tone: 'good' })
  const schedule = { ...SCHEDULE, cron: null, next: null }
  expect(judge({ nightly, schedule })).toMatchObject({ tone: 'good' })
})

test('a run that began yesterday and is under way still is not taken for a missing one', () => {
  const nightly = {
    ...SUCCEEDED,
    status: 'running',
    requestedAt: new Date('2025-11-20T02:00:00Z'),
    finishedAt: null,
  } as RunDetails
  expect(judge({ nightly })).toMatchObject({
    tone: 'info',
    title: 'The nightly run is under way',
  })
})

test('before the first night nothing is judged', () => {
  expect(judge({ nightly: null })).toMatchObject({ tone: 'idle', title: 'No nightly run yet' })
})

function judge(known: Partial<Parameters<typeof nightlyVerdict>[0]>) {
  return nightlyVerdict({
    nightly: SUCCEEDED,
    schedule: SCHEDULE,
    setAt: null,
    lateAfterMs: 30 * MINUTE,
    now: new Date('2025-11-21T09:00:00Z'),
    ...known,
  })
}
