import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import type { Run, RunStatus } from '../../documents/run.ts'
import { describeScope } from '../../documents/scope.ts'
import { count, duration, shorten, shortId } from '../../format.ts'
import { AskButton } from '../actions/ask-button.tsx'
import { Heads, noticeOf, Pager, Scroller, STATUS_TONES, StatusBadge, Time } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { optionalText, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'

const STATUSES = Object.keys(STATUS_TONES) as [RunStatus, ...RunStatus[]]
const SCOPE_CHARACTERS = 80

const Query = z.object({
  status: z.preprocess((value) => value || undefined, z.enum(STATUSES).optional()),
  cursor: optionalText,
})

/** `/runs`: every run, the newest first. */
export function runListRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/runs', { config: { right: 'read' } }, async (request, reply) => {
    const { status, cursor } = readFields(Query, request.query)
    const { items, nextCursor } = await collabSync.listRuns({
      ...(status && { status }),
      ...(cursor && { cursor }),
    })
    return sendPage(
      reply,
      { title: 'Runs', part: '/runs', notice: noticeOf(request.query) },
      <section class="card">
        <div class="head">
          <StatusFilter chosen={status} />
          <AskButton action="sync" words="Sync everything now" kind="primary" />
        </div>
        {items.length === 0 ? (
          <p class="soft">{status ? `No run is ${status}.` : 'No run was ever asked for.'}</p>
        ) : (
          <RunTable runs={items} />
        )}
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
          {STATUSES.map((status) => (
            <option key={status} value={status} selected={status === chosen}>
              {status}
            </option>
          ))}
        </select>
      </div>
      <button class="button quiet" type="submit">
        Show
      </button>
    </form>
  )
}

function RunTable({ runs }: { runs: readonly Run[] }) {
  return (
    <Scroller label="Runs">
      <table>
        <caption>Runs, the newest first</caption>
        <Heads
          of={[
            ['Run'],
            ['Status'],
            ['Asked for'],
            ['By'],
            ['Took', 'number'],
            ['Scopes', 'number'],
            ['Failed', 'number'],
            ['Held', 'number'],
            ['Calls', 'number'],
            ['Scope'],
          ]}
        />
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.runId} run={run} />
          ))}
        </tbody>
      </table>
    </Scroller>
  )
}

function RunRow({ run }: { run: Run }) {
  return (
    <tr>
      <th scope="row">
        <a href={`/runs/${run.runId}`}>{shortId(run.runId)}</a>
      </th>
      <td>
        <StatusBadge status={run.status} />
      </td>
      <td class="nowrap">
        <Time at={run.requestedAt} />
      </td>
      <td>{run.trigger}</td>
      <td class="number">{run.startedAt === null ? '–' : duration(run.durationMs)}</td>
      <td class="number">{count(run.scopesPlanned)}</td>
      <td class="number">{count(run.scopesFailed)}</td>
      <td class="number">{count(run.scopesHeld)}</td>
      <td class="number">{count(run.calls)}</td>
      <td class="id">{shorten(describeScope(run.scope), SCOPE_CHARACTERS)}</td>
    </tr>
  )
}
