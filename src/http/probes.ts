import type { FastifyInstance } from 'fastify'
import { requireDefinitions } from '../core/database/definitions.ts'
import type { Definitions } from '../core/database/definitions.ts'
import { requireSchema } from '../core/database/schema.ts'
import { checkDatabase } from '../core/database/connection-errors.ts'
import type { Database } from '../core/database/pool.ts'
import type { Log } from '../base/log.ts'
import { commit, version } from '../base/version.ts'
import { inTime } from '../core/queue/queue.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { Part } from './problem.ts'

/** The probes of a platform, without a token: whether the process is alive, and whether it is ready. A Fastify plugin. */
export async function probes(
  app: FastifyInstance,
  { readiness }: { readiness: ReadinessCheck },
): Promise<void> {
  const options = { config: { right: 'none' } } as const
  app.get('/healthz', options, async () => ({ status: 'ok', version: version(), commit: commit() }))
  app.get('/readyz', options, async (_request, reply) => {
    const { postgresql, queue } = await readiness()
    const isReady = postgresql === null && queue === null
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      postgresql: postgresql ?? 'ready',
      queue: queue ?? 'ready',
    })
  })
}

/** For each part null if it is ready, or else a sentence that contains no address. */
export type Readiness = Readonly<Record<Part, string | null>>

/** Checks at most once a second, and waits at most two seconds. */
export type ReadinessCheck = () => Promise<Readiness>

const CHECK_MS = 2_000
const FRESH_MS = 1_000

/** @param parts.log receives the cause each time that a part becomes unavailable, and a message when it recovers */
export function openReadiness(parts: {
  database: Database
  settings: Definitions
  queue: JobQueue
  log: Log
}): ReadinessCheck {
  const { database, settings, queue, log } = parts
  const postgresql = watched('PostgreSQL', log, [
    ['PostgreSQL does not respond, or refuses the connection.', () => checkDatabase(database)],
    [null, () => requireSchema(database, '')],
    [null, () => requireDefinitions(database, settings)],
  ])
  const server = queue.place.kind === 'redis' ? 'Redis' : 'PostgreSQL'
  const queued = watched(`The queue in ${server}`, log, [
    [
      `The queue in ${server} does not respond, or refuses the connection.`,
      () => queue.bull.requests.isPaused(),
    ],
  ])
  return async () => {
    const [first, second] = await Promise.all([postgresql(), queued()])
    return { postgresql: first, queue: second }
  }
}

/** The sentence for a failed check; null for the message of its error. */
type Check = readonly [sentence: string | null, check: () => unknown]

/** Logs when a check starts to fail, fails differently, or succeeds again. @returns the sentence of the first failed check */
function watched(name: string, log: Log, checks: readonly Check[]): () => Promise<string | null> {
  let last: string | null = null
  const note = (sentence: string | null, cause?: unknown) => {
    if (sentence !== null && last !== sentence) log.warn({ err: cause }, sentence)
    if (sentence === null && last !== null) log.info(`${name} has recovered`)
    last = sentence
    return sentence
  }
  const run = async () => {
    for (const [sentence, check] of checks) {
      try {
        await check()
      } catch (error) {
        return note(sentence ?? (error as Error).message, error)
      }
    }
    return note(null)
  }
  const shared = sharedRead(run, { freshMs: FRESH_MS, maxMs: CHECK_MS })
  return () => shared().catch(() => `${name} does not respond within two seconds.`)
}

/**
 * Shares one read among all callers, from its start until `freshMs` after its end. Two reads never run at the same time.
 * @returns a function that throws the error of the read, or a TimeoutError after `maxMs`
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
