import type { FailureReport, Run, RunDetails } from '../../../documents/run.ts'
import { scopesDone, scopesInAll } from '../../../documents/run.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import type { slowestOrganizations } from '../../../core/database/statements/pages.ts'
import {
  count,
  counted,
  describeAnswer,
  describeStates,
  duration,
  nothingToRetry,
  RUN_TIMES,
  shortId,
} from '../../../documents/format.ts'
import { AskButton, capitalized, Card, Facts } from '../elements.tsx'
import { Table } from '../tables.tsx'
import { ThingLink } from '../things/thing-link.tsx'

/** What a call took on average. */
function meanCall({ calls, serviceMs }: Pick<Run, 'calls' | 'serviceMs'>): string {
  return calls === 0 ? '–' : duration(serviceMs / calls)
}

/** Where the time of a run went, and in which organizations. */
export function Slowness({
  run,
  slowest,
}: {
  run: RunDetails
  slowest: readonly RowOf<typeof slowestOrganizations>[]
}) {
  return (
    <Card title="What was slow">
      <p class="soft">
        Calls and batches run side by side, so that these times together are longer than the run.
      </p>
      <Facts
        of={[
          ...RUN_TIMES.map(([words, name]) => [capitalized(words), duration(run[name])] as const),
          ['A call took', meanCall(run)],
        ]}
      />
      {slowest.length > 0 && (
        <Table
          caption="The organizations that the run waited longest for"
          rows={slowest}
          columns={[
            ['Organization', ({ organizationId }) => <ThingLink ids={{ organizationId }} />, 'id'],
            ['Calls', (one) => count(one.calls), 'number'],
            ['Retries', (one) => count(one.retries), 'number'],
            ['A call took', meanCall, 'number'],
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

/** Why scopes failed, the most frequent cause first, what became of them, and a way to retry those that still fail. */
export function Failures({ run }: { run: RunDetails }) {
  const { failing } = run.failuresByState
  return (
    <Card
      title="Failures by cause"
      beside={
        run.finishedAt !== null &&
        failing > 0 && (
          <AskButton
            action="retry"
            fields={{ run: run.runId }}
            words={`Retry the ${counted(failing, 'scope')} that still ${failing === 1 ? 'fails' : 'fail'}`}
            kind="primary"
          />
        )
      }
    >
      <Table
        caption="Scopes that gave no usable answer; everything else is in"
        rows={run.failuresByCause}
        columns={[
          ['Cause', Cause, 'id'],
          ['Operation', (cause) => cause.operation],
          ['Scopes', (cause) => count(cause.scopes), 'number'],
          ['Organizations', (cause) => count(cause.organizations), 'number'],
          ['Tries', (cause) => count(cause.attempts), 'number'],
          ['Since', Since],
          ['Such as', Examples, 'id'],
        ]}
      />
      {run.finishedAt !== null && failing === 0 && <p>{nothingToRetry(run)}</p>}
      {run.retriedBy.length > 0 && (
        <p>
          Retried by <RunLinks runIds={run.retriedBy} />
        </p>
      )}
      <p>
        <a href={`/runs/${run.runId}/failures`}>See each of the failed scopes</a>
      </p>
    </Card>
  )
}

/** How a scope failed: the answer, and the message that came with it. */
export function Cause({
  httpStatus,
  errorStatus,
  errorMessage,
}: Pick<FailureReport, 'httpStatus' | 'errorStatus' | 'errorMessage'>) {
  return (
    <>
      {describeAnswer({ httpStatus, errorStatus })}
      {errorMessage && <div class="soft">{errorMessage}</div>}
    </>
  )
}

function Since({ resolvedBy, ...states }: FailureReport) {
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

/** Runs by the first digits of their ids, each a link. */
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

/** How far a run is. */
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
