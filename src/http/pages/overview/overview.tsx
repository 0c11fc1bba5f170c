import type { FastifyInstance } from 'fastify'
import type { ComponentChildren } from 'preact'
import { describeMemberChange } from '../../../documents/member-change.ts'
import type { NightlySchedule } from '../../../documents/schedule.ts'
import type { RunDetails } from '../../../documents/run.ts'
import * as observed from '../../../core/database/statements/observed.ts'
import * as pages from '../../../core/database/statements/pages.ts'
import type { RowOf } from '../../../core/database/statement.ts'
import { readAttention } from '../../../client/waiting.ts'
import { printable } from '../../../base/printable.ts'
import { Ago, AskButton, Card, Sentence, Sign, Time } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import type { PageContext } from '../page-context.ts'
import { AttentionCard } from './attention.tsx'
import { ActivityChart, RunStrip } from './charts.tsx'
import { nightlyVerdict } from './nightly-verdict.ts'
import type { Verdict } from './nightly-verdict.ts'

/** `/`: did last night succeed, when is the next run, what needs a person, and the last 30 days in pictures. */
export function overviewRoutes(app: FastifyInstance, context: PageContext): void {
  app.get('/', { config: { right: 'read' } }, async (_request, reply) => {
    return sendPage(reply, { title: 'Overview', part: '/' }, await overview(context))
  })
}

async function overview({ collabSync, database }: PageContext): Promise<ComponentChildren> {
  const newestNightly = await pages.newestNightly.first(database)
  const [nightly, schedule, freshness, attention] = await Promise.all([
    newestNightly === undefined ? null : collabSync.getRun(newestNightly.runId),
    collabSync.getSchedule(),
    collabSync.getFreshness(),
    readAttention(database),
  ])
  return (
    <>
      <div class="pair">
        <Night
          verdict={nightlyVerdict(nightly, schedule.next)}
          nightly={nightly}
          schedule={schedule}
        />
        <AttentionCard rows={attention} freshness={freshness} />
      </div>
      <MemberChanges
        changes={await observed.recent.all(database, { limit: MEMBER_CHANGES_SHOWN })}
      />
      <Card title="Runs of 30 days">
        <RunStrip days={await pages.runsByDay.all(database)} />
      </Card>
      <Card title="Comments by day">
        <ActivityChart days={await pages.activityByDay.all(database)} />
      </Card>
    </>
  )
}

/** Whether last night went well, and when the next run is due. */
function Night({
  verdict,
  nightly,
  schedule,
}: {
  verdict: Verdict
  nightly: RunDetails | null
  schedule: NightlySchedule
}) {
  return (
    <section class={`card verdict ${verdict.tone}`}>
      <Sign tone={verdict.tone} />
      <div>
        <h2>{verdict.title}</h2>
        <p>
          <Sentence of={verdict.sentence} />
        </p>
        {nightly !== null && (
          <p>
            <a href={`/runs/${nightly.runId}`}>
              The run of <Time at={nightly.requestedAt} />
            </a>
          </p>
        )}
        <p class="soft">
          {schedule.next === null ? (
            'No next nightly run is scheduled.'
          ) : (
            <>
              The next nightly run is due <Ago at={schedule.next} />, at <Time at={schedule.next} />
              .
            </>
          )}
        </p>
        <div class="row">
          <AskButton action="sync" words="Sync everything now" kind="primary" />
        </div>
      </div>
    </section>
  )
}

const MEMBER_CHANGES_SHOWN = 10

/** What the service sends otherwise than before, where it does. */
function MemberChanges({ changes }: { changes: readonly RowOf<typeof observed.recent>[] }) {
  if (changes.length === 0) return null
  return (
    <Card title="What the service sends has changed within a week">
      <ul>
        {changes.map((change) => (
          <li key={`${change.object} ${change.change} ${change.member}`}>
            <Ago at={change.noticedAt} />: {printable(describeMemberChange(change))}
          </li>
        ))}
      </ul>
    </Card>
  )
}
