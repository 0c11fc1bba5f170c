import type { FastifyInstance } from 'fastify'
import { requireDefinitions } from '../core/database/definitions.ts'
import type { Definitions } from '../core/database/definitions.ts'
import { requireSchema } from '../core/database/schema.ts'
import { checkDatabase } from '../core/database/connection-errors.ts'
import type { Database } from '../core/database/pool.ts'
import type { Log } from '../base/log.ts'
import { inTime } from '../core/queue/queue.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { Part } from './problem.ts'

/**
 * What a platform asks, without a token: whether the process lives, and whether it can do its work. A Fastify plugin.
 */
export async function probes(
  app: FastifyInstance,
  { readiness }: { readiness: ReadinessLook },
): Promise<void> {
  const options = { config: { right: 'none' } } as const
  app.get('/healthz', options, async () => ({ status: 'ok' }))
  app.get('/readyz', options, async (_request, reply) => {
    const { postgresql, queue } = await readiness.look()
    const isReady = postgresql === null && queue === null
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      postgresql: postgresql ?? 'ready',
      queue: queue ?? 'ready',
    })
  })
}

/** What can be used at the moment: null, or one sentence that says why not and names no place. */
export type Readiness = Readonly<Record<Part, string | null>>

/** Looks at most once a second, and waits two seconds at most, whoever asks and however often. */
export interface ReadinessLook {
  look(): Promise<Readiness>
}

const LOOK_MS = 2_000
const FRESH_MS = 1_000

/** @param log hears each time that something goes away or comes back, with the reason */
export function openReadiness(parts: {
  database: Database
  settings: Definitions
  queue: JobQueue
  log: Log
}): ReadinessLook {
  const { database, settings, queue, log } = parts
  const postgresql = watched('PostgreSQL', log, async () => {
    await checkDatabase(database).catch((error) => {
      throw new Away('PostgreSQL does not answer, or refuses us.', error)
    })
    await requireSchema(database).catch((error) => {
      throw new Away(
        'The tables are not of this version of collab-sync: run `collab-sync migrate`.',
        error,
      )
    })
    await requireDefinitions(database, settings).catch((error: Error) => {
      throw new Away(error.message, error)
    })
  })
  const queued = watched('The queue', log, async () => {
    try {
      await queue.bull.requests.isPaused()
    } catch (error) {
      throw new Away('The queue does not answer, or refuses us.', error)
    }
  })
  return {
    async look() {
      const [first, second] = await Promise.all([postgresql(), queued()])
      return { postgresql: first, queue: second }
    },
  }
}

class Away extends Error {
  constructor(sentence: string, cause: unknown) {
    super(sentence, { cause })
  }
}

/** Logs when the check begins to fail, fails otherwise than before, or succeeds again. @returns the sentence of {@link Readiness} */
function watched(name: string, log: Log, check: () => Promise<void>): () => Promise<string | null> {
  let last: string | null = null
  const note = (sentence: string | null, cause?: unknown) => {
    if (sentence !== null && last !== sentence) log.warn({ err: cause }, sentence)
    if (sentence === null && last !== null) log.info(`${name} is back`)
    last = sentence
    return sentence
  }
  const shared = sharedRead(
    () =>
      check().then(
        () => note(null),
        (error: unknown) =>
          error instanceof Away ? note(error.message, error.cause) : note(`${name} fails.`, error),
      ),
    { freshMs: FRESH_MS, maxMs: LOOK_MS },
  )
  return () => shared().catch(() => `${name} does not answer within two seconds.`)
}

/**
 * Shares one read among all callers, while it is in progress and until `freshMs` after its end. A read that hangs is joined,
 * and not begun again beside itself.
 * @returns a function that throws what the read throws, or a TimeoutError where it takes longer than `maxMs`
 */
export function sharedRead<T>(
  read: () => Promise<T>,
  { freshMs, maxMs }: { freshMs: number; maxMs: number },
): () => Promise<T> {
  let reading: Promise<T> | null = null
  let untilMs = 0
  return () => {
    if (reading === null || performance.now() > untilMs) {
      untilMs = Infinity
      reading = read().finally(() => (untilMs = performance.now() + freshMs))
    }
    return inTime(reading, maxMs)
  }
}
