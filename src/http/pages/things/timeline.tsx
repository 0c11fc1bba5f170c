import type { LifeEntry, Words } from '../../../documents/thing.ts'
import { Time } from '../elements.tsx'
import { RunLinks } from '../runs/run-parts.tsx'
import { ThingLink } from './thing-link.tsx'

/** The life of a thing: each event with its time, run, user, place and changed words. */
export function Timeline({ of, organizationId }: { of: LifeEntry[]; organizationId: string }) {
  return (
    <ol class="timeline">
      {of.map(({ at, sentence, runId, user, place, diff }, position) => (
        <li key={position}>
          <Time at={at} />
          <p>
            {sentence}{' '}
            {user && (
              <ThingLink ids={{ organizationId, userId: user.userId }}>
                {user.name ?? user.userId}
              </ThingLink>
            )}{' '}
            {place && <ThingLink ids={place} />} <ByRun runId={runId} />
          </p>
          {diff && <blockquote class="words">{diff.map(Marked)}</blockquote>}
        </li>
      ))}
    </ol>
  )
}

/** A link to the run that noticed something, where there is one. */
export function ByRun({ runId }: { runId: string | null }) {
  return (
    runId && (
      <span class="soft">
        (<RunLinks runIds={[runId]} />)
      </span>
    )
  )
}

/** Words that a version added or removed are marked by a line and, for screen readers, by words. */
function Marked({ change, text }: Words) {
  if (change === 'same') return text
  const Mark = change === 'added' ? 'ins' : 'del'
  return (
    <Mark>
      <span class="unseen">{` [${change}: `}</span>
      {text}
      <span class="unseen">] </span>
    </Mark>
  )
}
