import type { ComponentChildren } from 'preact'
import type { RunStatus } from '../documents/run.ts'
import { count, counted } from '../format.ts'
import { roughAge } from './page-context.ts'

/** How something stands: its colour, its sign and, always, its word. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'idle'

const SIGNS: Record<Tone, string> = { good: '✓', warn: '!', bad: '✕', info: '→', idle: '–' }

export const STATUS_TONES: Record<RunStatus, Tone> = {
  queued: 'info',
  running: 'info',
  succeeded: 'good',
  partial: 'warn',
  failed: 'bad',
  cancelled: 'idle',
}

/** A word with its colour and sign. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <Sign tone={tone} />
      {children}
    </span>
  )
}

/** The status of a run. */
export function StatusBadge({ status }: { status: RunStatus }) {
  return <Badge tone={STATUS_TONES[status]}>{status}</Badge>
}

/** A sign that stands beside a word saying the same. */
export function Sign({ tone }: { tone: Tone }) {
  return (
    <span class="sign" aria-hidden="true">
      {SIGNS[tone]}
    </span>
  )
}

/** A time in UTC, to the minute. */
export function Time({ at }: { at: Date }) {
  return (
    <time dateTime={at.toISOString()} title={at.toISOString()}>
      {`${DAY.format(at)}, ${at.toISOString().slice(11, 16)}`}
    </time>
  )
}

/** How long ago a time was, or in how long it will be. */
export function Ago({ at, now = new Date() }: { at: Date; now?: Date }) {
  const ms = now.getTime() - at.getTime()
  return (
    <time dateTime={at.toISOString()} title={at.toISOString()}>
      {ms >= 0 ? `${roughAge(ms)} ago` : `in ${roughAge(-ms)}`}
    </time>
  )
}

/** A sentence of ours, with what stands between backquotes as code. */
export function Sentence({ of }: { of: string }) {
  return (
    <>
      {of
        .split('`')
        .map((part, place) => (place % 2 === 0 ? part : <code key={place}>{part}</code>))}
    </>
  )
}

/** Terms with what holds of each. */
export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([term, what]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A wide table's own scroller, so that the page itself never scrolls sideways; the keyboard reaches it. */
export function Scroller({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroller" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}

/** The heads of a table's columns. */
export function Heads({ of }: { of: readonly (readonly [string, 'number'?])[] }) {
  return (
    <thead>
      <tr>
        {of.map(([head, kind]) => (
          <th key={head} scope="col" class={kind}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
  )
}

/** A way to the next page of a listing, where there is one, and back to the first. */
export function Pager({
  path,
  query,
  nextCursor,
  cursorName = 'cursor',
  anchor,
}: {
  path: string
  /** What the listing is narrowed to, and where this page begins. */
  query: Record<string, string | undefined>
  nextCursor: string | null
  /** Where a page has two listings, each has a cursor and a place of its own. */
  cursorName?: string
  anchor?: string
}) {
  const isFirst = query[cursorName] === undefined
  if (nextCursor === null && isFirst) return null
  const pathOf = (cursor: string | undefined) =>
    pathWith(path, { ...query, [cursorName]: cursor }) + (anchor === undefined ? '' : `#${anchor}`)
  return (
    <nav
      class="pager"
      aria-label={`Pages of this list${anchor === undefined ? '' : ` (${anchor})`}`}
    >
      {!isFirst && (
        <a class="button quiet" href={pathOf(undefined)}>
          First page
        </a>
      )}
      {nextCursor !== null && (
        <a class="button quiet" rel="next" href={pathOf(nextCursor)}>
          Next page
        </a>
      )}
    </nav>
  )
}

/** A path with the members of a query that have a value. */
function pathWith(path: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1])
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

/** What an action did, said on the page that comes after it. */
export interface Notice {
  readonly tone: 'good' | 'info'
  readonly sentence: string
}

/** The fixed vocabulary: an address can choose among these sentences and fill in counts, nothing else. */
const NOTICES = {
  'run-started': () => good('The run is asked for. Workers take it up; this page follows it.'),
  'run-stored': () =>
    info(
      'The run is asked for. The queue cannot be reached: a worker takes the run up once it can.',
    ),
  'run-known': () => info('This run was asked for before; nothing new was started.'),
  'run-cancelled': () =>
    good('The run ends: nothing further is asked for, and what is stored stays.'),
  'held-accepted': (removed: number) =>
    good(`The removal is accepted: ${counted(removed, 'user')} left the listing.`),
  replayed: (stored: number, still: number, obsolete: number) =>
    good(
      `Tried again: ${counted(stored, 'rejected record')} stored, ${count(still)} still not, ${count(obsolete)} overtaken by newer answers.`,
    ),
  'schedule-set': () => good('The nightly schedule is set, for all workers.'),
  'schedule-removed': () => good('The nightly schedule is removed: no run starts by itself.'),
} satisfies Record<string, (...counts: number[]) => Notice>

export type NoticeName = keyof typeof NOTICES

/** The address of a page that says what an action did. */
export function pathWithNotice(
  path: string,
  name: NoticeName,
  counts: readonly number[] = [],
): string {
  const query = new URLSearchParams({ done: name })
  if (counts.length > 0) query.set('counts', counts.join('.'))
  return `${path}?${query}`
}

/** The notice that an address asks for; null where it asks for none of ours. */
export function noticeOf(query: unknown): Notice | null {
  const { done, counts } = query as Record<string, unknown>
  if (typeof done !== 'string' || !Object.hasOwn(NOTICES, done)) return null
  const write: (...counts: number[]) => Notice = NOTICES[done as NoticeName]
  const numbers = typeof counts === 'string' ? counts.split('.').map(Number) : []
  const isComplete = numbers.length >= write.length
  return isComplete && numbers.every((n) => Number.isSafeInteger(n) && n >= 0)
    ? write(...numbers)
    : null
}

function good(sentence: string): Notice {
  return { tone: 'good', sentence }
}

function info(sentence: string): Notice {
  return { tone: 'info', sentence }
}
