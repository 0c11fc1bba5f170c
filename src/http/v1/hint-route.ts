import { HintedSchema, NewHintSchema } from '../../documents/hint.ts'
import { atMost, operation, perSecond, refused } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** All callers together, counted once it is known who asks. */
const HINTS_A_SECOND = { ...perSecond(200), hook: 'preHandler' } as const
/** Of which so many at a time: a few for each connection to PostgreSQL. */
const HINTS_IN_HAND = 50
/** Three ids, each character of them escaped. */
const BODY_BYTES_MAX = 64 * 1024

/** Saying that something changed. */
export function hintRoute(app: V1App, { collabSync }: V1Options): void {
  const inTurn = atMost(HINTS_IN_HAND)
  app.post(
    '/hints',
    {
      bodyLimit: BODY_BYTES_MAX,
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
