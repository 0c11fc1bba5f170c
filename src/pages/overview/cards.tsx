import { readCallsOverTime } from '../../database/page-charts.ts'
import type { Database } from '../../database/pool.ts'
import type { Run, RunDetails } from '../../documents/run.ts'
import type { NightlySchedule } from '../../documents/schedule.ts'
import { count, counted, duration } from '../../format.ts'
import { AskButton } from '../actions/ask-button.tsx'
import { Ago, Facts, Sentence, Sign, StatusBadge, Time } from '../elements.tsx'
import { CALLS_PARTS, callsChart } from '../runs/charts.tsx'
import type { Need } from './needs.ts'
import type { Verdict } from './nightly-verdict.ts'

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

/** Whether last night went well, and when the next run is due. */
export function Night({
  verdict,
  nightly,
  schedule,
}: {
  verdict: Verdict
  nightly: RunDetails | null
  schedule: NightlySchedule
}) {
  return (
    <section class={`card verdict ${verdict.tone}`}>
      <Sign tone={verdict.tone} />
      <div>
        <h2>{verdict.title}</h2>
        <p>
          <Sentence of={verdict.sentence} />
        </p>
        {nightly !== null && (
          <p>
            <a href={`/runs/${nightly.runId}`}>
              The run of <Time at={nightly.requestedAt} />
            </a>
          </p>
        )}
        <p class="soft">
          {schedule.next === null ? (
            'No next nightly run is scheduled.'
          ) : (
            <>
              The next nightly run is due <Ago at={schedule.next} />, at <Time at={schedule.next} />
              .
            </>
          )}
        </p>
        <div class="row">
          <AskButton action="sync" words="Sync everything now" kind="primary" />
        </div>
      </div>
    </section>
  )
}

/** What waits for a person. */
export function Needs({ needs }: { needs: readonly Need[] }) {
  return (
    <section class="card">
      <h2>
        {needs.length === 0 ? 'Nothing needs you' : `${counted(needs.length, 'thing')} for you`}
      </h2>
      {needs.length === 0 ? (
        <p class="soft">Nothing failed last night, nothing is held, and nothing was rejected.</p>
      ) : (
        <ul class="needs">
          {needs.map((need) => (
            <li key={need.sentence}>
              <span class={need.tone}>
                <Sign tone={need.tone} />
              </span>
              <div>
                <p>
                  <Sentence of={need.sentence} />
                </p>
                <a href={need.path}>{need.words}</a>
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
