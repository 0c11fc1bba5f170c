import type { FastifyInstance } from 'fastify'
import { findRunIds } from '../../../client/run-reports.ts'
import * as pages from '../../../core/database/statements/pages.ts'
import { factsOfRun, statusOf } from '../../../schemas/columns.ts'
import { RUN_SUBJECTS } from '../../../schemas/counts.ts'
import type { RunDetails } from '../../../schemas/run.ts'
import { sectionsOf } from '../../../schemas/sections.ts'
import { counted, describeCounts, NO_WORKER, shortId } from '../../../schemas/format.ts'
import { ActionButton, Card, Sentence } from '../elements.tsx'
import { noSuchRun } from '../../problem.ts'
import { sendPage } from '../layout.tsx'
import { READ } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Facts, Shown } from '../values.tsx'
import { Progress, ResolvedBy, RunChanges, SectionCard, Slowness } from './run-parts.tsx'

const SLOWEST_SHOWN = 10
const CHANGES_SHOWN = 10

/** `/runs/ID`: a run, live while it is in progress. The first digits of an ID redirect to it. */
export function runPageRoutes(app: FastifyInstance, context: PageContext): void {
  app.get<{ Params: { runId: string } }>('/runs/:runId', READ, async (request, reply) => {
    const { runId } = request.params
    const [first, ...others] = (await findRunIds(context.database, runId)) ?? []
    if (others.length > 0) return reply.redirect(`/search?q=${runId}`)
    if (first !== undefined && first !== runId) return reply.redirect(`/runs/${first}`)
    const run = first === undefined ? null : await context.collabSync.getRun(first)
    if (run === null) throw noSuchRun()
    const isUnderWay = run.finishedAt === null
    return sendPage(
      reply,
      {
        title: `Run ${shortId(run.runId)}`,
        part: '/runs',
        beside: <Shown of={statusOf(run)} />,
        // They say what happens next to a queued run.
        pastNotices: run.status === 'queued' ? [] : ['run-started', 'run-stored'],
        ...(isUnderWay && { script: 'follow-run.js' }),
      },
      <>
        <p class="unseen" data-announce aria-live="polite" />
        <p class="notice warn" data-lost role="alert" hidden>
          The live progress is interrupted. Refresh the page to see the current state.
        </p>
        <div class="stack" data-run={isUnderWay ? 'under way' : 'over'}>
          {await runContent(context, run)}
        </div>
      </>,
    )
  })
}

async function runContent({ collabSync, database }: PageContext, run: RunDetails) {
  const slowest = await pages.slowestOrganizations.all(database, {
    runId: run.runId,
    limit: SLOWEST_SHOWN,
  })
  const changes = await collabSync.listRunChanges({ runId: run.runId, limit: CHANGES_SHOWN })
  return (
    <>
      {run.problem !== null && (
        <p class="notice warn">
          <Sentence of={run.problem} />
        </p>
      )}
      <ResolvedBy run={run} />
      {run.finishedAt === null && (
        <div class="stack" data-live data-waits>
          {run.waiting.map(({ kind, sentence }) => (
            <p key={kind} class="notice">
              {sentence}
            </p>
          ))}
        </div>
      )}
      {run.workersGone && (
        <p class="notice warn">
          <Sentence of={NO_WORKER} />
        </p>
      )}
      <section class="card">
        <div class="stack" data-live>
          <Facts of={factsOfRun(run)} />
          {run.finishedAt === null && <Progress run={run} />}
        </div>
        {run.finishedAt === null && <UnderWay run={run} />}
      </section>
      {run.finishedAt !== null && run.scopesSkipped > 0 && (
        <p class="notice warn">
          {counted(run.scopesSkipped, 'scope')} {run.scopesSkipped === 1 ? 'was' : 'were'} not
          requested.
        </p>
      )}
      {sectionsOf(run).map((section) => (
        <SectionCard key={section.title} section={section} run={run.runId} />
      ))}
      <Card title="Results">
        <div data-live>
          <Facts of={RUN_SUBJECTS.map((of) => [of, describeCounts(run, of)])} />
        </div>
      </Card>
      {changes !== null && <RunChanges runId={run.runId} page={changes} />}
      {run.calls > 0 && <Slowness run={run} slowest={slowest} />}
    </>
  )
}

function UnderWay({ run: { runId, stopping } }: { run: RunDetails }) {
  return (
    <div class="row">
      <a class="button quiet" href={`/runs/${runId}`}>
        Refresh
      </a>
      {stopping === null ? (
        <ActionButton action="cancel" fields={{ run: runId }} words="Cancel the run" />
      ) : (
        <span class="soft">The run is ending. No further calls are made.</span>
      )}
    </div>
  )
}
