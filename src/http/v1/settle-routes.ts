import * as z from 'zod'
import {
  AcceptedHeldSchema,
  AcceptHeldSchema,
  HeldIdSchema,
  RefusedHeldSchema,
  RefuseHeldSchema,
  SetAsideDoneSchema,
  SetAsideSchema,
} from '../../documents/waiting.ts'
import { digits, operation, refused } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

const HeldPathSchema = z.strictObject({
  heldId: digits(HeldIdSchema).describe('As GET /v1/held gives it.'),
})

/** What a person can do about what was rejected or is held. */
export function settleRoutes(app: V1App, { collabSync }: V1Options): void {
  app.post(
    '/rejected-records/set-aside',
    operation('operate', {
      id: 'setAsideRejectedRecords',
      tag: 'What needs a person',
      summary: 'Set rejected records aside for good',
      description: 'By their content: the same in the same scope makes no later run partial.',
      body: SetAsideSchema,
      answer: SetAsideDoneSchema,
      answered: 'They are set aside.',
      problems: [409],
    }),
    async ({ by, body: { rejectedRecordIds: ids = [], runId, reason } }, reply) => {
      const choice = runId === undefined ? { ids } : { runId }
      const setAside = collabSync.as(by).setAsideRejectedRecords(choice, { reason })
      return reply.send(await setAside.catch(refused(409)))
    },
  )
  app.post(
    '/held/:heldId/accept',
    operation('operate', {
      id: 'acceptHeld',
      tag: 'What needs a person',
      summary: 'Remove the users that a held listing lacks',
      params: HeldPathSchema,
      querystring: AcceptHeldSchema,
      answer: AcceptedHeldSchema,
      answered: 'They are removed.',
      problems: [409],
    }),
    async ({ by, params, query }, reply) =>
      reply.send(await collabSync.as(by).acceptHeld(params.heldId, query).catch(refused(409))),
  )
  app.post(
    '/held/:heldId/refuse',
    operation('operate', {
      id: 'refuseHeld',
      tag: 'What needs a person',
      summary: 'Keep the users that a held listing lacks',
      description: 'The same answer is not held again, as long as it stays the same.',
      params: HeldPathSchema,
      body: RefuseHeldSchema,
      answer: RefusedHeldSchema,
      answered: 'They stay.',
      problems: [409],
    }),
    async ({ by, params, body }, reply) =>
      reply.send(await collabSync.as(by).refuseHeld(params.heldId, body).catch(refused(409))),
  )
}
