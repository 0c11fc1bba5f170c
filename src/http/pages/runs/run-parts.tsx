import { RUN_CHANGE_COLUMNS, runs } from '../../../schemas/columns.ts'
import { RUN_TIMES } from '../../../schemas/counts.ts'
import type { RunChangesPage } from '../../../schemas/run-change.ts'
import type { Run, RunDetails } from '../../../schemas/run.ts'
import { scopesDone, scopesInAll } from '../../../schemas/run.ts'
import { factsOfChanges } from '../../../schemas/sections.ts'
import type { Section } from '../../../schemas/sections.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import type { slowestOrganizations } from '../../../core/database/statements/pages.ts'
import { count, duration, notesOfChanges } from '../../../schemas/format.ts'
import { ActionButton, Card } from '../elements.tsx'
import { Table } from '../tables.tsx'
import { Facts, Shown } from '../values.tsx'

function meanCall({ calls, serviceMs }: Pick<Run, 'calls' | 'serviceMs'>): string {
  return calls === 0 ? '–' : duration(serviceMs / calls)
}

/** How the run spent its time, in all and in the slowest organizations. */
export function Slowness({
  run,
  slowest,
}: {
  run: RunDetails
  slowest: readonly RowOf<typeof slowestOrganizations>[]
}) {
  return (
    <Card title="Time">
      <p class="soft">
        Calls and batches run at the same time, so the sum of these times exceeds the duration.
      </p>
      <Facts
        of={[
          ...RUN_TIMES.map(([words, name]) => [words, duration(run[name])] as const),
          ['Average call', meanCall(run)],
        ]}
      />
      {slowest.length > 0 && (
        <Table
          caption="The slowest organizations"
          rows={slowest}
          columns={[
            ['Organization', ({ organizationId }) => ({ ids: { organizationId } }), 'id'],
            ['Calls', ({ calls }) => calls, 'number'],
            ['Retries', ({ retries }) => retries, 'number'],
            ['Average call', meanCall, 'number'],
            ['Service', (one) => duration(one.serviceMs), 'number'],
            ['Rate limit', (one) => duration(one.waitedMs), 'number'],
            ['Throttled', (one) => duration(one.waitedThrottledMs), 'number'],
            ['PostgreSQL', (one) => duration(one.databaseMs), 'number'],
          ]}
        />
      )}
    </Card>
  )
}

/** A section of what is shown of a run, with the links and buttons of its steps. */
export function SectionCard({ section, run }: { section: Section; run: string }) {
  const { title, list, lines = [], steps = [] } = section
  return (
    <Card title={title}>
      {list?.((columns, rows) => (
        <Table isTitled caption={title} rows={rows} columns={columns} />
      ))}
      {lines.map((line, place) => (
        <p key={place}>
          <Shown of={line} />
        </p>
      ))}
      {steps.map(({ words, path, action }) =>
        action === undefined ? (
          path && (
            <p key={words}>
              <a href={path}>{words}</a>
            </p>
          )
        ) : (
          <ActionButton key={words} action={action} fields={{ run }} words={words} kind="primary" />
        ),
      )}
    </Card>
  )
}

/** Names the run that resolved what went wrong in another one, if there is one. */
export function ResolvedBy({ run: { resolvedBy } }: { run: RunDetails }) {
  if (resolvedBy === null) return null
  return (
    <p>
      Resolved by <Shown of={runs([resolvedBy])} />.
    </p>
  )
}

/** What a run changed: the counts, and the newest changes. */
export function RunChanges({ runId, page }: { runId: string; page: RunChangesPage }) {
  return (
    <Card title="Changes">
      <div class="stack" data-live>
        <ChangeCounts runId={runId} page={page} />
        {page.counts.length > 0 && (
          <p>
            <a href={`/runs/${runId}/changes`}>All changes</a>
          </p>
        )}
      </div>
      {page.items.length > 0 && (
        <Table caption="The newest changes" rows={page.items} columns={RUN_CHANGE_COLUMNS} />
      )}
    </Card>
  )
}

/** The counts of the changes of a run, with links to the lists, and what a reader must know besides. */
export function ChangeCounts({ runId, page }: { runId: string; page: RunChangesPage }) {
  return (
    <>
      {page.counts.length > 0 && <Facts of={factsOfChanges(runId, page)} />}
      {notesOfChanges(page).map((note) => (
        <p key={note} class="soft">
          {note}
        </p>
      ))}
    </>
  )
}

/** The progress of a run. */
export function Progress({ run }: { run: Run }) {
  const done = scopesDone(run)
  const inAll = scopesInAll(run)
  return (
    <div class="stack">
      <progress aria-label="Scopes done" max={Math.max(inAll, 1)} value={done} />
      <strong>
        {count(done)} of {count(inAll)} scopes
      </strong>
    </div>
  )
}
