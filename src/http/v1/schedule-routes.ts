import { FreshnessSchema } from '../../schemas/freshness.ts'
import { ProcessesSchema } from '../../schemas/process.ts'
import { NewScheduleSchema, ScheduleSchema } from '../../schemas/schedule.ts'
import { operation } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** The nightly schedule, and the freshness of the stored data. */
export function scheduleRoutes(app: V1App, { collabSync }: V1Options): void {
  app.get(
    '/schedule',
    operation('read', {
      id: 'getSchedule',
      summary: 'The nightly schedule',
      response: ScheduleSchema,
    }),
    async (_request, reply) => reply.send(await collabSync.getSchedule()),
  )
  app.put(
    '/schedule',
    operation('operate', {
      id: 'setSchedule',
      summary: 'Set the nightly schedule for all workers',
      body: NewScheduleSchema,
      response: ScheduleSchema,
    }),
    async (request, reply) => reply.send(await collabSync.as(request.by).setSchedule(request.body)),
  )
  app.delete(
    '/schedule',
    operation('operate', {
      id: 'removeSchedule',
      summary: 'Remove the nightly schedule for all workers',
      response: ScheduleSchema,
    }),
    async (request, reply) => reply.send(await collabSync.as(request.by).removeSchedule()),
  )
  app.get(
    '/workers',
    operation('read', {
      id: 'listWorkers',
      summary: 'Live processes of worker, run and serve, with their settings',
      response: ProcessesSchema,
    }),
    async (_request, reply) => reply.send(await collabSync.listWorkers()),
  )
  app.get(
    '/freshness',
    operation('read', {
      id: 'getFreshness',
      summary: 'When the scopes of all organizations were last checked',
      response: FreshnessSchema,
    }),
    async (_request, reply) => reply.send(await collabSync.getFreshness()),
  )
}
