import type { Run } from '../../collab-sync/collab-sync.ts'
import { count } from '../../cli/format.ts'

/** How far a run is. The page's script keeps the bar and the numbers as they are by then. */
export function Progress({ run }: { run: Run }) {
  const { done, inAll } = scopesOf(run)
  return (
    <div class="stack tight">
      <progress aria-label="Scopes done" max={Math.max(inAll, 1)} value={done} />
      <p class="numbers">
        <Counted name="done" value={done} /> of <Counted name="inAll" value={inAll} /> scopes,{' '}
        <Counted name="calls" value={run.calls} /> calls,{' '}
        <Counted name="retries" value={run.retries} /> of them retries,{' '}
        <Counted name="scopesFailed" value={run.scopesFailed} /> failed,{' '}
        <Counted name="scopesHeld" value={run.scopesHeld} /> held,{' '}
        <Counted name="recordsReceived" value={run.recordsReceived} /> records received
      </p>
    </div>
  )
}

/** Scopes of a run that are settled one way or the other, and in all as far as that is known. */
export function scopesOf(run: Run): { done: number; inAll: number } {
  return {
    done: run.scopesSucceeded + run.scopesFailed + run.scopesHeld + run.scopesSkipped,
    inAll: Math.max(run.scopesExpected, run.scopesPlanned),
  }
}

function Counted({ name, value }: { name: string; value: number }) {
  return <strong data-count={name}>{count(value)}</strong>
}
