import * as z from 'zod'
import { checkPace } from '../../../client/pace.ts'
import { time } from '../../../schemas/format.ts'
import { factsOfPace } from '../../../schemas/columns.ts'
import type { Pace } from '../../../schemas/pace.ts'
import { action } from '../actions/actions.ts'
import type { Actions } from '../actions/actions.ts'
import { ActionButton, Card, ForOperators } from '../elements.tsx'
import { pathWithNotice } from '../notices.ts'
import { Facts } from '../values.tsx'

/** How fast the service is called, with the forms that change it. */
export function PaceCard({ pace }: { pace: Pace }) {
  return (
    <Card title="Calls to the service" id="calls">
      <Facts of={factsOfPace(pace)} />
      {pace.pause !== null && <ActionButton action="resume" words="End the pause" kind="primary" />}
      <ForOperators>
        <PauseForm />
        <PaceForm callsPerSecond={pace.callsPerSecond} />
      </ForOperators>
    </Card>
  )
}

const MINUTES = [15, 60, 120, 240, 480, 1440]

function PauseForm() {
  return (
    <form class="fields" method="get" action="/actions/pause">
      <div>
        <label for="minutes">Pause all calls for</label>
        <select id="minutes" name="minutes">
          {MINUTES.map((minutes) => (
            <option key={minutes} value={minutes} selected={minutes === 60}>
              {minutes < 60 ? `${minutes} min` : `${minutes / 60} h`}
            </option>
          ))}
        </select>
      </div>
      <button class="button quiet" type="submit">
        Pause
      </button>
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
      <button class="button quiet" type="submit">
        Set the pace
      </button>
    </form>
  )
}

const PauseFields = z.object({
  minutes: z.coerce.number().int().min(1).max(1440),
  reason: z.string().max(1000).optional(),
})

/** An empty field removes the pace. */
const PaceFields = z.object({
  callsPerSecond: z.coerce
    .number()
    .optional()
    .transform((calls) => calls ?? null),
})

export const PACE_ACTIONS: Actions = {
  pause: action({
    fields: PauseFields,
    confirm({ minutes }) {
      const until = new Date(Date.now() + minutes * 60_000)
      return {
        title: 'Pause all calls to the service?',
        sentences: [
          `No worker and no command calls the service from now until ${time(until)}. Runs wait and continue then. No scope fails because of the pause.`,
        ],
        words: 'Pause',
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
        sentences: [
          pause === null
            ? 'It is over already.'
            : `${pause.by} paused the calls until ${time(pause.until)}${pause.reason === null ? '.' : `: ${pause.reason}`}`,
        ],
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
