import { NewPaceSchema, NewPauseSchema, PaceSchema } from '../../schemas/pace.ts'
import { operation } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** How fast all processes call the service: the pace and the pause. */
export function paceRoutes(app: V1App, { collabSync }: V1Options): void {
  const getPace = operation('read', 'getPace', {
    summary: 'How fast all processes call the service',
    response: PaceSchema,
  })
  app.get('/pace', getPace, async () => collabSync.getPace())

  const setPace = operation('operate', 'setPace', {
    summary: 'Set or remove the pace of all processes',
    body: NewPaceSchema,
    response: PaceSchema,
  })
  app.put('/pace', setPace, async ({ by, body }) => collabSync.as(by).setPace(body))

  const pause = operation('operate', 'pause', {
    summary: 'Pause all calls to the service, or change the end of the pause',
    body: NewPauseSchema,
    response: PaceSchema,
  })
  app.put('/pace/pause', pause, async ({ by, body }) => collabSync.as(by).pause(body))

  const resume = operation('operate', 'resume', {
    summary: 'End the pause',
    response: PaceSchema,
  })
  app.delete('/pace/pause', resume, async ({ by }) => collabSync.as(by).resume())
}
