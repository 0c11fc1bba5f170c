import { randomUUID } from 'node:crypto'
import { UsageError } from '../../base/errors.ts'
import type { Database } from '../../core/database/pool.ts'
import * as notify from '../../core/database/statements/notify.ts'
import { counted, time } from '../../schemas/format.ts'
import { bodyFor } from '../../features/notify/message.ts'
import type { NotifySettings } from '../../features/notify/notifier.ts'
import { PostError, postOnce, receiversOf } from '../../features/notify/post.ts'
import type { Receiver } from '../../features/notify/post.ts'
import type { ReceiverAddress } from '../../schemas/notification-type.ts'
import { fail, ok, skip, warn } from './finding.ts'
import type { Finding } from './finding.ts'

const FIX = 'correct the address in NOTIFY_URL, or fix the receiver'

/** Checks the past deliveries to each receiver of NOTIFY_URL. It sends nothing, and shows only the host of an address. */
export async function checkNotify(
  database: Database,
  addresses: readonly ReceiverAddress[],
): Promise<Finding[]> {
  const receivers = receiversOf(addresses)
  const keys = receivers.map(({ key }) => key)
  const rows = await notify.receivers.all(database, { receivers: keys })
  const past = new Map(rows.map((row) => [row.receiver, row]))
  return receivers.map((receiver, index) => {
    const { check, name } = labelOf(receiver, index, receivers.length)
    const row = past.get(receiver.key)
    if (row?.problem)
      return warn(
        check,
        `${name}: ${counted(row.givenUp, 'message')} undelivered and ${row.waiting} pending in the last week (${row.problem})`,
        FIX,
      )
    return ok(
      check,
      row?.sentAt
        ? `${name}: accepted the last message at ${time(row.sentAt)}`
        : receiver.shape === 'heartbeat'
          ? `${name}: no ping was sent yet; the end of the next nightly run sends one`
          : `${name}: no message was sent yet; collab-sync doctor --notify sends a test message`,
    )
  })
}

/** Sends a test message to each receiver of NOTIFY_URL that is not a heartbeat, once. @throws UsageError if there is none */
export async function testNotify(settings: NotifySettings): Promise<Finding[]> {
  const { notifyUrls = [], notifySecret, httpPublicUrl } = settings
  if (notifyUrls.length === 0)
    throw new UsageError('NOTIFY_URL is not set: there is no receiver to test.')
  const receivers = receiversOf(notifyUrls)
  const test = { kind: 'test', at: new Date().toISOString() } as const
  return Promise.all(
    receivers.map(async (receiver, index) => {
      const { check, name } = labelOf(receiver, index, receivers.length)
      if (receiver.shape === 'heartbeat')
        return skip(check, `a ping of the ${name} would report the end of a nightly run`)
      const id = randomUUID()
      try {
        const body = bodyFor(receiver.shape, id, test, httpPublicUrl)
        const response = await postOnce(receiver, { id, body }, notifySecret)
        return ok(check, `${name}: accepted the test message (${response})`)
      } catch (error) {
        if (!(error instanceof PostError)) throw error
        return fail(check, `${name}: did not accept the test message (${error.message})`, FIX)
      }
    }),
  )
}

/** The row of a receiver. Several receivers have their positions in NOTIFY_URL, since the paths of their addresses are secret. */
function labelOf({ shape, url }: Receiver, index: number, receivers: number) {
  const check = receivers > 1 ? `notify ${index + 1}` : 'notify'
  return { check, name: `${shape} at ${new URL(url).host}` }
}
