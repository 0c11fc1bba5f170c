import type { FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { answers, operation } from './operation.ts'
import type { V1Options } from './operation.ts'
import { NewScheduleSchema } from './request-schemas.ts'
import { present } from './run-routes.ts'
import { ScheduleSchema } from './schemas.ts'

/** The nightly schedule; a Fastify plugin. */
export async function scheduleRoutes(
  plain: FastifyInstance,
  { collabSync }: V1Options,
): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  app.get(
    '/schedule',
    {
      config: { right: 'read' },
      schema: {
        ...operation({
          id: 'getSchedule',
          tag: 'Schedule',
          summary: 'When the nightly run starts',
        }),
        response: answers(200, ScheduleSchema, { description: 'The schedule that holds.' }),
      },
    },
    async (_request, reply) => reply.send(await collabSync.getSchedule()),
  )
  app.put(
    '/schedule',
    {
      config: { right: 'operate' },
      schema: {
        ...operation({
          id: 'setSchedule',
          tag: 'Schedule',
          summary: 'Set the nightly schedule for all workers',
        }),
        body: NewScheduleSchema,
        response: answers(200, ScheduleSchema, {
          description: 'The schedule that holds now.',
          problems: [413, 415],
        }),
      },
    },
    async (request, reply) => reply.send(await collabSync.setSchedule(present(request.body))),
  )
  app.delete(
    '/schedule',
    {
      config: { right: 'operate' },
      schema: {
        ...operation({
          id: 'removeSchedule',
          tag: 'Schedule',
          summary: 'Start no nightly run until a schedule is set again',
        }),
        response: answers(200, ScheduleSchema, {
          description: 'The schedule that holds now.',
          problems: [413, 415],
        }),
      },
    },
    async (_request, reply) => reply.send(await collabSync.removeSchedule()),
  )
}
