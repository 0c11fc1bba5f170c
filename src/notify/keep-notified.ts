import type { Database } from '../database/pool.ts'
import * as schedule from '../database/statements/schedule.ts'
import type { Log } from '../log.ts'
import type { Watch } from './look.ts'
import { Notifier } from './notifier.ts'
import type { ReceiverAddress } from './receiver.ts'

const LOOK_MS = 10_000
/** However many workers there are, somebody looks at most so often. */
const SECONDS_BETWEEN = 5

/** What the settings say about telling people. */
export interface NotifySettings {
  readonly notifyUrls?: readonly ReceiverAddress[]
  readonly notifySecret?: string
  readonly freshnessPromiseMs: number
  readonly nightlyLateAfterMs: number
  readonly cron: string
  readonly timeZone: string
}

/**
 * Keeps telling the receivers of NOTIFY_URL until stopped; does nothing where there are none. It never fails: what goes
 * wrong is logged, and the next time comes all the same.
 * @param options.staysOn true for a worker: it keeps an eye on the nightly runs. A process that ends with its run looks
 *   a last time when it is stopped, since nobody may be left to tell of it.
 */
export async function keepNotified(
  database: Database,
  settings: NotifySettings,
  options: { staysOn: boolean; log: Log },
): Promise<{ stop(): Promise<void> }> {
  const { notifyUrls = [], notifySecret, freshnessPromiseMs, nightlyLateAfterMs } = settings
  if (notifyUrls.length === 0) return { stop: async () => {} }
  const { log, staysOn } = options
  const notifier = new Notifier({
    database,
    log,
    addresses: notifyUrls,
    secret: notifySecret,
    freshnessPromiseMs,
    nightlyLateAfterMs,
    readNightly: async () => (staysOn ? readNightly(database, settings) : null),
    secondsBetween: SECONDS_BETWEEN,
  })
  const safely = (work: () => Promise<unknown>) =>
    work().catch((error: unknown) => log.warn({ err: error }, 'people could not be told'))
  // Before the first run can end: runs that ended before anybody looked are not told.
  await safely(() => notifier.look())
  let running: Promise<unknown> | null = null
  const begin = (work: () => Promise<unknown>) => {
    // Where receivers hang, this one takes longer than the pause: no line of others forms behind it.
    running ??= safely(work).finally(() => (running = null))
  }
  begin(() => notifier.deliver())
  const timer = setInterval(
    () =>
      begin(async () => {
        await notifier.look()
        await notifier.deliver()
      }),
    LOOK_MS * (0.9 + Math.random() * 0.2),
  )
  return {
    async stop() {
      clearInterval(timer)
      if (staysOn) notifier.stop()
      await running
      if (!staysOn) await safely(() => notifier.finish())
    },
  }
}

/** What a person set holds for all workers; without it the settings do. */
async function readNightly(
  database: Database,
  { cron, timeZone }: NotifySettings,
): Promise<Watch['nightly']> {
  const set = await schedule.read.first(database)
  if (set === undefined) return { cron, timeZone }
  return set.cron === null ? 'none' : { cron: set.cron, timeZone: set.timeZone ?? timeZone }
}
