import type { FastifyInstance } from 'fastify'
import { isRunId } from '../../../schemas/check.ts'
import { RUN_CHANGE_COLUMNS, runs } from '../../../schemas/columns.ts'
import { changeWord, shortId } from '../../../schemas/format.ts'
import { RunChangesRequestSchema } from '../../../schemas/run-change.ts'
import { noSuchRun } from '../../problem.ts'
import { sendPage } from '../layout.tsx'
import { CursorQuery, READ, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Pager, Table } from '../tables.tsx'
import { Shown } from '../values.tsx'
import { ChangeCounts } from './run-parts.tsx'

const Query = CursorQuery.extend(RunChangesRequestSchema.pick({ object: true, change: true }).shape)

/** `/runs/ID/changes`: what a run changed, all or of one kind. */
export function changesPageRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get<{ Params: { runId: string } }>('/runs/:runId/changes', READ, async (request, reply) => {
    const { runId } = request.params
    const query = readFields(Query, request.query)
    const page = isRunId(runId) ? await collabSync.listRunChanges({ runId, ...query }) : null
    if (page === null) throw noSuchRun()
    const path = `/runs/${runId}/changes`
    const { object, change } = query
    const only =
      object && change && `${object.replaceAll('_', ' ')}s: ${changeWord({ object, change })}`
    return sendPage(
      reply,
      { title: `Changes of run ${shortId(runId)}`, part: '/runs' },
      <section class="card">
        <p>
          Back to <Shown of={runs([runId])} />
        </p>
        <ChangeCounts runId={runId} page={page} />
        {only && <a href={path}>All changes</a>}
        {(only || page.items.length > 0) && (
          <Table
            caption={`${only ? `Only ${only}` : 'Changes'}, newest first`}
            empty="There are no such changes."
            rows={page.items}
            columns={RUN_CHANGE_COLUMNS}
          />
        )}
        <Pager path={path} query={query} nextCursor={page.nextCursor} />
      </section>,
    )
  })
}
