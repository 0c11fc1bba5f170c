import type { Page } from '../../documents/page.ts'
import type { RejectedRecord } from '../../documents/waiting.ts'
import { shortId } from '../../documents/format.ts'
import { AskButton, Card, Time } from './elements.tsx'
import type { Fields } from './elements.tsx'
import { Pager, Table } from './tables.tsx'
import type { Column } from './tables.tsx'
import { ThingLink } from './things/thing-link.tsx'

/** Records that could not be stored, as they were received. */
export function RejectedSection({
  rejected,
  query,
}: {
  rejected: Page<RejectedRecord>
  query: Fields
}) {
  return (
    <Card title="Rejected records" id="rejected">
      <p class="soft">
        Records, or members of records, that the tables cannot hold. Everything else of their
        responses is stored. A run that lost a whole record is partial until the record is fixed at
        the service or set aside.
      </p>
      <Table
        caption="Rejected records, the newest first"
        empty="Nothing is rejected."
        rows={rejected.items}
        columns={REJECTED_COLUMNS}
      />
      <Pager
        path="/held"
        query={query}
        cursorName="rejectedCursor"
        anchor="rejected"
        nextCursor={rejected.nextCursor}
      />
    </Card>
  )
}

const REJECTED_COLUMNS: readonly Column<RejectedRecord>[] = [
  [
    'From',
    (record) => (
      <>
        <ThingLink ids={record} />
        <div class="soft">{record.operation}</div>
      </>
    ),
    'id',
  ],
  [
    'Why',
    ({ reason, isWhole, rejectedRecordId }) => (
      <>
        {reason}
        <div class="soft">
          {isWhole ? 'Whole record' : 'Part of a record'}, ID {rejectedRecordId}
        </div>
        <AskButton
          action="set-aside"
          fields={{ record: rejectedRecordId }}
          words="Set aside"
          about={`rejected record ${rejectedRecordId}`}
        />
      </>
    ),
    'id',
  ],
  [
    'As received',
    ({ record, isCut }) => (
      <pre class="record" tabIndex={0} aria-label="The record as received">
        {record}
        {isCut && '…'}
      </pre>
    ),
  ],
  [
    'Run',
    ({ runId, at }) => (
      <>
        <a href={`/runs/${runId}`}>{shortId(runId)}</a>
        <div class="soft">
          <Time at={at} />
        </div>
      </>
    ),
  ],
]
