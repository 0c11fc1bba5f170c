import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as notify from '../../core/database/statements/notify.ts'
import { MemberChangeSchema } from '../../documents/member-change.ts'
import { every } from '../../base/every.ts'
import type { Log } from '../../base/log.ts'
import { look } from './look.ts'
import { bodyFor } from './message.ts'
import { Facts } from './notification.ts'
import type { Notification } from './notification.ts'
import { PostError, postMessage, receiversOf } from './post.ts'
import type { Receiver, ReceiverAddress } from './post.ts'

/** Longer than all tries of one delivery: only a worker that died lets it run out. */
const LEASE_S = 90
/** The first pause after a delivery failed; it doubles with every failure. */
const PAUSE_S = 10
const PAUSE_MAX_S = 900
/** The last look of a process waits its turn so often. */
const LAST_LOOK_TRIES = 20

export interface NotifierOptions {
  readonly database: Database
  readonly log: Log
  readonly addresses: readonly ReceiverAddress[]
  /** `whsec_...` */
  readonly secret: string | undefined
  /** Least seconds between two looks, whoever looks. */
  readonly secondsBetween: number
}

/**
 * Notifies the receivers of NOTIFY_URL of open problems, and again when they are resolved. Any number of processes may have
 * one: PostgreSQL decides which process looks and which delivers. A message is sent twice only if the response of a receiver
 * is late or lost, or if the process or PostgreSQL stops before the delivery is noted. It then has the same ID and the same
 * text, without what was erased or deleted since.
 */
export class Notifier {
  readonly #options: NotifierOptions
  readonly #receivers: readonly Receiver[]
  readonly #stopped = new AbortController()
  readonly #failing = new Set<string>()

  constructor(options: NotifierOptions) {
    this.#options = options
    this.#receivers = receiversOf(options.addresses)
  }

  /** Looks for open problems, unless another process has just looked. @returns whether this process looked */
  async look(secondsBetween = this.#options.secondsBetween): Promise<boolean> {
    const { database, log } = this.#options
    return look(database, {
      receivers: this.#receivers.map(({ key }) => key),
      secondsBetween,
      failing: this.#failing,
      log,
    })
  }

  /** Delivers what is due; receivers do not wait for one another. @returns how many messages were taken or need not be sent */
  async deliver(): Promise<number> {
    const sent = await Promise.all(this.#receivers.map((receiver) => this.#deliverTo(receiver)))
    return sent.reduce((sum, each) => sum + each, 0)
  }

  /**
   * Looks and delivers a last time, for a process that ends with its run. It looks twice: what is resolved is reported by the
   * second look, and no other process may be running to make it.
   */
  async finish(): Promise<void> {
    for (let tries = 0, looks = 0; tries < LAST_LOOK_TRIES && looks < 2; tries += 1) {
      if (await this.look(0)) looks += 1
      else await sleep(50)
    }
    await this.deliver()
  }

  /** Ends what waits; whatever is not delivered is another process's, or the next one's. */
  stop(): void {
    this.#stopped.abort()
  }

  async #deliverTo(receiver: Receiver): Promise<number> {
    const due = { receiver: receiver.key, leaseS: LEASE_S }
    let sent = 0
    while (!this.#stopped.signal.aborted) {
      const delivery = await notify.claim.first(this.#options.database, due)
      // What failed once is likely to fail again at once.
      if (delivery === undefined || !(await this.#deliverOne(receiver, delivery))) break
      sent += 1
    }
    return sent
  }

  async #deliverOne(receiver: Receiver, delivery: RowOf<typeof notify.claim>): Promise<boolean> {
    const { database, log, secret } = this.#options
    const { notificationId: id, kind } = delivery
    const ids = { notificationId: id, receiver: receiver.key }
    const { signal } = this.#stopped
    const notification = await notificationOf(database, Facts.parse(delivery.facts))
    if (notification === null) {
      await notify.record.run(database, { ...ids, outcome: 'given_up', problem: null, retryInS: 0 })
      log.info(
        { ...ids, kind },
        'a message to NOTIFY_URL was withdrawn: its subject was erased or deleted',
      )
      return true
    }
    try {
      const body = bodyFor(receiver.shape, id, notification)
      await postMessage(receiver, { id, body }, { secret, signal })
    } catch (error) {
      if (!(error instanceof PostError)) throw error
      const isGivenUp = delivery.isLast && !signal.aborted
      const retryInS = signal.aborted ? 0 : Math.max(pauseAfter(delivery.attempts), error.waitS)
      const problem = error.message
      const outcome = isGivenUp ? 'given_up' : 'retry'
      await notify.record.run(database, { ...ids, outcome, problem, retryInS })
      const facts = { ...ids, kind, problem }
      if (isGivenUp) log.error(facts, 'a message to NOTIFY_URL was given up after a day')
      else log.warn(facts, 'a message to NOTIFY_URL was not taken; it will be tried again')
      return false
    }
    await notify.record.run(database, { ...ids, outcome: 'sent', problem: null, retryInS: 0 })
    log.info({ ...ids, kind }, 'notified')
    return true
  }
}

const MemberChanges = z.array(MemberChangeSchema)

/** The notification with what is read when it is sent; null if that was erased or deleted. */
async function notificationOf(database: Database, facts: Facts): Promise<Notification | null> {
  if (facts.kind !== 'members.changed') return facts
  const { kind, at, numbers } = facts
  const { members, first } = await notify.memberChanges.one(database, { numbers })
  return members === 0 ? null : { kind, at, members, first: MemberChanges.parse(first) }
}

/** Jittered, so that many messages do not come at once to a receiver that is back. */
function pauseAfter(attempts: number): number {
  const pauseS = Math.min(PAUSE_MAX_S, PAUSE_S * 2 ** (attempts - 1))
  return pauseS * (0.75 + Math.random() * 0.5)
}

const LOOK_MS = 10_000
/** However many processes there are, one looks at most so often. */
const SECONDS_BETWEEN = 5

/** The settings of notifications. */
export interface NotifySettings {
  readonly notifyUrls?: readonly ReceiverAddress[]
  readonly notifySecret?: string
}

/**
 * Notifies the receivers of NOTIFY_URL until it is stopped; does nothing without receivers. It never fails: errors are
 * logged, and it tries again the next time.
 * @param options.staysOn false for a process that ends with its run: it looks a last time when it is stopped, because no
 *   other process may be running.
 */
export async function keepNotified(
  database: Database,
  settings: NotifySettings,
  options: { staysOn: boolean; log: Log },
): Promise<{ stop(): Promise<void> }> {
  const { notifyUrls = [], notifySecret } = settings
  if (notifyUrls.length === 0) return { stop: async () => {} }
  const { log, staysOn } = options
  const notifier = new Notifier({
    database,
    log,
    addresses: notifyUrls,
    secret: notifySecret,
    secondsBetween: SECONDS_BETWEEN,
  })
  const notifying = every(LOOK_MS, log, 'notification', async () => {
    await notifier.look()
    await notifier.deliver()
  })
  // Before the first run can end: runs that ended before anybody looked are not reported. What fails is logged below.
  await notifier.look().catch(() => {})
  // It is not waited for: receivers may hang.
  void notifying.now()
  return {
    async stop() {
      if (staysOn) notifier.stop()
      await notifying.stop()
      if (!staysOn)
        await notifier.finish().catch((err: unknown) => log.warn({ err }, 'notification fails'))
    },
  }
}
