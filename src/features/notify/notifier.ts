import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { savepoint, transaction } from '../../core/database/pool.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import * as notify from '../../core/database/statements/notify.ts'
import { describeRequest } from '../../schemas/format.ts'
import { MemberChangeSchema } from '../../schemas/member-change.ts'
import { ATTENTION } from '../../schemas/notification-type.ts'
import type { ReceiverAddress } from '../../schemas/notification-type.ts'
import { StoredScopeSchema } from '../../schemas/scope.ts'
import { every } from '../../base/every.ts'
import type { Log } from '../../base/log.ts'
import { bodyFor } from './message.ts'
import { Facts } from './notification.ts'
import type { Notification } from './notification.ts'
import { failing, PostError, postMessage, receiversOf } from './post.ts'
import type { Receiver } from './post.ts'

/** Longer than all attempts of one delivery, so that it expires only if the process died. */
const LEASE_S = 90
/** The pause after the first failed delivery. It doubles with each failure. */
const PAUSE_S = 10
const PAUSE_MAX_S = 900
/** A process that ends tries so often to make its last checks, while other processes hold the lock. */
const LAST_CHECK_TRIES = 20

/** The settings of notifications. */
export interface NotifySettings {
  readonly notifyUrls?: readonly ReceiverAddress[]
  readonly notifySecret?: string
  readonly httpPublicUrl?: string
}

export interface NotifierOptions extends NotifySettings {
  readonly database: Database
  readonly log: Log
  /** The least time between two checks of all processes together. */
  readonly secondsBetween: number
}

/**
 * Notifies the receivers of NOTIFY_URL of open problems, and again when they are resolved. Any number of processes may have
 * one: PostgreSQL decides which process checks and which delivers. A message is sent twice only if the response of a receiver
 * is late or lost, or if the process or PostgreSQL stops before the delivery is recorded. It then has the same ID and the same
 * text, without what was erased or deleted since.
 */
export class Notifier {
  readonly #options: NotifierOptions
  readonly receivers: readonly Receiver[]
  readonly #stopped = new AbortController()
  /** Checks that failed when this process last made them. */
  readonly #failing = new Set<string>()

  constructor(options: NotifierOptions) {
    this.#options = options
    this.receivers = receiversOf(options.notifyUrls ?? [])
  }

  /**
   * Checks for open problems and creates each notification once, in one transaction.
   * @returns false if another process holds the lock or has just checked
   */
  async check(intervalS = this.#options.secondsBetween): Promise<boolean> {
    const { database } = this.#options
    const pairs = this.receivers.flatMap(({ key, events }) =>
      events.map((event) => ({ key, event })),
    )
    await notify.subscribe.run(database, {
      receivers: pairs.map(({ key }) => key),
      events: pairs.map(({ event }) => event),
    })
    return transaction(database, async (client) => {
      const turn = await notify.takeTurn.first(client, { intervalS })
      if (turn === undefined) return false
      const { watchingSince: since } = turn
      const receivers = this.receivers.map(({ key }) => key)
      await this.#check(client, 'runs', () => notify.noteRuns.run(client, { since }))
      await this.#check(client, 'finished', () => notify.noteFinished.run(client, { receivers }))
      await this.#check(client, 'attention', () => noteAttention(client, turn.now))
      await this.#check(client, 'members', () => notify.noteMembers.run(client, { since }))
      await notify.address.run(client, { receivers })
      await this.#check(client, 'old', async () => {
        await notify.forget.run(client)
        await notify.abandon.run(client, { receivers })
      })
      return true
    })
  }

  /** A check that fails is logged once and does not stop the others. */
  async #check(client: Client, kind: string, work: () => Promise<unknown>): Promise<void> {
    const failure = await savepoint(client, work)
    if (failure === null) this.#failing.delete(kind)
    else if (!this.#failing.has(kind)) {
      this.#failing.add(kind)
      const facts = { err: failure.error, kind }
      this.#options.log.warn(facts, 'a kind of notification could not be checked')
    }
  }

  /** Delivers due messages to all receivers concurrently. @returns how many were accepted or need not be sent */
  async deliver(): Promise<number> {
    const sent = await Promise.all(this.receivers.map((receiver) => this.deliverTo(receiver)))
    return sent.reduce((sum, each) => sum + each, 0)
  }

  /**
   * Checks and delivers a last time, for a process that ends with its run. It checks twice: a problem counts as resolved after
   * two checks, and no other process may be running to make the second one.
   */
  async finish(): Promise<void> {
    for (let tries = 0, checks = 0; tries < LAST_CHECK_TRIES && checks < 2; tries += 1) {
      if (await this.check(0)) checks += 1
      else await sleep(50)
    }
    await this.deliver()
  }

  /** Stops deliveries. Other processes, or the next one, deliver the messages that are left. */
  stop(): void {
    this.#stopped.abort()
  }

  /** Delivers due messages to one receiver, until there are none or one fails. @returns as {@link deliver} */
  async deliverTo(receiver: Receiver): Promise<number> {
    let sent = 0
    // After a failure, the next message would probably fail too.
    while (!this.#stopped.signal.aborted && (await this.#deliverNext(receiver))) sent += 1
    return sent
  }

  async #deliverNext(receiver: Receiver): Promise<boolean> {
    const { database } = this.#options
    if (receiver.shape !== 'heartbeat') return this.#deliverDue(database, receiver)
    // One process at a time, until the response, so that no older ping follows that of a newer night.
    return transaction(database, async (client) => {
      const { isLocked } = await notify.lockHeartbeat.one(client, { receiver: receiver.key })
      if (!isLocked) return false
      await notify.dropPings.run(client, { receiver: receiver.key })
      return this.#deliverDue(client, receiver)
    })
  }

  async #deliverDue(on: Database | Client, receiver: Receiver): Promise<boolean> {
    const { log, notifySecret: secret, httpPublicUrl } = this.#options
    const delivery = await notify.claim.first(on, { receiver: receiver.key, leaseS: LEASE_S })
    if (delivery === undefined) return false
    const { notificationId: id, kind } = delivery
    const ids = { notificationId: id, receiver: receiver.key }
    const { signal } = this.#stopped
    const notification = await notificationOf(on, Facts.parse(delivery.facts))
    if (notification === null) {
      await notify.record.run(on, { ...ids, outcome: 'given_up', problem: null, retryInS: 0 })
      log.info(
        { ...ids, kind },
        'a message to NOTIFY_URL was withdrawn: its subject was erased or deleted',
      )
      return true
    }
    try {
      const { shape } = receiver
      const isPing = shape === 'heartbeat'
      const body = isPing ? null : bodyFor(shape, id, notification, httpPublicUrl)
      const isFailure = 'status' in notification && /^(failed|cancelled)$/.test(notification.status)
      const to = isPing && isFailure ? failing(receiver) : receiver
      await postMessage(to, { id, body }, { secret, signal })
    } catch (error) {
      if (!(error instanceof PostError)) throw error
      const isGivenUp = delivery.isLast && !signal.aborted
      const retryInS = signal.aborted ? 0 : Math.max(pauseAfter(delivery.attempts), error.waitS)
      const problem = error.message
      const outcome = isGivenUp ? 'given_up' : 'retry'
      await notify.record.run(on, { ...ids, outcome, problem, retryInS })
      const facts = { ...ids, kind, problem }
      if (isGivenUp) log.error(facts, 'a message to NOTIFY_URL was given up after a day')
      else log.warn(facts, 'a message to NOTIFY_URL was not accepted; it will be sent again')
      return false
    }
    await notify.record.run(on, { ...ids, outcome: 'sent', problem: null, retryInS: 0 })
    log.info({ ...ids, kind }, 'notified')
    return true
  }
}

/** Creates notifications of problems in sync.attention that are new, and of those that are resolved. */
async function noteAttention(client: Client, now: Date): Promise<void> {
  const at = now.toISOString()
  for (const { kind, facts, exceptions } of await notify.attention.all(client)) {
    // Other kinds are shown, but not sent.
    if (!isReported(kind)) continue
    const [type, resolved] = ATTENTION[kind]
    const noted: Facts = Facts.parse(
      facts === null
        ? { kind: resolved, at, ...(exceptions.length > 0 && { exceptions }) }
        : { kind: type, at, ...facts },
    )
    await notify.note.run(client, {
      thing: `${noted.kind}:${at}`,
      kind: noted.kind,
      subject: facts === null ? null : kind,
      facts: JSON.stringify(noted),
    })
  }
}

function isReported(kind: string): kind is keyof typeof ATTENTION {
  return Object.hasOwn(ATTENTION, kind)
}

const MemberChanges = z.array(MemberChangeSchema)

/** The notification with what is read when it is sent; null if that was erased or deleted. */
async function notificationOf(on: Database | Client, facts: Facts): Promise<Notification | null> {
  if ('runId' in facts) {
    const run = await notify.run.first(on, { runId: facts.runId })
    if (run === undefined)
      return 'status' in facts
        ? null
        : { ...facts, request: null, requestedBy: null, cancelledBy: null }
    const { retryOf, failing: isFailing, requestedBy, cancelledBy, ...counts } = run
    const scope = StoredScopeSchema.parse(run.scope)
    const request = describeRequest({ scope, retryOf, failing: isFailing })
    const read = { request, requestedBy, cancelledBy }
    return 'status' in facts ? { ...facts, ...counts, scope, ...read } : { ...facts, ...read }
  }
  if (!('numbers' in facts)) return facts
  const { kind, at, numbers } = facts
  const { members, first } = await notify.memberChanges.one(on, { numbers })
  return members === 0 ? null : { kind, at, members, first: MemberChanges.parse(first) }
}

/** Jittered, so that a receiver that recovers does not get many messages at once. */
function pauseAfter(attempts: number): number {
  const pauseS = Math.min(PAUSE_MAX_S, PAUSE_S * 2 ** (attempts - 1))
  return pauseS * (0.75 + Math.random() * 0.5)
}

const CHECK_MS = 10_000
/** The least time between two checks of all processes together. */
const SECONDS_BETWEEN = 5
/** That time after a slow check (docs/decisions/2026-11-21-told-once.md). */
const SECONDS_BETWEEN_MAX = 60
const SECONDS_BETWEEN_OF_MS = 2

/**
 * Notifies the receivers of NOTIFY_URL until it is stopped; does nothing without receivers. Errors are logged, and the next
 * check tries again.
 * @param options.staysOn false for a process that ends with its run: it checks a last time when it is stopped, because no
 *   other process may be running
 */
export async function keepNotified(
  database: Database,
  settings: NotifySettings,
  options: { staysOn: boolean; log: Log },
): Promise<{ stop(): Promise<void> }> {
  if (!settings.notifyUrls?.length) return { stop: async () => {} }
  const { log, staysOn } = options
  const notifier = new Notifier({ ...settings, database, log, secondsBetween: SECONDS_BETWEEN })
  // Each receiver by itself, so that one that hangs delays neither the checks nor the others.
  const deliveries = notifier.receivers.map((receiver) =>
    every(CHECK_MS, log, 'delivery of notifications', async () => {
      await notifier.deliverTo(receiver)
    }),
  )
  const deliver = () => deliveries.forEach((each) => void each.now())
  let secondsBetween = SECONDS_BETWEEN
  const notifying = every(CHECK_MS, log, 'notification', async () => {
    const beganMs = performance.now()
    if (await notifier.check(secondsBetween)) {
      const after = SECONDS_BETWEEN_OF_MS * (performance.now() - beganMs)
      secondsBetween = Math.max(SECONDS_BETWEEN, Math.min(after, SECONDS_BETWEEN_MAX))
      deliver()
    }
  })
  // Runs that ended before the first check are not reported, so check before the first run can end. `notifying` logs errors.
  await notifier.check().catch(() => {})
  void notifying.now()
  deliver()
  return {
    async stop() {
      if (staysOn) notifier.stop()
      await notifying.stop()
      await Promise.all(deliveries.map((each) => each.stop()))
      if (!staysOn)
        await notifier.finish().catch((err: unknown) => log.warn({ err }, 'notification fails'))
    },
  }
}
