import type { FastifyInstance } from 'fastify'
import type { ComponentChildren } from 'preact'
import { DEAD_AFTER_S } from '../../database/claims.ts'
import { readCheckAges } from '../../database/page-charts.ts'
import * as pages from '../../database/statements/pages.ts'
import * as workers from '../../database/statements/workers.ts'
import { noticeOf } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import type { PageContext } from '../page-context.ts'
import { lastRunCard, Needs, Night } from './cards.tsx'
import { activityChart, AGE_BOUNDS_SECONDS, freshnessChart, RunStrip } from './charts.tsx'
import { needsOf, WAITING_MAX } from './needs.ts'
import { nightlyVerdict } from './nightly-verdict.ts'

/** `/`: did last night succeed, when is the next run, what needs a person, and the last 30 days in pictures. */
export function overviewRoutes(app: FastifyInstance, context: PageContext): void {
  app.get('/', { config: { right: 'read' } }, async (request, reply) => {
    const frame = { title: 'Overview', part: '/', notice: noticeOf(request.query) } as const
    return sendPage(reply, frame, await overview(context))
  })
}

async function overview({
  collabSync,
  database,
  settings,
}: PageContext): Promise<ComponentChildren> {
  const now = new Date()
  const newestNightly = await pages.newestNightly.first(database)
  const [nightly, newest, schedule, set, freshness, waiting, { alive }] = await Promise.all([
    newestNightly === undefined ? null : collabSync.getRun(newestNightly.runId),
    collabSync.listRuns({ limit: 1 }).then(({ items }) => items[0] ?? null),
    collabSync.getSchedule(),
    pages.scheduleSetAt.first(database),
    collabSync.getFreshness(),
    pages.waiting.one(database, { limit: WAITING_MAX }),
    workers.countAlive.one(database, { deadAfterS: DEAD_AFTER_S }),
  ])
  const isRunUnderWay = newest !== null && newest.finishedAt === null
  const needs = needsOf({
    nightly,
    schedule,
    freshness,
    waiting,
    workersAlive: alive,
    isRunUnderWay,
    promiseMs: settings.freshnessPromiseMs,
    now,
  })
  return (
    <>
      <div class="pair">
        <Night
          verdict={nightlyVerdict({
            nightly,
            schedule,
            setAt: set?.setAt ?? null,
            lateAfterMs: settings.nightlyLateAfterMs,
            now,
          })}
          nightly={nightly}
          schedule={schedule}
        />
        <Needs needs={needs} />
      </div>
      <section class="card">
        <h2>Runs of 30 days</h2>
        <RunStrip days={await pages.runsByDay.all(database)} today={now} />
      </section>
      <div class="pair">
        <section class="card">
          <h2>Comments by day</h2>
          {await activityChart(await pages.activityByDay.all(database), now)}
        </section>
        <section class="card">
          <h2>Age of the last check</h2>
          {await freshnessChart(await readCheckAges(database, AGE_BOUNDS_SECONDS))}
        </section>
      </div>
      {newest !== null && (await lastRunCard(database, newest))}
    </>
  )
}
