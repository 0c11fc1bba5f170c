import type { Run } from '../../collab-sync/collab-sync.ts'
import { scopesDone, scopesInAll } from '../../database/run-reports.ts'
import { count } from '../../format.ts'

/** How far a run is. The page's script keeps the bar and the numbers as they are by then. */
export function Progress({ run }: { run: Run }) {
  const done = scopesDone(run)
  const inAll = scopesInAll(run)
  return (
    <div class="stack tight">
      <progress aria-label="Scopes done" max={Math.max(inAll, 1)} value={done} />
      <p>
        <strong>
          <Counted name="done" value={done} /> of <Counted name="inAll" value={inAll} /> scopes
        </strong>
        , <Counted name="calls" value={run.calls} /> calls,{' '}
        <Counted name="retries" value={run.retries} /> of them retries,{' '}
        <Counted name="scopesFailed" value={run.scopesFailed} /> failed,{' '}
        <Counted name="scopesHeld" value={run.scopesHeld} /> held,{' '}
        <Counted name="recordsReceived" value={run.recordsReceived} /> records received
      </p>
    </div>
  )
}

/** A count of a run, by its name, which the page's script keeps as it is. */
export function Counted({ name, value }: { name: string; value: number }) {
  return <span data-count={name}>{count(value)}</span>
}
