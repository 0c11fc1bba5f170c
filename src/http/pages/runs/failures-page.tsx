import type { FastifyInstance } from 'fastify'
import { readRun } from '../../../client/run-reports.ts'
import { FAILURE_COLUMNS, runs } from '../../../schemas/columns.ts'
import { shortId } from '../../../schemas/format.ts'
import { noSuchRun } from '../../problem.ts'
import { sendPage } from '../layout.tsx'
import { CursorQuery, READ, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Pager, Table } from '../tables.tsx'
import { Shown } from '../values.tsx'

/** `/runs/ID/failures`: every failed scope of a run, and its current state. */
export function failuresPageRoutes(
  app: FastifyInstance,
  { collabSync, database }: PageContext,
): void {
  app.get<{ Params: { runId: string } }>('/runs/:runId/failures', READ, async (request, reply) => {
    const { runId } = request.params
    const { cursor } = readFields(CursorQuery, request.query)
    if ((await readRun(database, runId)) === null) throw noSuchRun()
    const { items, nextCursor } = await collabSync.listFailures({ runId, cursor })
    return sendPage(
      reply,
      { title: `Failures of run ${shortId(runId)}`, part: '/runs' },
      <section class="card">
        <p>
          Back to <Shown of={runs([runId])} />
        </p>
        <Table
          caption="Failed scopes, newest first"
          empty="No scope failed in this run."
          rows={items}
          columns={FAILURE_COLUMNS}
        />
        <Pager path={`/runs/${runId}/failures`} query={{ cursor }} nextCursor={nextCursor} />
      </section>,
    )
  })
}
