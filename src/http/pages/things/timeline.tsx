import type { LifeEntry, Words } from '../../../documents/thing.ts'
import { Time } from '../elements.tsx'
import { RunLinks } from '../runs/run-parts.tsx'
import { ThingLink } from './thing-link.tsx'

/** The life of a thing: each event with its time, run, user, place and changed words. */
export function Timeline({
  entries,
  organizationId,
}: {
  entries: readonly LifeEntry[]
  organizationId: string
}) {
  return (
    <ol class="timeline">
      {entries.map(({ at, sentence, runId, user, place, diff }, position) => (
        <li key={position}>
          <Time at={at} />
          <p>
            {sentence}
            {user !== null && (
              <>
                {' '}
                <ThingLink ids={{ organizationId, userId: user.userId }}>
                  <bdi>{user.name ?? user.userId}</bdi>
                </ThingLink>
              </>
            )}
            {place !== null && (
              <>
                {' '}
                <ThingLink ids={place} />
              </>
            )}
            {runId !== null && (
              <span class="soft">
                {' '}
                (<RunLinks runIds={[runId]} />)
              </span>
            )}
          </p>
          {diff !== null && <Diff words={diff} />}
        </li>
      ))}
    </ol>
  )
}

const MARKS = { added: ['ins', 'added'], removed: ['del', 'removed'] } as const

/** A text with the words that a version added and removed, marked by lines and, for screen readers, by words. */
function Diff({ words }: { words: readonly Words[] }) {
  return (
    <blockquote class="words">
      {words.map(({ change, text }, position) => {
        if (change === 'same') return text
        const [Mark, name] = MARKS[change]
        return (
          <Mark key={position}>
            <span class="unseen">{` [${name}: `}</span>
            {text}
            <span class="unseen">] </span>
          </Mark>
        )
      })}
    </blockquote>
  )
}
