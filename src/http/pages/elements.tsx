import { createContext } from 'preact'
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import type { Tone } from '../../schemas/columns.ts'
import { ago, time } from '../../schemas/format.ts'

const SIGNS: Record<Tone, string> = { good: '✓', warn: '!', bad: '✕', info: '→', idle: '–' }

/** A word with its colour and sign. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      <Sign tone={tone} />
      {children}
    </span>
  )
}

/** A sign that stands beside a word saying the same. */
export function Sign({ tone }: { tone: Tone }) {
  return (
    <span class="sign" aria-hidden="true">
      {SIGNS[tone]}
    </span>
  )
}

/** A time as in sentences. */
export function Time({ at, show = time }: { at: Date; show?: (at: Date) => string }) {
  return (
    <time dateTime={at.toISOString()} title={at.toISOString()}>
      {show(at)}
    </time>
  )
}

/** How long ago a time was, or in how long it will be. */
export function Ago({ at }: { at: Date }) {
  return <Time at={at} show={ago} />
}

/** A sentence of collab-sync, with the text between backquotes as code. */
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
  readonly id?: string
  readonly children: ComponentChildren
}

/** A part of a page, under a heading of its own. */
export function Card({ title, id, children }: CardProps) {
  return (
    <section class="card" id={id}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** A word or a sentence with a capital letter at its start. */
export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Whether the rights of the user allow changes. */
export const MayOperate = createContext(true)

/** Content for users who may make changes. */
export function ForOperators({ children }: { children: ComponentChildren }) {
  return useContext(MayOperate) ? <>{children}</> : null
}

/** The fields of a form, or the query of an address. Fields without a value are omitted. */
export type Fields = Readonly<Record<string, string | number | null | undefined>>

/** A path with the fields of a query that have a value. */
export function pathWith(path: string, query: Fields): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value != null && value !== '') given.set(name, String(value))
  return given.size === 0 ? path : `${path}?${given}`
}

/** Hidden fields of a form. */
export function HiddenFields({ of }: { of: object }) {
  return Object.entries(of).map(
    ([name, value]) =>
      value != null && <input key={name} type="hidden" name={name} value={String(value)} />,
  )
}

/** The button that sends a form. */
export function Submit({ words, kind = 'quiet' }: { words: string; kind?: string }) {
  return (
    <button class={`button ${kind}`} type="submit">
      {words}
    </button>
  )
}

interface ActionButtonProps {
  readonly action: string
  readonly fields?: Fields
  readonly words: string
  /** Distinguishes it from buttons with the same words, for screen readers. */
  readonly about?: string
  readonly kind?: 'primary' | 'quiet'
}

/** A button that opens the question of an action, which describes the effect. It changes nothing yet. */
export function ActionButton({
  action,
  fields = {},
  words,
  about,
  kind = 'quiet',
}: ActionButtonProps) {
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
