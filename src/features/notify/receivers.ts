import { randomUUID } from 'node:crypto'
import { UsageError } from '../../base/errors.ts'
import type { Database } from '../../core/database/pool.ts'
import * as notify from '../../core/database/statements/notify.ts'
import { DEFAULT_TYPES } from '../../schemas/notification-type.ts'
import type { ReceiverAddress } from '../../schemas/notification-type.ts'
import { bodyFor } from './message.ts'
import type { NotifySettings } from './notifier.ts'
import { PostError, postOnce, receiversOf } from './post.ts'

/** A receiver of NOTIFY_URL without its address, because that is a secret. */
export type ReceiverState = Awaited<ReturnType<typeof readReceivers>>[number]

/** The receivers in the order of NOTIFY_URL, with their past deliveries. It sends nothing. */
export async function readReceivers(database: Database, addresses: readonly ReceiverAddress[]) {
  const receivers = receiversOf(addresses)
  const keys = receivers.map(({ key }) => key)
  const rows = await notify.receivers.all(database, { receivers: keys })
  const past = new Map(rows.map(({ receiver, ...row }) => [receiver, row]))
  // Messages of the last seven days; `problem` is why the receiver did not accept the last one of those that it did not.
  const none = { sentAt: null, givenUp: 0, waiting: 0, problem: null }
  return receivers.map(({ key, shape, url, events }) => ({
    /** Its shape and host. Several may have the same, so a reader also needs the position. */
    name: nameOf({ shape, url }),
    shape,
    /** The types of `#events=`; undefined without it. */
    ...(events !== DEFAULT_TYPES && { events }),
    ...(past.get(key) ?? none),
  }))
}

/** What a receiver answered to a test message, such as `HTTP 204`; null for a heartbeat, which gets none. */
export type Tested = Awaited<ReturnType<typeof sendTests>>[number]

/** Sends a test message to each receiver of NOTIFY_URL that is not a heartbeat, once. @throws UsageError if there is none */
export async function sendTests(settings: NotifySettings) {
  const { notifyUrls = [], notifySecret, httpPublicUrl } = settings
  if (notifyUrls.length === 0)
    throw new UsageError('NOTIFY_URL is not set: there is no receiver to test.')
  const test = { kind: 'test', at: new Date().toISOString() } as const
  return Promise.all(
    receiversOf(notifyUrls).map(async (receiver) => {
      const name = nameOf(receiver)
      if (receiver.shape === 'heartbeat') return { name, accepted: null, result: null }
      const id = randomUUID()
      try {
        const body = bodyFor(receiver.shape, id, test, httpPublicUrl)
        const result = await postOnce(receiver, { id, body }, notifySecret)
        return { name, accepted: true, result }
      } catch (error) {
        if (!(error instanceof PostError)) throw error
        return { name, accepted: false, result: error.message }
      }
    }),
  )
}

function nameOf({ shape, url }: ReceiverAddress): string {
  return `${shape} at ${new URL(url).host}`
}
