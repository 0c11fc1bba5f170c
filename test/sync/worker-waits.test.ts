import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { ReportedWaits } from '../../src/core/sync/worker-waits.ts'
import type { FoundWait } from '../../src/core/sync/worker-waits.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, 2) }))
afterEach(() => void vi.useRealTimers())

function logged() {
  const lines: string[] = []
  const log = createLog('info', {
    write: (text: string) => void lines.push((JSON.parse(text) as { msg: string }).msg),
  })
  return { lines, waits: new ReportedWaits(log, 5) }
}

test('a wait for work ends when a job begins, even between two heartbeats; a wait of calls does not', () => {
  const { waits } = logged()
  const sinceMs = (kind: FoundWait['kind']) => {
    vi.advanceTimersByTime(5_000)
    return Number(waits.report({ kind })?.since)
  }
  for (const [kind, isOver] of [
    ['idle', true],
    ['queue', true],
    ['rate_limit', false],
  ] as const) {
    const first = sinceMs(kind)
    expect(sinceMs(kind)).toBe(first)
    waits.workBegins()
    expect(sinceMs(kind) - first).toBe(isOver ? 10_000 : 0)
  }
})

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

test('the sentence names the pace, and who paused the calls and why', () => {
  const { waits } = logged()
  const say = (found: FoundWait) => waits.report(found)?.sentence.split('Z: ').slice(1).join('Z: ')
  const until = new Date(Date.UTC(2026, 0, 1, 3))
  expect([
    say({ kind: 'rate_limit', callsPerSecond: 5, isPace: true }),
    say({ kind: 'rate_limit', callsPerSecond: 5, isPace: false }),
    say({ kind: 'paused_by_person', by: 'ann', until, reason: 'the owner asked.' }),
    say({ kind: 'paused_by_person', by: 'ann', until, reason: null }),
  ]).toEqual([
    'calls wait for their slots at the pace that was set (5 a second for all processes).',
    'calls wait for their slots under SYNC_RATE_LIMIT (5 a second for all processes).',
    'the calls are paused by ann until 2026-01-01 03:00:00Z: the owner asked.',
    'the calls are paused by ann until 2026-01-01 03:00:00Z.',
  ])
})
