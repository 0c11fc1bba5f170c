import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { ReportedWaits } from '../../src/core/sync/waits.ts'
import type { FoundWait } from '../../src/core/sync/waits.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 2) }))
afterEach(() => void vi.useRealTimers())

const error = new CallError('failed', { kind: 'retry', httpStatus: 503, errorStatus: 'NOPE' })

function logged() {
  const lines: string[] = []
  const log = createLog('info', {
    write: (text: string) => void lines.push((JSON.parse(text) as { msg: string }).msg),
  })
  return { lines, waits: new ReportedWaits(log, 5) }
}

test('a wait is logged when it begins, each minute, and when it ends', () => {
  const { lines, waits } = logged()
  const beat = (found: FoundWait | null) => {
    waits.report(found)
    vi.advanceTimersByTime(5_000)
    return lines.splice(0)
  }
  expect(beat({ kind: 'overtaken' })).toEqual([
    'Waiting since 2026-01-01 02:00:00Z: another run wrote to the same batch. Its scopes are fetched again after a pause.',
  ])
  for (let beats = 1; beats < 12; beats += 1) expect(beat({ kind: 'overtaken' })).toEqual([])
  expect(beat({ kind: 'overtaken' })).toEqual([expect.stringContaining('since 2026-01-01 02:00')])
  expect(beat(null)).toEqual(['the wait is over'])
  expect(beat({ kind: 'overtaken' })).toEqual([])
  expect(beat({ kind: 'idle' })).toEqual([])
})

test.each<[FoundWait, string]>([
  [
    { kind: 'away', error },
    'the service takes no call. The last try ended with: Service Unavailable (HTTP 503). Each call is tried 6 times (SYNC_RETRIES), then the run continues without its scope.',
  ],
  [
    { kind: 'throttled', until: new Date(Date.UTC(2026, 0, 1, 2, 1)) },
    'the service throttles another process, and all processes pause. Next try at 2026-01-01 02:01:00Z.',
  ],
  [{ kind: 'queue' }, 'the queue is unavailable, so no job can be taken.'],
  [
    { kind: 'paused', until: new Date(Date.UTC(2026, 0, 1, 2, 1)) },
    'continuous refresh is paused until 2026-01-01 02:01:00Z.',
  ],
])('%j is a sentence without a word of the service', (found, words) => {
  const sentence = `Waiting since 2026-01-01 02:00:00Z: ${words}`
  expect(logged().waits.report(found)).toMatchObject({ kind: found.kind, sentence })
})
