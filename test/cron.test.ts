import { describe, expect, test } from 'vitest'
import { daysNeverDue, isTooFrequent, nextDue } from '../src/base/cron.ts'

const HOUR_MS = 3_600_000

describe('at a clock change', () => {
  // The second of three is the one that the change concerns.
  test.each([
    ['Europe/Berlin', '0 2 * * *', ['03-27T01:00', '03-28T01:00', '03-29T00:00']],
    ['Europe/Berlin', '30 2 * * *', ['03-27T01:30', '03-28T01:00', '03-29T00:30']],
    ['Europe/Berlin', '0 2,14 * * *', ['03-27T13:00', '03-28T01:00', '03-28T12:00']],
    ['Europe/Berlin', '0 2 * * *', ['10-30T00:00', '10-31T00:00', '11-01T01:00']],
    ['America/New_York', '0 2 * * *', ['03-13T07:00', '03-14T07:00', '03-15T06:00']],
    ['America/New_York', '30 2 * * *', ['03-13T07:30', '03-14T07:00', '03-15T06:30']],
    ['America/New_York', '30 1 * * *', ['11-06T05:30', '11-07T05:30', '11-08T06:30']],
    ['America/Santiago', '0 0 * * *', ['09-04T04:00', '09-05T04:00', '09-06T03:00']],
    ['America/Havana', '0 0 * * *', ['03-13T05:00', '03-14T05:00', '03-15T04:00']],
    ['Asia/Beirut', '0 0 * * *', ['03-26T22:00', '03-27T22:00', '03-28T21:00']],
    ['Africa/Cairo', '0 0 * * *', ['04-28T22:00', '04-29T22:00', '04-30T21:00']],
    ['Australia/Lord_Howe', '0 2 * * *', ['04-01T15:00', '04-02T15:00', '04-03T15:30']],
    ['Australia/Lord_Howe', '0 2 * * *', ['10-01T15:30', '10-02T15:30', '10-03T15:00']],
  ])('%s, %s is due at %j', (timeZone, cron, dates) => {
    const [before, at, after] = dates.map((date) => Date.parse(`2027-${date}Z`)) as [
      number,
      number,
      number,
    ]
    for (let time = before; time < at; time += HOUR_MS)
      expect(nextDue({ cron, timeZone }, new Date(time))).toEqual(new Date(at))
    for (let time = at; time < after; time += HOUR_MS)
      expect(nextDue({ cron, timeZone }, new Date(time))).toEqual(new Date(after))
  })
})

test.each([
  ['* * * * *', false],
  ['5 0 2 * * *', false],
  ['* * * * * *', true],
  ['*/30 * * * * *', true],
  ['0,59 0 2 * * *', true],
  ['0,30 0 2 29 2 *', true],
])('%s is due more often than once a minute: %s', (cron, tooFrequent) => {
  expect(isTooFrequent(cron)).toBe(tooFrequent)
})

test.each([
  ['0 2 * * *', []],
  ['0 2 * * 1-5', [6, 7]],
  ['0 22 * * 0-4', [5, 6]],
  ['0 2 * * 7', [1, 2, 3, 4, 5, 6]],
  ['0 2 * * 5L', [1, 2, 3, 4, 6, 7]],
  ['0 2 * 3 1#1', [2, 3, 4, 5, 6, 7]],
  ['@weekly', [1, 2, 3, 4, 5, 6]],
  ['0 2 1-7 * +1', [2, 3, 4, 5, 6, 7]],
  ['0 2 1 * *', []],
  ['0 2 1 * 1', []],
  ['0 2 29 2 *', []],
])('%s is never due on %j', (cron, days) => {
  expect(daysNeverDue(cron)).toEqual(days)
})
