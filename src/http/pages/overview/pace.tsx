import * as z from 'zod'
import { checkPace } from '../../../client/pace.ts'
import { time } from '../../../schemas/format.ts'
import { factsOfPace } from '../../../schemas/columns.ts'
import type { Pace } from '../../../schemas/pace.ts'
import { action } from '../actions/actions.ts'
import type { Actions } from '../actions/actions.ts'
import { ActionButton, Card, ForOperators, Submit } from '../elements.tsx'
import { pathWithNotice } from '../notices.ts'
import { Facts } from '../values.tsx'

/** How fast the service is called, with the forms that change it. */
export function PaceCard({ pace }: { pace: Pace }) {
  return (
    <Card title="Calls to the service" id="calls">
      <Facts of={factsOfPace(pace)} />
      {pace.pause !== null && <ActionButton action="resume" words="End the pause" kind="primary" />}
      <ForOperators>
        <PauseForm isPaused={pace.pause !== null} />
        <PaceForm callsPerSecond={pace.callsPerSecond} />
      </ForOperators>
    </Card>
  )
}

const MINUTES = [15, 60, 120, 240, 480, 1440]

function PauseForm({ isPaused }: { isPaused: boolean }) {
  return (
    <form class="fields" method="get" action="/actions/pause">
      <div>
        <label for="minutes">{isPaused ? 'Pause, from now, for' : 'Pause all calls for'}</label>
        <select id="minutes" name="minutes">
          {MINUTES.map((minutes) => (
            <option key={minutes} value={minutes} selected={minutes === 60}>
              {minutes < 60 ? `${minutes} min` : `${minutes / 60} h`}
            </option>
          ))}
        </select>
      </div>
      <Submit words={isPaused ? 'Change the pause' : 'Pause'} />
    </form>
  )
}

function PaceForm({ callsPerSecond }: { callsPerSecond: number | string | null }) {
  return (
    <form class="fields" method="get" action="/actions/set-pace">
      <div>
        <label for="calls-per-second">Pace in calls per second</label>
        <input
          id="calls-per-second"
          name="callsPerSecond"
          inputMode="decimal"
          placeholder="none"
          value={callsPerSecond ?? ''}
        />
      </div>
      <Submit words="Set the pace" />
    </form>
  )
}

const PauseFields = z.object({
  minutes: z.coerce.number().int().min(1).max(1440),
  reason: z.string().max(1000).optional(),
})

type PersonalPause = NonNullable<Pace['pause']>

/** An empty field removes the pace. */
const PaceFields = z.object({
  callsPerSecond: z.coerce
    .number()
    .optional()
    .transform((calls) => calls ?? null),
})

function describePause({ by, until, reason }: PersonalPause): string {
  return `${by} paused the calls until ${time(until)}${reason === null ? '.' : `: ${reason}`}`
}

/** What becomes of a pause when it is ordered again until another time. */
function describeReplaced(pause: PersonalPause, until: Date): string {
  const moved = until < pause.until ? 'earlier' : 'later'
  return `${describePause(pause).replace(/\.?$/, '.')} Your pause replaces it, with its reason, and ends ${moved}.`
}

export const PACE_ACTIONS: Actions = {
  pause: action({
    fields: PauseFields,
    async confirm({ minutes }, { collabSync }) {
      const until = new Date(Date.now() + minutes * 60_000)
      const { pause } = await collabSync.getPace()
      return {
        title: pause === null ? 'Pause all calls to the service?' : 'Change the pause?',
        sentences: [
          ...(pause === null ? [] : [describeReplaced(pause, until)]),
          `No worker and no command calls the service from now until ${time(until)}. Runs wait and continue then. No scope fails because of the pause.`,
        ],
        words: pause === null ? 'Pause' : 'Change the pause',
        reason: 'optional',
        back: '/#calls',
      }
    },
    async perform({ minutes, reason }, { collabSync }) {
      const until = new Date(Date.now() + minutes * 60_000).toISOString()
      await collabSync.pause({ until, reason: reason || undefined })
      return pathWithNotice('/', 'calls-paused')
    },
  }),

  resume: action({
    fields: z.object({}),
    async confirm(_, { collabSync }) {
      const { pause } = await collabSync.getPace()
      return {
        title: 'End the pause?',
        sentences: [pause === null ? 'It is over already.' : describePause(pause)],
        words: 'End the pause',
        back: '/#calls',
      }
    },
    async perform(_, { collabSync }) {
      await collabSync.resume()
      return pathWithNotice('/', 'calls-resumed')
    },
  }),

  'set-pace': action({
    fields: PaceFields,
    form: (typed) => (
      <PaceForm {...z.object({ callsPerSecond: z.string().catch('') }).parse(typed)} />
    ),
    async confirm({ callsPerSecond }, context) {
      await checkPace(context, { callsPerSecond })
      return {
        title: callsPerSecond === null ? 'Remove the pace?' : 'Set the pace?',
        sentences: [
          callsPerSecond === null
            ? 'Only SYNC_RATE_LIMIT limits the calls from now on.'
            : `All processes together make at most ${callsPerSecond} calls a second from now on.`,
        ],
        words: callsPerSecond === null ? 'Remove the pace' : 'Set the pace',
        back: '/#calls',
      }
    },
    async perform({ callsPerSecond }, { collabSync }) {
      await collabSync.setPace({ callsPerSecond })
      return pathWithNotice('/', callsPerSecond === null ? 'pace-removed' : 'pace-set')
    },
  }),
}
