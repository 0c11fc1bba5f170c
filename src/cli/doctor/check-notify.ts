import type { Database } from '../../database/pool.ts'
import * as notify from '../../database/statements/notify.ts'
import { receiversOf } from '../../notify/receiver.ts'
import type { ReceiverAddress } from '../../notify/receiver.ts'
import { counted } from '../../format.ts'
import { ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Each receiver of NOTIFY_URL, by its host alone: whether it takes what it is told. Nothing is sent. */
export async function checkNotify(
  database: Database,
  addresses: readonly ReceiverAddress[],
): Promise<Finding[]> {
  const receivers = receiversOf(addresses)
  const keys = receivers.map(({ key }) => key)
  const rows = await notify.undelivered.all(database, { receivers: keys })
  const undelivered = new Map(rows.map((row) => [row.receiver, row]))
  return receivers.map(({ key, shape, url }) => {
    const name = `${shape} at ${new URL(url).host}`
    const trouble = undelivered.get(key)
    if (trouble === undefined) return ok('notify', `${name}: nothing was refused lately`)
    const { givenUp, waiting, problem } = trouble
    return warn(
      'notify',
      `${name}: ${counted(givenUp, 'message')} given up and ${waiting} not taken yet in the last week (${problem})`,
      'correct that address in NOTIFY_URL, or mend its receiver',
    )
  })
}
