import { CronExpressionParser } from 'cron-parser'
import * as z from 'zod'
import { checkedSetting } from '../../client/schedule.ts'
import { time } from '../../format.ts'
import { pathWithNotice } from '../elements.tsx'
import type { Action } from './actions.ts'

const text = z.string().trim().min(1).max(200)

/** Sets the nightly schedule for all workers. */
export const setSchedule: Action<{ cron: string; timeZone: string }> = {
  name: 'set-schedule',
  fields: z.object({ cron: text, timeZone: text }),
  async ask(_context, fields) {
    const cron = checkedSetting('cron', fields.cron, 'The cron expression')
    const timeZone = checkedSetting('timeZone', fields.timeZone, 'The time zone')
    const times = CronExpressionParser.parse(cron, { tz: timeZone }).take(3)
    return {
      title: 'Set the nightly schedule?',
      sentences: [
        `${cron}, in the time zone ${timeZone}, for all workers and in place of what holds now.`,
        `The next runs would start at ${times.map((next) => time(next.toDate())).join(', ')}.`,
      ],
      words: 'Set the schedule',
      back: '/schedule',
    }
  },
  async perform({ collabSync }, { cron, timeZone }) {
    await collabSync.setSchedule({ cron, timeZone })
    return pathWithNotice('/schedule', 'schedule-set')
  },
}

/** Removes the nightly schedule for all workers. */
export const removeSchedule: Action<object> = {
  name: 'remove-schedule',
  fields: z.object({}),
  async ask({ collabSync }) {
    const { cron, timeZone } = await collabSync.getSchedule()
    return {
      title: 'Remove the nightly schedule?',
      sentences: [
        cron === null
          ? 'It is removed already.'
          : `No run starts by itself any more; ${cron} (${timeZone}) is forgotten.`,
      ],
      words: 'Remove the schedule',
      isDanger: true,
      back: '/schedule',
    }
  },
  async perform({ collabSync }) {
    await collabSync.removeSchedule()
    return pathWithNotice('/schedule', 'schedule-removed')
  },
}
