import { NewPaceSchema, NewPauseSchema, PaceSchema } from '../../schemas/pace.ts'
import { operation } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** How fast all processes call the service: the pace and the pause. */
export function paceRoutes(app: V1App, { collabSync }: V1Options): void {
  app.get(
    '/pace',
    operation('read', {
      id: 'getPace',
      summary: 'How fast all processes call the service',
      response: PaceSchema,
    }),
    async (_request, reply) => reply.send(await collabSync.getPace()),
  )
  app.put(
    '/pace',
    operation('operate', {
      id: 'setPace',
      summary: 'Set or remove the pace of all processes',
      body: NewPaceSchema,
      response: PaceSchema,
    }),
    async (request, reply) => reply.send(await collabSync.as(request.by).setPace(request.body)),
  )
  app.put(
    '/pace/pause',
    operation('operate', {
      id: 'pause',
      summary: 'Pause all calls to the service, or change the end of the pause',
      body: NewPauseSchema,
      response: PaceSchema,
    }),
    async (request, reply) => reply.send(await collabSync.as(request.by).pause(request.body)),
  )
  app.delete(
    '/pace/pause',
    operation('operate', {
      id: 'resume',
      summary: 'End the pause',
      response: PaceSchema,
    }),
    async (request, reply) => reply.send(await collabSync.as(request.by).resume()),
  )
}
