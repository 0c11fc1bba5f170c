import * as z from 'zod'
import {
  AcceptedRunSchema,
  IdempotencyKeySchema,
  NewRunSchema,
  RunDetailsSchema,
} from '../../documents/run.ts'
import { HintedSchema, NewHintSchema } from '../../documents/hint.ts'
import { ProblemError } from '../problem.ts'
import { atMost, operation, perSecond, refused, RunPathSchema } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** Runs asked for in a second, all callers together; each is a transaction and some jobs. */
const RUNS_A_SECOND = perSecond(50)
/** Of runs, and of hints, so many at a time: a few for each connection to PostgreSQL. */
const IN_PROGRESS_MAX = 50

/** Other headers are none of our business. */
const IdempotencySchema = z.looseObject({
  'idempotency-key': IdempotencyKeySchema.regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .optional()
    .describe('The same key again gives the run that it made the first time.'),
})

/** Asking for runs, reading one and what can be done about it. */
export function runRoutes(app: V1App, { collabSync }: V1Options): void {
  const inTurn = atMost(IN_PROGRESS_MAX)
  const existing = async (runId: string) => {
    const run = await collabSync.getRun(runId)
    if (run === null) throw noSuchRun()
    return run
  }
  app.post(
    '/runs',
    operation('operate', {
      id: 'startRun',
      tag: 'Runs',
      summary: 'Ask for a run',
      description: 'Workers take it up; `Location` says where to follow it.',
      headers: IdempotencySchema,
      body: NewRunSchema,
      answer: AcceptedRunSchema,
      answered: 'The run is asked for.',
      status: 202,
      problems: [422],
      config: { rateLimit: RUNS_A_SECOND },
    }),
    async ({ by, body, headers }, reply) => {
      const idempotencyKey = headers['idempotency-key']
      const asked = inTurn(() => collabSync.as(by).startRun({ ...body, idempotencyKey }))
      const started = await asked.catch(refused(422))
      return reply.code(202).header('location', `/v1/runs/${started.runId}`).send(started)
    },
  )
  app.get(
    '/runs/:runId',
    operation('read', {
      id: 'getRun',
      tag: 'Runs',
      summary: 'One run, with why scopes failed',
      params: RunPathSchema,
      answer: RunDetailsSchema,
      answered: 'The run.',
      problems: [404],
    }),
    async (request, reply) => reply.send(await existing(request.params.runId)),
  )
  app.post(
    '/runs/:runId/cancel',
    operation('operate', {
      id: 'cancelRun',
      tag: 'Runs',
      summary: 'End a run early',
      description: 'What is stored stays; what was not asked is skipped.',
      params: RunPathSchema,
      answer: RunDetailsSchema,
      answered: 'It is noted; the run ends within seconds.',
      status: 202,
      problems: [404, 409],
    }),
    async (request, reply) => {
      const { runId } = request.params
      await existing(runId)
      await collabSync.as(request.by).cancelRun(runId).catch(refused(409))
      return reply.code(202).send(await existing(runId))
    },
  )
  app.post(
    '/runs/:runId/retry',
    operation('operate', {
      id: 'retryRun',
      tag: 'Runs',
      summary: 'Ask for a run of just what failed in another and still fails',
      params: RunPathSchema,
      headers: IdempotencySchema,
      answer: AcceptedRunSchema,
      answered: 'The run is asked for; `Location` says where to follow it.',
      status: 202,
      problems: [404, 409, 422],
      config: { rateLimit: RUNS_A_SECOND },
    }),
    async ({ by, params: { runId }, headers }, reply) => {
      const { finishedAt, failuresByState } = await existing(runId)
      // Where something still fails, only the key can be wrong: it was used for something else.
      const started = await collabSync
        .as(by)
        .retryRun(runId, { idempotencyKey: headers['idempotency-key'] })
        .catch(refused(finishedAt !== null && failuresByState.failing > 0 ? 422 : 409))
      return reply.code(202).header('location', `/v1/runs/${started.runId}`).send(started)
    },
  )
}

/** All callers together, counted once it is known who asks. */
const HINTS_A_SECOND = { ...perSecond(200), hook: 'preHandler' } as const
/** Three ids, each character of them escaped. */
const HINT_BYTES_MAX = 64 * 1024

/** Saying that something changed. */
export function hintRoute(app: V1App, { collabSync }: V1Options): void {
  const inTurn = atMost(IN_PROGRESS_MAX)
  app.post(
    '/hints',
    {
      bodyLimit: HINT_BYTES_MAX,
      ...operation('operate', {
        id: 'hint',
        tag: 'Runs',
        summary: 'Say that comments changed',
        description:
          'They are looked at next. However often it is said before that look begins, it is one look.',
        body: NewHintSchema,
        answer: HintedSchema,
        answered: 'They will be looked at.',
        status: 202,
        problems: [422],
        config: { rateLimit: HINTS_A_SECOND },
      }),
    },
    async ({ by, body: { scope, add } }, reply) =>
      reply
        .code(202)
        .send(await inTurn(() => collabSync.as(by).hint(scope, { add })).catch(refused(422))),
  )
}

/** The answer where a path names no run. */
export function noSuchRun(): ProblemError {
  return new ProblemError(404, 'There is no such run.', {
    errors: [{ in: 'path', member: 'runId', detail: 'must be the ID of a run' }],
  })
}
