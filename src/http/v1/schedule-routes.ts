import { FreshnessSchema } from '../../documents/freshness.ts'
import { NewScheduleSchema, ScheduleSchema } from '../../documents/schedule.ts'
import { operation } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** The nightly schedule, and how old what is stored may be. */
export function scheduleRoutes(app: V1App, { collabSync }: V1Options): void {
  app.get(
    '/schedule',
    operation('read', {
      id: 'getSchedule',
      tag: 'Schedule',
      summary: 'When the nightly run starts',
      answer: ScheduleSchema,
      answered: 'The schedule that holds.',
    }),
    async (_request, reply) => reply.send(await collabSync.getSchedule()),
  )
  app.put(
    '/schedule',
    operation('operate', {
      id: 'setSchedule',
      tag: 'Schedule',
      summary: 'Set the nightly schedule for all workers',
      body: NewScheduleSchema,
      answer: ScheduleSchema,
      answered: 'The schedule that holds now.',
    }),
    async (request, reply) => reply.send(await collabSync.as(request.by).setSchedule(request.body)),
  )
  app.delete(
    '/schedule',
    operation('operate', {
      id: 'removeSchedule',
      tag: 'Schedule',
      summary: 'Start no nightly run until a schedule is set again',
      answer: ScheduleSchema,
      answered: 'The schedule that holds now.',
    }),
    async (request, reply) => reply.send(await collabSync.as(request.by).removeSchedule()),
  )
  app.get(
    '/freshness',
    operation('read', {
      id: 'getFreshness',
      tag: 'Freshness',
      summary: 'When everything in the catalog was last checked',
      answer: FreshnessSchema,
      answered: 'Over all organizations.',
    }),
    async (_request, reply) => reply.send(await collabSync.getFreshness()),
  )
}
