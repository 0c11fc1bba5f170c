import type { ComponentChildren } from 'preact'
import type { CallsPart } from '../../database/page-charts.ts'
import type { RowOf } from '../../database/statement.ts'
import type { slowestOrganizations } from '../../database/statements/pages.ts'
import { scopesDone, scopesInAll } from '../../documents/run.ts'
import type { Run, RunDetails } from '../../documents/run.ts'
import { count, duration } from '../../format.ts'
import { Chart, drawChart, smallMultiples } from '../charts/chart.tsx'
import { Facts, Heads, Scroller } from '../elements.tsx'

/** Parts of a run's time that its calls are drawn by. */
export const CALLS_PARTS = 24

/** Calls, retries and the time of a call over a run; counted where the batch that made them ended. */
export async function callsChart(parts: readonly CallsPart[]) {
  const labels = parts.map(({ fromMs }) => (fromMs === 0 ? '0' : duration(fromMs)))
  const series = [
    { name: 'Calls', values: parts.map(({ calls }) => calls), colour: 1 },
    { name: 'Of them retries', values: parts.map(({ retries }) => retries), colour: 2 },
    {
      name: 'Milliseconds a call',
      values: parts.map(({ meanMs }) => (meanMs === null ? null : Math.round(meanMs))),
      colour: 4,
    },
  ] as const
  const picture = await drawChart(smallMultiples(labels, series, (px) => (px > 400 ? 6 : 12)))
  const slowest = Math.max(0, ...parts.map(({ meanMs }) => meanMs ?? 0))
  const caption = `Calls whose answers were committed; in the slowest part of the run a call took ${duration(slowest)} on average.`
  return (
    <Chart
      caption={caption}
      picture={picture}
      table={{
        heads: ['From its begin', 'Calls', 'Retries', 'A call'],
        rows: parts.map((part, place) => [
          labels[place] as string,
          count(part.calls),
          count(part.retries),
          part.meanMs === null ? '–' : duration(part.meanMs),
        ]),
      }}
    />
  )
}

/** Sums over calls and batches that ran side by side. */
type SlowOrganization = RowOf<typeof slowestOrganizations>

/** Where the time of a run went, and in which organizations. */
export function Slowness({
  run,
  slowest,
  children,
}: {
  run: RunDetails
  slowest: readonly SlowOrganization[]
  /** The calls over the run's time. */
  children: ComponentChildren
}) {
  return (
    <section class="card">
      <h2>What was slow</h2>
      <p class="soft small">
        Calls and batches run side by side, so that these times together are longer than the run.
      </p>
      <div class="split">
        <Facts
          of={[
            ['Waiting for the service', duration(run.serviceMs)],
            ['Waiting for the rate limit', duration(run.waitedMs)],
            ['Waiting for PostgreSQL', duration(run.databaseMs)],
            ['CPU', duration(run.cpuMs)],
            ['A call took', run.calls === 0 ? '–' : duration(run.serviceMs / run.calls)],
            ['Retries', `${count(run.retries)} of ${count(run.calls)} calls`],
          ]}
        />
        {children}
      </div>
      {slowest.length > 0 && <SlowestOrganizations slowest={slowest} />}
    </section>
  )
}

function SlowestOrganizations({ slowest }: { slowest: readonly SlowOrganization[] }) {
  return (
    <Scroller label="Slowest organizations">
      <table>
        <caption>The organizations that the run waited longest for</caption>
        <Heads
          of={[
            ['Organization'],
            ['Calls', 'number'],
            ['Retries', 'number'],
            ['A call took', 'number'],
            ['Service', 'number'],
            ['Rate limit', 'number'],
            ['PostgreSQL', 'number'],
          ]}
        />
        <tbody>
          {slowest.map((one) => (
            <tr key={one.organizationId}>
              <th scope="row" class="id">
                {one.organizationId}
              </th>
              <td class="number">{count(one.calls)}</td>
              <td class="number">{count(one.retries)}</td>
              <td class="number">{duration(one.serviceMs / one.calls)}</td>
              <td class="number">{duration(one.serviceMs)}</td>
              <td class="number">{duration(one.waitedMs)}</td>
              <td class="number">{duration(one.databaseMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  )
}

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
