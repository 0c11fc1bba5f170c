import type { RunDetails } from '../../collab-sync/collab-sync.ts'
import { duration } from '../../format.ts'
import { describeScope } from '../../scope.ts'
import { Facts, Time } from '../elements.tsx'
import { Counted } from './progress.tsx'

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
        of={RESULTS.map(([words, name]) => [
          words,
          <Counted key={name} name={name} value={run[name]} />,
        ])}
      />
    </section>
  )
}

const RESULTS = [
  ['Scopes succeeded', 'scopesSucceeded'],
  ['Scopes failed', 'scopesFailed'],
  ['Scopes held', 'scopesHeld'],
  ['Scopes skipped', 'scopesSkipped'],
  ['Organizations', 'organizationsDone'],
  ['Documents', 'documentsDone'],
  ['User groups', 'groupsDone'],
  ['Annotations', 'annotationsDone'],
  ['Comments written', 'commentsWritten'],
  ['Comments found deleted', 'commentsDeleted'],
  ['Users written', 'usersWritten'],
  ['Records unchanged', 'recordsUnchanged'],
] as const
