import { organizationsOf, URGENCY_TONES } from '../../../schemas/columns.ts'
import type { AttentionByKind } from '../../../schemas/attention.ts'
import type { Freshness } from '../../../schemas/freshness.ts'
import { count, counted, describeStale } from '../../../schemas/format.ts'
import { printable } from '../../../base/printable.ts'
import { Card, Sentence, Sign, Time } from '../elements.tsx'
import { Shown } from '../values.tsx'

/** The names of the pages in links. Any other path is that of a run. */
const PAGES: Readonly<Record<string, string>> = {
  '/runs': 'Runs',
  '/organizations': 'Catalog',
  '/held': 'Held removals',
  '/held#rejected': 'Rejected records',
  '/schedule': 'Schedule',
  '/workers': 'Workers',
  '/#calls': 'Calls to the service',
}

/** The kinds that the pages have a button or an explanation for. For the others, the command is shown. */
const ON_PAGES: readonly string[] = [
  'failing',
  'overdue',
  'never_checked',
  'held',
  'rejected',
  'nightly_missed',
  'nightly_late',
  'paused_by_person',
]

/** Open problems, the most urgent first. */
export function AttentionCard({
  rows,
  freshness,
}: {
  rows: readonly AttentionByKind[]
  freshness: Omit<Freshness, 'refresh'>
}) {
  return (
    <Card title={rows.length === 0 ? 'No open problems' : counted(rows.length, 'open problem')}>
      {rows.length === 0 ? (
        <p class="soft">
          No scope fails or is overdue, no removal is held, and no rejected record is open.
        </p>
      ) : (
        <ul class="needs">
          {rows.map((row) => (
            <Row key={row.kind} row={row} />
          ))}
        </ul>
      )}
      {freshness.scopes > 0 && (
        <p class="soft">
          {count(freshness.stale)} of {counted(freshness.scopes, 'scope')} are stale
          {freshness.stale > 0 && `: ${describeStale(freshness)}`}.
        </p>
      )}
    </Card>
  )
}

function Row({ row }: { row: AttentionByKind }) {
  const tone = URGENCY_TONES[row.urgency]
  return (
    <li>
      <span class={tone}>
        <Sign tone={tone} />
      </span>
      <div>
        <p>{printable(row.sentence)}</p>
        {row.since !== null && (
          <p class="soft">
            Since <Time at={row.since} />
          </p>
        )}
        {row.first.length > 0 && (
          <p class="soft">
            <Shown of={organizationsOf(row)} />
          </p>
        )}
        {row.words !== null && <p class="soft">{printable(row.words)}</p>}
        {!ON_PAGES.includes(row.kind) && (
          <p>
            <Sentence of={row.fix} />
          </p>
        )}
        <a href={row.path}>{PAGES[row.path] ?? 'The run'}</a>
      </div>
    </li>
  )
}
