import type { Run } from '../../collab-sync/collab-sync.ts'
import { count, duration } from '../../format.ts'
import type { Database } from '../../database/pool.ts'
import { readCallsOverTime } from '../../database/run-course.ts'
import { Facts, StatusBadge, Time } from '../elements.tsx'
import { CALLS_PARTS, callsChart } from '../runs/calls-chart.tsx'

/** Calls, retries and latency of the newest run, whoever asked for it. */
export async function lastRunCard(database: Database, run: Run) {
  const parts = await readCallsOverTime(database, run.runId, CALLS_PARTS)
  return (
    <section class="card">
      <div class="head">
        <h2>The last run</h2>
        <a href={`/runs/${run.runId}`}>See the run</a>
      </div>
      <div class="split">
        <Facts
          of={[
            ['Status', <StatusBadge key="status" status={run.status} />],
            ['Asked for', <Time key="asked" at={run.requestedAt} />],
            ['Took', duration(run.durationMs)],
            ['Calls', count(run.calls)],
            ['Retries', count(run.retries)],
            ['A call took', run.calls === 0 ? '–' : duration(run.serviceMs / run.calls)],
          ]}
        />
        {parts.length > 0 && (await callsChart(parts))}
      </div>
    </section>
  )
}
