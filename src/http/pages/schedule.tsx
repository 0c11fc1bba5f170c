import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { nextTimes } from '../../base/cron.ts'
import { time } from '../../schemas/format.ts'
import { action } from './actions/actions.ts'
import type { Actions } from './actions/actions.ts'
import { ActionButton, Card, ForOperators, Submit } from './elements.tsx'
import { sendPage } from './layout.tsx'
import { pathWithNotice } from './notices.ts'
import { READ } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import { Facts } from './values.tsx'
import { factsOfSchedule } from '../../schemas/columns.ts'
import { checked } from '../../schemas/check.ts'
import { cronPattern, timeZone as timeZoneName } from '../../schemas/schedule.ts'
import type { NightlySchedule } from '../../schemas/schedule.ts'

/** `/schedule`: when the nightly run starts, and who set it. */
export function scheduleRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/schedule', READ, async (_request, reply) => {
    const schedule = await collabSync.getSchedule()
    return sendPage(
      reply,
      { title: 'Schedule', part: '/schedule' },
      <>
        <Card title={schedule.cron === null ? 'No nightly schedule' : 'The nightly run'}>
          <Facts of={factsOfSchedule(schedule)} />
          {schedule.cron !== null && (
            <ActionButton action="remove-schedule" words="Remove the schedule" />
          )}
        </Card>
        <ForOperators>
          <SetForm {...schedule} />
        </ForOperators>
      </>,
    )
  })
}

function SetForm({ cron, removedCron, timeZone }: Partial<NightlySchedule>) {
  return (
    <Card title="Change the schedule">
      <p class="soft" id="cron-words">
        Five fields: minute, hour, day of the month, month, day of the week; or six, with seconds
        first. <code>0 2 * * *</code> is two o’clock every night, <code>30 1 * * 1-5</code> half
        past one from Monday to Friday.
      </p>
      <form class="fields" method="get" action="/actions/set-schedule">
        <div>
          <label for="cron">Cron expression</label>
          <input
            id="cron"
            name="cron"
            required
            value={cron ?? removedCron ?? '0 2 * * *'}
            aria-describedby="cron-words"
          />
        </div>
        <div>
          <label for="time-zone">Time zone, such as Europe/Berlin</label>
          <input id="time-zone" name="timeZone" required value={timeZone} />
        </div>
        <Submit words="Set the schedule" kind="primary" />
      </form>
    </Card>
  )
}

const text = z.string().trim().min(1).max(200)

/** What a user typed, even if it is wrong. */
const Typed = z.object({ cron: z.string().catch(''), timeZone: z.string().catch('') })

export const SCHEDULE_ACTIONS: Actions = {
  'set-schedule': action({
    fields: z.object({ cron: text, timeZone: text }),
    form: (typed) => <SetForm {...Typed.parse(typed)} />,
    confirm(fields) {
      const cron = checked(cronPattern, fields.cron, 'The cron expression')
      const timeZone = checked(timeZoneName, fields.timeZone, 'The time zone')
      const times = nextTimes({ cron, timeZone }, 3)
      return {
        title: 'Set the nightly schedule?',
        sentences: [
          `${cron}, in the time zone ${timeZone}, for all workers. It replaces the current schedule.`,
          `The next runs would start at ${times.map(time).join(', ')}.`,
        ],
        words: 'Set the schedule',
        back: '/schedule',
      }
    },
    async perform(schedule, { collabSync }) {
      await collabSync.setSchedule(schedule)
      return pathWithNotice('/schedule', 'schedule-set')
    },
  }),

  'remove-schedule': action({
    fields: z.object({}),
    async confirm(_, { collabSync }) {
      const { cron, timeZone } = await collabSync.getSchedule()
      return {
        title: 'Remove the nightly schedule?',
        sentences: [
          cron === null
            ? 'It is removed already.'
            : `No run starts by itself any more. The schedule page keeps ${cron} (${timeZone}), so that you can set it again.`,
        ],
        words: 'Remove the schedule',
        isDanger: true,
        back: '/schedule',
      }
    },
    async perform(_, { collabSync }) {
      await collabSync.removeSchedule()
      return pathWithNotice('/schedule', 'schedule-removed')
    },
  }),
}
