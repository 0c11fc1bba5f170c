import type { Database } from '../../core/database/pool.ts'
import { counted, time } from '../../schemas/format.ts'
import type { NotifySettings } from '../../features/notify/notifier.ts'
import { readReceivers, sendTests } from '../../features/notify/receivers.ts'
import type { ReceiverAddress } from '../../schemas/notification-type.ts'
import { fail, ok, skip, warn } from './finding.ts'
import type { Finding } from './finding.ts'

const FIX = 'correct the address in NOTIFY_URL, or fix the receiver'

/** Checks the past deliveries to each receiver of NOTIFY_URL. It sends nothing, and shows only the host of an address. */
export async function checkNotify(
  database: Database,
  addresses: readonly ReceiverAddress[],
): Promise<Finding[]> {
  const receivers = await readReceivers(database, addresses)
  return receivers.map(({ name, shape, sentAt, ...past }, index) => {
    const check = checkOf(index, receivers)
    if (past.problem !== null)
      return warn(
        check,
        `${name}: ${counted(past.givenUp, 'message')} undelivered and ${past.waiting} pending in the last week (${past.problem})`,
        FIX,
      )
    return ok(
      check,
      sentAt !== null
        ? `${name}: accepted the last message at ${time(sentAt)}`
        : shape === 'heartbeat'
          ? `${name}: no ping was sent yet; the end of the next nightly run sends one`
          : `${name}: no message was sent yet; collab-sync doctor --notify sends a test message`,
    )
  })
}

/** Sends a test message to each receiver, as {@link sendTests}. */
export async function testNotify(settings: NotifySettings): Promise<Finding[]> {
  const tested = await sendTests(settings)
  return tested.map(({ name, accepted, result }, index) => {
    const check = checkOf(index, tested)
    if (accepted === null)
      return skip(check, `a ping of the ${name} would report the end of a nightly run`)
    return accepted
      ? ok(check, `${name}: accepted the test message (${result})`)
      : fail(check, `${name}: did not accept the test message (${result})`, FIX)
  })
}

/** The row of a receiver. Several receivers have their positions in NOTIFY_URL, since the paths of their addresses are secret. */
function checkOf(index: number, { length }: readonly unknown[]): string {
  return length > 1 ? `notify ${index + 1}` : 'notify'
}
