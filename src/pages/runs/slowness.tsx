import type { ComponentChildren } from 'preact'
import type { RunDetails } from '../../collab-sync/collab-sync.ts'
import { count, duration } from '../../format.ts'
import type { RowOf } from '../../database/statement.ts'
import type { slowestOrganizations } from '../../database/statements/pages.ts'
import { Facts, Heads, Scroller } from '../elements.tsx'

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
