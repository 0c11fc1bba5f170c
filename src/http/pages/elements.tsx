import { createContext } from 'preact'
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import { roughAge } from '../../documents/format.ts'
import type { RunStatus } from '../../documents/run.ts'

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

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

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

interface CardProps {
  readonly title: string
  /** What stands beside the heading. */
  readonly beside?: ComponentChildren
  readonly id?: string
  readonly children: ComponentChildren
}

/** A part of a page, under a heading of its own. */
export function Card({ title, beside, id, children }: CardProps) {
  return (
    <section class="card" id={id}>
      <div class="head">
        <h2>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
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

/** A word or a sentence with a capital letter at its start. */
export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Whether whoever sees the page may change something. */
export const MayOperate = createContext(true)

/** What only those see who may change something. */
export function ForOperators({ children }: { children: ComponentChildren }) {
  return useContext(MayOperate) ? <>{children}</> : null
}

/** What a form sends, or the query of an address. A member without a value is left out. */
export type Fields = Readonly<Record<string, string | number | null | undefined>>

/** Fields that a form sends without showing them. */
export function HiddenFields({ of }: { of: object }) {
  return Object.entries(of).map(
    ([name, value]) =>
      value != null && <input key={name} type="hidden" name={name} value={String(value)} />,
  )
}

interface AskButtonProps {
  readonly action: string
  readonly fields?: Fields
  readonly words: string
  /** What tells it from others with the same words, for those who only hear it. */
  readonly about?: string
  readonly kind?: 'primary' | 'quiet'
}

/** A button that leads to the question of an action, which says what will happen; nothing is changed yet. */
export function AskButton({ action, fields = {}, words, about, kind = 'quiet' }: AskButtonProps) {
  return (
    <ForOperators>
      <form method="get" action={`/actions/${action}`}>
        <HiddenFields of={fields} />
        <button class={`button ${kind}`} type="submit">
          {words}
          {about !== undefined && <span class="unseen"> {about}</span>}
        </button>
      </form>
    </ForOperators>
  )
}
