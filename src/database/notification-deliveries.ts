import type { Database } from './pool.ts'
import { sql } from './sql.ts'

/** One message for one receiver, taken up by this worker. */
export interface Delivery {
  readonly notificationId: string
  readonly attempts: number
  readonly kind: string
  readonly notedAt: Date
  readonly facts: unknown
  /** A day has passed: a failure now is the end. */
  readonly isLast: boolean
}

/** Takes up what has been due to a receiver for longest. @returns null where nothing is due */
export async function claimDelivery(
  database: Database,
  receiver: string,
  leaseS: number,
): Promise<Delivery | null> {
  const { rows } = await database.query(sql('notify/claim'), [receiver, leaseS])
  const row = rows[0]
  if (row === undefined) return null
  return {
    notificationId: row.notification_id,
    attempts: row.attempts,
    kind: row.kind,
    notedAt: row.noted_at,
    facts: row.facts,
    isLast: row.is_last,
  }
}

/** The receiver took it. */
export async function noteSent(
  database: Database,
  notificationId: string,
  receiver: string,
): Promise<void> {
  await database.query(sql('notify/sent'), [notificationId, receiver])
}

/** The delivery failed, for now or for good. */
export async function noteUndelivered(
  database: Database,
  notificationId: string,
  receiver: string,
  failure: { problem: string; nextInS: number; isGivenUp: boolean },
): Promise<void> {
  const { problem, nextInS, isGivenUp } = failure
  await database.query(sql('notify/failed'), [
    notificationId,
    receiver,
    problem,
    nextInS,
    isGivenUp,
  ])
}

/** Messages that a receiver did not take, of the last seven days. */
export interface Undelivered {
  readonly receiver: string
  readonly givenUp: number
  /** To be tried again. */
  readonly waiting: number
  /** Why, of the newest. */
  readonly problem: string
}

/** One for each receiver that did not take something. */
export async function readUndelivered(
  database: Database,
  receivers: readonly string[],
): Promise<Undelivered[]> {
  const { rows } = await database.query(sql('notify/undelivered'), [receivers])
  return rows.map((row) => ({
    receiver: row.receiver,
    givenUp: row.given_up,
    waiting: row.waiting,
    problem: row.problem,
  }))
}
