import type * as pages from '../../../core/database/statements/pages.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import { STATUS_TONES } from '../../../schemas/columns.ts'
import type { Tone } from '../../../schemas/columns.ts'
import { count, counted, duration, time } from '../../../schemas/format.ts'
import type { RunStatus } from '../../../schemas/run.ts'
import { Sign, Time } from '../elements.tsx'

type Night = RowOf<typeof pages.nights>

/** Nights that a small window shows. */
const SMALL = 14
/** A duration above this many medians is cut, so that it does not flatten the others. */
const MEDIANS_MAX = 4
/** The height of the drawing, in units of its own; its width is one unit a night. */
const HEIGHT = 100

/**
 * Nights as bars, the oldest first: height = duration, colour and sign = status, and a line of calls. A missed night is a gap.
 * The words of a night are shown on hover and on focus. Labels are HTML, because the drawings are stretched.
 */
export function Nights({ nights }: { nights: readonly Night[] }) {
  const durationsMs = nights.flatMap(({ durationMs }) => durationMs ?? [])
  const longestMs = cutAt(durationsMs)
  const isCut = durationsMs.some((ms) => ms > longestMs)
  const mostCalls = Math.max(...nights.map(({ calls }) => calls ?? 0))
  const small = nights.slice(-SMALL)
  return (
    <div class="nights">
      <a class="past" href="#days">
        Skip the nights
      </a>
      <p class="ends">
        <span>
          Bars: duration, up to {duration(longestMs)}
          {isCut && '; a cut bar is longer'}
        </span>
        <span>Line: calls, up to {count(mostCalls)}</span>
      </p>
      <div class="bars">
        <ol>
          {nights.map((night) => (
            <Bar key={night.dueAt.getTime()} night={night} longestMs={longestMs} />
          ))}
        </ol>
        <Calls nights={nights} most={mostCalls} of="wide" />
        <Calls nights={small} most={mostCalls} of="small" />
      </div>
      <p class="ends">
        {nights[0] && (
          <span class="wide">
            <Time at={nights[0].dueAt} />
          </span>
        )}
        {small[0] && (
          <span class="small">
            <Time at={small[0].dueAt} />
          </span>
        )}
        {small.length > 1 && <Time at={(small.at(-1) as Night).dueAt} />}
      </p>
      <ul class="key">
        {KEY.map(([tone, words]) => (
          <li key={words} class={tone}>
            <Sign tone={tone} /> {words}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** What the signs below the bars say. The words of one night take its place. */
const KEY: readonly (readonly [Tone, string])[] = [
  ['good', 'succeeded'],
  ['warn', 'partial'],
  ['bad', 'failed or missed'],
  ['info', 'queued or running'],
  ['idle', 'cancelled, paused or due'],
]

/** The longest duration, or the limit for bars if it is far above the others. */
function cutAt(durationsMs: readonly number[]): number {
  const inOrder = durationsMs.toSorted((a, b) => a - b)
  const median = inOrder[inOrder.length >> 1] ?? 0
  return Math.min(inOrder.at(-1) ?? 0, median * MEDIANS_MAX)
}

function Bar({ night, longestMs }: { night: Night; longestMs: number }) {
  const { runId, status, durationMs } = night
  const height = longestMs > 0 ? ((durationMs ?? 0) / longestMs) * HEIGHT : 0
  const tone = toneOf(status)
  const content = (
    <>
      <svg viewBox={`0 0 1 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {status === 'running' && (
          <pattern id="hatch" width="1" height="6" patternUnits="userSpaceOnUse">
            <path d="M0 6L1 0" vector-effect="non-scaling-stroke" />
          </pattern>
        )}
        <rect
          x=".12"
          width=".76"
          y={HEIGHT - Math.min(height, HEIGHT)}
          height={Math.min(height, HEIGHT)}
          fill={status === 'running' ? 'url(#hatch)' : 'currentColor'}
        />
        {height > HEIGHT && (
          <path class="cut" d="M0 12L1 6M0 18L1 12" vector-effect="non-scaling-stroke" />
        )}
      </svg>
      <Sign tone={tone} />
      <span class="tip">{wordsOf(night)}</span>
    </>
  )
  return (
    <li class={tone}>
      {runId === null ? (
        <span tabIndex={0}>{content}</span>
      ) : (
        <a href={`/runs/${runId}`}>{content}</a>
      )}
    </li>
  )
}

/** The tone of a night. A night that is due or paused has no run. */
function toneOf(status: string): Tone {
  if (status === 'missed') return 'bad'
  return status === 'due' || status === 'paused' ? 'idle' : STATUS_TONES[status as RunStatus]
}

function wordsOf({ dueAt, status, durationMs, calls }: Night): string {
  if (durationMs === null) return `${time(dueAt)}: ${status}`
  const verb = status === 'running' ? 'in progress for' : `${status} in`
  return `${time(dueAt)}: ${verb} ${duration(durationMs)}, ${counted(calls ?? 0, 'call')}`
}

/** A line of the calls of each night, with gaps where a night has no run. */
function Calls({ nights, most, of }: { nights: readonly Night[]; most: number; of: string }) {
  const lines: string[] = ['']
  for (const [place, { calls }] of nights.entries()) {
    if (calls === null) lines.push('')
    else
      lines.push(`${lines.pop()} ${place + 0.5},${HEIGHT - (calls / Math.max(1, most)) * HEIGHT}`)
  }
  return (
    <svg
      class={`line ${of}`}
      viewBox={`0 0 ${nights.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {lines.map((points) => (
        <polyline key={points} points={points.trim()} vector-effect="non-scaling-stroke" />
      ))}
    </svg>
  )
}
