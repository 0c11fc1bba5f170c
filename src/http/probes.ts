import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { requireDefinitions } from '../core/database/definitions.ts'
import type { Definitions } from '../core/database/definitions.ts'
import { requireSchema } from '../core/database/migrate.ts'
import { checkDatabase } from '../core/database/connection-errors.ts'
import type { Database } from '../core/database/pool.ts'
import type { Log } from '../base/log.ts'
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

/** A look that several may wait for; one that hangs is not begun again beside itself. */
function watched(name: string, log: Log, check: () => Promise<void>): () => Promise<string | null> {
  let looking: Promise<string | null> | null = null
  let last: { sentence: string | null; atMs: number } | null = null
  const note = (sentence: string | null, cause?: unknown) => {
    if (sentence !== null && last?.sentence !== sentence) log.warn({ err: cause }, sentence)
    if (sentence === null && last?.sentence) log.info(`${name} is back`)
    last = { sentence, atMs: performance.now() }
    return sentence
  }
  const begin = () =>
    check()
      .then(
        () => note(null),
        (error: unknown) =>
          error instanceof Away ? note(error.message, error.cause) : note(`${name} fails.`, error),
      )
      .finally(() => (looking = null))
  return async () => {
    if (last !== null && performance.now() - last.atMs < FRESH_MS) return last.sentence
    looking ??= begin()
    const patience = new AbortController()
    const late = sleep(LOOK_MS, `${name} does not answer within two seconds.`, {
      signal: patience.signal,
    })
    const sentence = await Promise.race([looking, late.catch(() => null)])
    patience.abort()
    return sentence
  }
}
