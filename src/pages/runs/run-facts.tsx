import type { RunDetails } from '../../collab-sync/collab-sync.ts'
import { count, duration } from '../../cli/format.ts'
import { describeScope } from '../../scope.ts'
import { Facts, Time } from '../elements.tsx'

const ASKERS: Record<RunDetails['trigger'], string> = {
  schedule: 'the nightly schedule',
  cli: 'a command',
  http: 'a person or program, over HTTP',
  api: 'a program',
}

/** Who asked for what, when, and how long it took. */
export function RunFacts({ run }: { run: RunDetails }) {
  return (
    <Facts
      of={[
        ['Scope', describeScope(run.scope)],
        ['Asked for by', ASKERS[run.trigger]],
        ['Asked for', <Time key="asked" at={run.requestedAt} />],
        ['Began', run.startedAt === null ? 'not yet' : <Time key="began" at={run.startedAt} />],
        ['Took', run.startedAt === null ? '–' : duration(run.durationMs)],
        ['Id', <code key="id">{run.runId}</code>],
      ]}
    />
  )
}

/** What came of it, in numbers. */
export function RunResults({ run }: { run: RunDetails }) {
  return (
    <section class="card">
      <h2>What it did</h2>
      <Facts
        of={[
          ['Scopes succeeded', count(run.scopesSucceeded)],
          ['Scopes failed', count(run.scopesFailed)],
          ['Scopes held', count(run.scopesHeld)],
          ['Scopes skipped', count(run.scopesSkipped)],
          ['Organizations', count(run.organizationsDone)],
          ['Documents', count(run.documentsDone)],
          ['User groups', count(run.groupsDone)],
          ['Annotations', count(run.annotationsDone)],
          ['Comments written', count(run.commentsWritten)],
          ['Comments found deleted', count(run.commentsDeleted)],
          ['Users written', count(run.usersWritten)],
          ['Records unchanged', count(run.recordsUnchanged)],
        ]}
      />
    </section>
  )
}
