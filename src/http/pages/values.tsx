import { Fragment, isValidElement } from 'preact'
import type { ComponentChildren, VNode } from 'preact'
import type { Value } from '../../schemas/columns.ts'
import { count, shortId } from '../../schemas/format.ts'
import { Ago, Badge, capitalized, Time } from './elements.tsx'
import { ThingLink } from './things/thing-link.tsx'

/** The content of a cell or a fact: a value, or an element of one page. */
export type Content = Value | VNode

/** A value with its links, badges and marks. */
export function Shown({ of }: { of: Content }): ComponentChildren {
  if (of === null || typeof of === 'string') return of
  if (typeof of === 'number') return count(of)
  if (typeof of === 'boolean') return of ? 'yes' : 'no'
  if (of instanceof Date) return <Time at={of} />
  if (isValidElement(of)) return of
  if ('words' in of) return <Several of={of.words} between=" " />
  if ('list' in of) return <Several of={of.list} between=", " />
  if ('runId' in of) return <a href={`/runs/${of.runId}`}>{of.text ?? shortId(of.runId)}</a>
  if ('path' in of) return <a href={of.path}>{of.text}</a>
  if ('ids' in of) return <ThingLink ids={of.ids}>{of.text}</ThingLink>
  if ('count' in of) return count(of.count)
  if ('tone' in of) return <Badge tone={of.tone}>{of.text}</Badge>
  if ('ago' in of) return <Ago at={of.ago} />
  if ('code' in of) return <code>{of.code}</code>
  if ('quote' in of) return <blockquote class="words">{of.quote}</blockquote>
  if ('record' in of)
    return (
      <pre class="record" tabIndex={0} aria-label="The record as received">
        {of.record}
      </pre>
    )
  return (
    <>
      <Shown of={of.value} />
      {of.note !== null && (
        <div class="soft">
          <Shown of={of.note} />
        </div>
      )}
    </>
  )
}

function Several({ of, between }: { of: readonly Value[]; between: string }) {
  return of.map((value, place) => (
    <Fragment key={place}>
      {place > 0 && between}
      <Shown of={value} />
    </Fragment>
  ))
}

const LONG = 40

/** True for sentences, which get a line of their own. */
function isLong(value: Content): boolean {
  if (typeof value === 'string') return value.length > LONG
  return typeof value === 'object' && value !== null && 'words' in value && value.words.some(isLong)
}

/** Terms with their values. Facts without a value are omitted. */
export function Facts({ of }: { of: readonly (readonly [string, Content])[] }) {
  return (
    <dl class="facts">
      {of.map(
        ([term, value]) =>
          value !== null && (
            <div key={term} class={isLong(value) ? 'long' : undefined}>
              <dt>{capitalized(term)}</dt>
              <dd>{typeof value === 'string' ? <bdi>{value}</bdi> : <Shown of={value} />}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
