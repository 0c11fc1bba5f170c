import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** Means that it hangs; how long a slow machine takes is no finding. Less than a test's own limit, which says less. */
const HANGS_MS = 100_000
const POLL_MS = 20

/**
 * Waits for a state: the one place where tests of `npm test` let time pass.
 * @param what names the state in the error, as a sentence: 'the run ended'
 * @param look gives what is waited for once it is there, until then null, undefined or false
 * @throws when the state does not come, with what was seen last; what `check` throws
 */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  limitMs = HANGS_MS,
): Promise<Exclude<T, null | undefined | false>> {
  const limit = AbortSignal.timeout(limitMs)
  for (;;) {
    const seen = await check()
    if (seen !== null && seen !== undefined && seen !== false)
      return seen as Exclude<T, null | undefined | false>
    if (limit.aborted)
      throw new Error(`Waited in vain until ${what}; the last look saw ${inspect(seen)}.`)
    await sleep(POLL_MS)
  }
}
