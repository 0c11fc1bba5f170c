import type { FailureReport, Run, RunDetails } from '../../../documents/run.ts'
import { scopesDone, scopesInAll } from '../../../documents/run.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import type { slowestOrganizations } from '../../../core/database/statements/pages.ts'
import {
  count,
  counted,
  describeFailure,
  describeStates,
  duration,
  nothingToRetry,
  RUN_TIMES,
  shortId,
} from '../../../documents/format.ts'
import { ActionButton, capitalized, Card, Facts } from '../elements.tsx'
import { Table } from '../tables.tsx'
import { ThingLink } from '../things/thing-link.tsx'

/** The average duration of a call. */
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
          ...RUN_TIMES.map(([words, name]) => [capitalized(words), duration(run[name])] as const),
          ['Average call', meanCall(run)],
        ]}
      />
      {slowest.length > 0 && (
        <Table
          caption="The slowest organizations"
          rows={slowest}
          columns={[
            ['Organization', ({ organizationId }) => <ThingLink ids={{ organizationId }} />, 'id'],
            ['Calls', (one) => count(one.calls), 'number'],
            ['Retries', (one) => count(one.retries), 'number'],
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

/** Failures by cause, the most frequent first, with their state and a button that retries those that still fail. */
export function Failures({ run }: { run: RunDetails }) {
  const { failing } = run.failuresByState
  return (
    <Card
      title="Failures by cause"
      beside={
        run.finishedAt !== null &&
        failing > 0 && (
          <ActionButton
            action="retry"
            fields={{ run: run.runId }}
            words={`Retry the ${counted(failing, 'scope')} that still ${failing === 1 ? 'fails' : 'fail'}`}
            kind="primary"
          />
        )
      }
    >
      <Table
        caption="Failed scopes; everything else was written"
        rows={run.failuresByCause}
        columns={[
          ['Cause', Cause, 'id'],
          ['Operation', (cause) => cause.operation],
          ['Scopes', (cause) => count(cause.scopes), 'number'],
          ['Organizations', (cause) => count(cause.organizations), 'number'],
          ['Attempts', (cause) => count(cause.attempts), 'number'],
          ['State now', StateNow],
          ['Examples', Examples, 'id'],
        ]}
      />
      {run.finishedAt !== null && failing === 0 && <p>{nothingToRetry(run)}</p>}
      {run.retriedBy.length > 0 && (
        <p>
          Retried by <RunLinks runIds={run.retriedBy} />
        </p>
      )}
      <p>
        <a href={`/runs/${run.runId}/failures`}>All failed scopes</a>
      </p>
    </Card>
  )
}

/** The response of a failed scope, and its message. */
export function Cause({
  httpStatus,
  errorStatus,
  errorMessage,
}: Pick<FailureReport, 'httpStatus' | 'errorStatus' | 'errorMessage'>) {
  return (
    <>
      {describeFailure({ httpStatus, errorStatus })}
      {errorMessage && <div class="soft">{errorMessage}</div>}
    </>
  )
}

function StateNow({ resolvedBy, ...states }: FailureReport) {
  return (
    <>
      {describeStates(states)}
      {resolvedBy.length > 0 && (
        <div class="soft">
          by <RunLinks runIds={resolvedBy} />
        </div>
      )}
    </>
  )
}

/** Names the run that resolved what went wrong in another one, if there is one. */
export function ResolvedBy({ run: { resolvedBy } }: { run: RunDetails }) {
  if (resolvedBy === null) return null
  return (
    <p>
      Resolved by <RunLinks runIds={[resolvedBy]} />.
    </p>
  )
}

/** Links to runs, named by the first digits of their IDs. */
export function RunLinks({ runIds }: { runIds: readonly string[] }) {
  return (
    <>
      {`run${runIds.length === 1 ? '' : 's'} `}
      {runIds.map((runId, place) => (
        <span key={runId}>
          {place > 0 && ', '}
          <a href={`/runs/${runId}`}>{shortId(runId)}</a>
        </span>
      ))}
    </>
  )
}

function Examples({ examples }: FailureReport) {
  return (
    <ul>
      {examples.map((example, place) => (
        <li key={place}>
          <ThingLink ids={example} />
        </li>
      ))}
    </ul>
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
