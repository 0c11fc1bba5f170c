import * as z from 'zod'
import {
  AcceptedHeldSchema,
  AcceptHeldSchema,
  HeldIdSchema,
  RefusedHeldSchema,
  RefuseHeldSchema,
  SetAsideDoneSchema,
  SetAsideSchema,
} from '../../schemas/waiting.ts'
import { digits, operation, refused } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

const HeldPathSchema = z.strictObject({
  heldId: digits(HeldIdSchema).describe('The heldId of GET /v1/held.'),
})

/** Sets rejected records aside, and decides on held removals. */
export function resolveRoutes(app: V1App, { collabSync }: V1Options): void {
  const setAsideRejectedRecords = operation('operate', 'setAsideRejectedRecords', {
    summary: 'Set rejected records aside',
    description: 'The same content in the same scope makes no later run partial.',
    body: SetAsideSchema,
    response: SetAsideDoneSchema,
    problems: [409],
  })
  app.post('/rejected-records/set-aside', setAsideRejectedRecords, async ({ by, body }) => {
    const { rejectedRecordIds: ids = [], runId, reason } = body
    const choice = runId === undefined ? { ids } : { runId }
    return collabSync.as(by).setAsideRejectedRecords(choice, { reason }).catch(refused(409))
  })

  const acceptHeld = operation('operate', 'acceptHeld', {
    summary: 'Accept a held removal: remove the users that the listing lacks',
    params: HeldPathSchema,
    querystring: AcceptHeldSchema,
    response: AcceptedHeldSchema,
    problems: [409],
  })
  app.post('/held/:heldId/accept', acceptHeld, async ({ by, params, query }) =>
    collabSync.as(by).acceptHeld(params.heldId, query).catch(refused(409)),
  )

  const refuseHeld = operation('operate', 'refuseHeld', {
    summary: 'Refuse a held removal: keep the users that the listing lacks',
    description: 'The removal is held again only if the response of the service changes.',
    params: HeldPathSchema,
    body: RefuseHeldSchema,
    response: RefusedHeldSchema,
    problems: [409],
  })
  app.post('/held/:heldId/refuse', refuseHeld, async ({ by, params, body }) =>
    collabSync.as(by).refuseHeld(params.heldId, body).catch(refused(409)),
  )
}
