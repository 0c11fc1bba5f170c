import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { RUN_COLUMNS } from '../../../schemas/columns.ts'
import { RUN_STATUSES } from '../../../schemas/run.ts'
import type { RunStatus } from '../../../schemas/run.ts'
import { ActionButton, Submit } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { CursorQuery, READ, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Pager, Table } from '../tables.tsx'

const Query = CursorQuery.extend({ status: z.enum(RUN_STATUSES).optional() })

/** `/runs`: all runs, newest first. */
export function runListRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/runs', READ, async (request, reply) => {
    const { status, cursor } = readFields(Query, request.query)
    const { items, nextCursor } = await collabSync.listRuns({ status, cursor })
    return sendPage(
      reply,
      { title: 'Runs', part: '/runs' },
      <section class="card">
        <div class="head">
          <StatusFilter chosen={status} />
          <ActionButton action="sync" words="Sync everything now" kind="primary" />
        </div>
        <Table
          caption="Runs, newest first"
          empty={status ? `No run is ${status}.` : 'There is no run yet.'}
          rows={items}
          columns={RUN_COLUMNS}
        />
        <Pager path="/runs" query={{ status, cursor }} nextCursor={nextCursor} />
      </section>,
    )
  })
}

function StatusFilter({ chosen }: { chosen: RunStatus | undefined }) {
  return (
    <form class="fields" method="get" action="/runs">
      <div>
        <label for="status">Status</label>
        <select id="status" name="status">
          <option value="">any</option>
          {RUN_STATUSES.map((status) => (
            <option key={status} value={status} selected={status === chosen}>
              {status}
            </option>
          ))}
        </select>
      </div>
      <Submit words="Show" />
    </form>
  )
}
