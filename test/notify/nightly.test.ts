import { describe, expect, test } from 'vitest'
import { isMissed, lateRun } from '../../src/notify/nightly.ts'
import type { NightlyRuns } from '../../src/notify/nightly.ts'

const MINUTE = 60_000
const at = (text: string) => new Date(`2026-${text}Z`)
const NOT_RUNNING = { runId: null, requestedAt: null, runningS: null }
const NONE: NightlyRuns = { began: false, ...NOT_RUNNING, usualOf: 0, usualS: null }

describe('the run that was due', () => {
  const due = at('11-21T01:00:00')
  const before = at('11-01T00:00:00')
  const running = { runId: 'r', requestedAt: before, runningS: 1 }
  test.each([
    ['is missed where none began', NONE, before, true],
    ['is not missed where one began', { ...NONE, began: true }, before, false],
    [
      'is not missed while the one before is still under way',
      { ...NONE, ...running },
      before,
      false,
    ],
    ['is not missed where nobody knew the schedule then', NONE, at('11-21T01:00:01'), false],
  ])('%s', (_, runs, since, missed) => {
    expect(isMissed(runs, due, since)).toBe(missed)
  })
})

describe('the run under way', () => {
  const of = (runningS: number, usualS: number | null, usualOf = 14): NightlyRuns => ({
    began: true,
    runId: 'r',
    requestedAt: new Date(),
    runningS,
    usualOf,
    usualS,
  })
  test.each([
    ['is late beyond half as long again as usual and half an hour', of(7201, 3600), true],
    ['is not late before', of(7199, 3600), false],
    ['is given half an hour where it usually takes seconds', of(1799, 2), false],
    ['is late half an hour after it usually has long ended', of(1804, 2), true],
    ['is never late while fewer than three tell what is usual', of(1e6, 2, 2), false],
    ['is never late where none tells', of(1e6, null, 0), false],
  ])('%s', (_, runs, late) => {
    expect(lateRun(runs, 30 * MINUTE) !== null).toBe(late)
  })

  test('is not there', () => {
    expect(lateRun({ ...NONE, usualOf: 5, usualS: 1 }, 0)).toBe(null)
  })
})
