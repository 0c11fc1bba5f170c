import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { checked } from '../documents/check.ts'
import { HintPayloadSchema } from '../documents/hint.ts'
import type { HintScope } from '../documents/hint.ts'
import { UsageError } from '../errors.ts'
import type { Log } from '../log.ts'

/** What comes within that is looked through for repetitions first. */
const COLLECT_MS = 100
const IN_HAND = 4
/** Any role of the database may notify, as often as it likes. */
const WAITING_MAX = 10_000
/** For the same reason a log must not get a line for each. */
const TELL_MS = 10_000

/** Takes hints as a channel brings them. */
export interface NotifiedHints {
  /** Never throws: what is no hint is logged, and the next one comes all the same. */
  heard(payload: string): void
  /** Drops what waits; resolves when what is in hand is given. */
  close(): Promise<void>
}

/**
 * Gives the hints of a channel, each scope once a batch.
 * @param give one hint; what it rejects with is logged
 */
export function notifiedHints(
  give: (scope: HintScope) => Promise<unknown>,
  log: Log,
): NotifiedHints {
  const limit = pLimit(IN_HAND)
  const waiting = new Map<string, HintScope>()
  let working: Promise<void> | null = null
  let refused = 0
  let quietUntilMs = 0

  const refuse = (error: unknown) => {
    refused += 1
    if (performance.now() < quietUntilMs) return
    const why = error instanceof UsageError ? { reason: error.message } : { err: error }
    log.warn({ refused, ...why }, 'a hint was refused')
    refused = 0
    quietUntilMs = performance.now() + TELL_MS
  }
  const work = async () => {
    while (waiting.size > 0) {
      await sleep(COLLECT_MS)
      const batch = [...waiting.values()]
      waiting.clear()
      await Promise.all(batch.map((scope) => limit(() => give(scope).catch(refuse))))
    }
    working = null
  }
  return {
    heard(payload) {
      try {
        const scope = scopeOf(payload)
        const key = JSON.stringify(scope)
        if (waiting.size >= WAITING_MAX && !waiting.has(key))
          throw new UsageError(`More than ${WAITING_MAX} hints wait.`)
        waiting.set(key, scope)
      } catch (error) {
        return refuse(error)
      }
      working ??= work()
    },
    async close() {
      waiting.clear()
      await working
    },
  }
}

function scopeOf(payload: string): HintScope {
  const { organizationId, documentId, annotationId } = checked(
    HintPayloadSchema,
    parsed(payload),
    'the payload',
  )
  return {
    organizationIds: [organizationId],
    documentId,
    ...(annotationId != null && { annotationId }),
  }
}

/** The parser's own message would repeat what was sent. */
function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    throw new UsageError('the payload is no JSON.')
  }
}
