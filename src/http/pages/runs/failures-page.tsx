import type { FastifyInstance } from 'fastify'
import { readRun } from '../../../client/run-reports.ts'
import { isRunId } from '../../../documents/check.ts'
import type { Failure } from '../../../documents/run.ts'
import { count, FAILURE_STATES, shortId } from '../../../documents/format.ts'
import { noSuchRun } from '../../problem.ts'
import { Time } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { CursorQuery, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Pager, Table } from '../tables.tsx'
import type { Column } from '../tables.tsx'
import { ThingLink } from '../things/thing-link.tsx'
import { Cause, RunLinks } from './run-parts.tsx'

/** `/runs/ID/failures`: every failed scope of a run, and its current state. */
export function failuresPageRoutes(
  app: FastifyInstance,
  { collabSync, database }: PageContext,
): void {
  app.get<{ Params: { runId: string } }>(
    '/runs/:runId/failures',
    { config: { right: 'read' } },
    async (request, reply) => {
      const { runId } = request.params
      const { cursor } = readFields(CursorQuery, request.query)
      const run = isRunId(runId) ? await readRun(database, runId) : null
      if (run === null) throw noSuchRun()
      const { items, nextCursor } = await collabSync.listFailures({ runId, cursor })
      return sendPage(
        reply,
        { title: `Failures of run ${shortId(runId)}`, part: '/runs' },
        <section class="card">
          <p>
            Of <RunLinks runIds={[runId]} />
          </p>
          <Table
            caption="Failed scopes, newest first"
            empty="No scope failed in this run."
            rows={items}
            columns={COLUMNS}
          />
          <Pager path={`/runs/${runId}/failures`} query={{ cursor }} nextCursor={nextCursor} />
        </section>,
      )
    },
  )
}

const COLUMNS: readonly Column<Failure>[] = [
  ['Scope', (failure) => <ThingLink ids={failure} />, 'id'],
  ['Operation', ({ operation }) => operation],
  ['Cause', Cause, 'id'],
  ['Attempts', ({ attempts }) => count(attempts), 'number'],
  ['At', ({ at }) => <Time at={at} />, 'nowrap'],
  ['State now', StateNow],
]

function StateNow({ state, resolvedBy, resolvedAt }: Failure) {
  return (
    <>
      {FAILURE_STATES[state]}
      {resolvedBy !== null && resolvedAt !== null && (
        <div class="soft">
          by <RunLinks runIds={[resolvedBy]} />, <Time at={resolvedAt} />
        </div>
      )}
    </>
  )
}
