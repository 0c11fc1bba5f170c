import type { Page } from '../../documents/page.ts'
import type { RejectedRecord } from '../../documents/rejected.ts'
import { scopePath, shortId } from '../../format.ts'
import { AskButton } from '../actions/ask-button.tsx'
import { Heads, Pager, Scroller, Time } from '../elements.tsx'

/** Records that could not be stored, as they were received, and a way to try them again. */
export function RejectedSection({
  rejected,
  query,
}: {
  rejected: Page<RejectedRecord>
  query: Record<string, string | undefined>
}) {
  const { run } = query
  return (
    <section class="card" id="rejected">
      <div class="head">
        <h2>Rejected records</h2>
        {rejected.items.length > 0 && (
          <AskButton
            action="replay"
            fields={run === undefined ? {} : { run }}
            words="Try them again"
          />
        )}
      </div>
      <p class="soft">
        Records, or members of records, that the tables cannot hold. Everything else of their
        answers is in. A run that lost a whole record is partial, until it is mended at the service
        or set aside (<code>collab-sync rejected</code>).
      </p>
      {rejected.items.length === 0 ? (
        <p>Nothing is rejected.</p>
      ) : (
        <RejectedTable records={rejected.items} />
      )}
      <Pager
        path="/held"
        query={query}
        cursorName="rejectedCursor"
        anchor="rejected"
        nextCursor={rejected.nextCursor}
      />
    </section>
  )
}

function RejectedTable({ records }: { records: readonly RejectedRecord[] }) {
  return (
    <Scroller label="Rejected records">
      <table>
        <caption>Rejected records, the newest first</caption>
        <Heads of={[['From'], ['Why'], ['As received'], ['Run']]} />
        <tbody>
          {records.map((record) => (
            <tr key={record.rejectedRecordId}>
              <th scope="row" class="id">
                {scopePath(record)}
                <div class="soft">{record.operation}</div>
              </th>
              <td class="id">
                {record.reason}
                <div class="soft">
                  {record.isWhole ? 'Whole record' : 'Part of a record'}, ID{' '}
                  {record.rejectedRecordId}
                </div>
              </td>
              <td>
                <pre class="record" tabIndex={0} aria-label="The record as received">
                  {record.record}
                  {record.isCut && '…'}
                </pre>
              </td>
              <td>
                <a href={`/runs/${record.runId}`}>{shortId(record.runId)}</a>
                <div class="soft">
                  <Time at={record.at} />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  )
}
