import { FreshnessSchema } from '../../schemas/freshness.ts'
import { ProcessesSchema } from '../../schemas/process.ts'
import { NewScheduleSchema, ScheduleSchema } from '../../schemas/schedule.ts'
import { operation } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** The nightly schedule, and the freshness of the stored data. */
export function scheduleRoutes(app: V1App, { collabSync }: V1Options): void {
  const getSchedule = operation('read', 'getSchedule', {
    summary: 'The nightly schedule',
    response: ScheduleSchema,
  })
  app.get('/schedule', getSchedule, async () => collabSync.getSchedule())

  const setSchedule = operation('operate', 'setSchedule', {
    summary: 'Set the nightly schedule for all workers',
    body: NewScheduleSchema,
    response: ScheduleSchema,
  })
  app.put('/schedule', setSchedule, async ({ by, body }) => collabSync.as(by).setSchedule(body))

  const removeSchedule = operation('operate', 'removeSchedule', {
    summary: 'Remove the nightly schedule for all workers',
    response: ScheduleSchema,
  })
  app.delete('/schedule', removeSchedule, async ({ by }) => collabSync.as(by).removeSchedule())

  const listWorkers = operation('read', 'listWorkers', {
    summary: 'Live processes of worker, run and serve, with their settings',
    response: ProcessesSchema,
  })
  app.get('/workers', listWorkers, async () => collabSync.listWorkers())

  const getFreshness = operation('read', 'getFreshness', {
    summary: 'When the scopes of all organizations were last checked',
    response: FreshnessSchema,
  })
  app.get('/freshness', getFreshness, async () => collabSync.getFreshness())
}
