import * as z from 'zod'
import {
  AcceptedRunSchema,
  IdempotencyKeySchema,
  NewRunSchema,
  RunDetailsSchema,
} from '../../schemas/run.ts'
import { HintedSchema, NewHintSchema } from '../../schemas/hint.ts'
import { noSuchRun } from '../problem.ts'
import { atMost, operation, perSecond, refused, RunPathSchema } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** Of all callers together. Each run is a transaction and some jobs. */
const RUNS_A_SECOND = perSecond(50)
const HINTS_A_SECOND = perSecond(200)
/** Runs and hints that are stored at the same time: a few for each connection to PostgreSQL. */
const IN_PROGRESS_MAX = 50

const IdempotencySchema = z.looseObject({
  'idempotency-key': IdempotencyKeySchema.regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .optional()
    .describe('The same key returns the run that the first request started.'),
})

/** Starts, reads, cancels and retries runs, and takes hints. */
export function runRoutes(app: V1App, { collabSync }: V1Options): void {
  const inTurn = atMost(IN_PROGRESS_MAX)
  const existing = async (runId: string) => {
    const run = await collabSync.getRun(runId)
    if (run === null) throw noSuchRun()
    return run
  }
  const startRun = operation('operate', 'startRun', {
    summary: 'Start a run',
    description: 'Workers execute it. `Location` is its address.',
    headers: IdempotencySchema,
    body: NewRunSchema,
    response: AcceptedRunSchema,
    status: 202,
    problems: [422],
    config: { rateLimit: RUNS_A_SECOND },
  })
  app.post('/runs', startRun, async ({ by, body, headers }, reply) => {
    const idempotencyKey = headers['idempotency-key']
    const requested = inTurn(() => collabSync.as(by).startRun({ ...body, idempotencyKey }))
    const started = await requested.catch(refused(422))
    return reply.code(202).header('location', `/v1/runs/${started.runId}`).send(started)
  })

  const getRun = operation('read', 'getRun', {
    summary: 'A run, with the causes of its failures',
    params: RunPathSchema,
    response: RunDetailsSchema,
    problems: [404],
  })
  app.get('/runs/:runId', getRun, async ({ params }) => existing(params.runId))

  const cancelRun = operation('operate', 'cancelRun', {
    summary: 'Cancel a run',
    description:
      'It ends within seconds. Data already written is kept; the remaining scopes are skipped.',
    params: RunPathSchema,
    response: RunDetailsSchema,
    status: 202,
    problems: [404, 409],
  })
  app.post('/runs/:runId/cancel', cancelRun, async ({ by, params: { runId } }, reply) => {
    await existing(runId)
    await collabSync.as(by).cancelRun(runId).catch(refused(409))
    return reply.code(202).send(await existing(runId))
  })

  const retryRun = operation('operate', 'retryRun', {
    summary: 'Start a run of the scopes that failed in another run and still fail',
    params: RunPathSchema,
    headers: IdempotencySchema,
    response: AcceptedRunSchema,
    status: 202,
    problems: [404, 409, 422],
    config: { rateLimit: RUNS_A_SECOND },
  })
  app.post('/runs/:runId/retry', retryRun, async ({ by, params: { runId }, headers }, reply) => {
    const { finishedAt, failuresByState } = await existing(runId)
    // If scopes still fail, the only possible error is a key that was used for another request.
    const started = await collabSync
      .as(by)
      .retryRun(runId, { idempotencyKey: headers['idempotency-key'] })
      .catch(refused(finishedAt !== null && failuresByState.failing > 0 ? 422 : 409))
    return reply.code(202).header('location', `/v1/runs/${started.runId}`).send(started)
  })

  const hint = operation('operate', 'hint', {
    summary: 'Report that comments changed',
    description: 'They are fetched next. Several hints before the fetch starts cause one fetch.',
    body: NewHintSchema,
    response: HintedSchema,
    status: 202,
    problems: [422],
    config: { rateLimit: HINTS_A_SECOND },
  })
  app.post('/hints', hint, async ({ by, body: { scope, add } }, reply) => {
    const hinted = inTurn(() => collabSync.as(by).hint(scope, { add }))
    return reply.code(202).send(await hinted.catch(refused(422)))
  })
}
