import { createHash } from 'node:crypto'

/** An address of NOTIFY_URL. */
export interface ReceiverAddress {
  readonly shape: 'json' | 'slack' | 'teams'
  /** A secret: whoever knows it can post there. */
  readonly url: string
}

/** Who is told. */
export interface Receiver extends ReceiverAddress {
  /** Stands for the address where that must not be seen: in the database, in logs. */
  readonly key: string
}

/** The receivers of some addresses, each once. */
export function receiversOf(addresses: readonly ReceiverAddress[]): Receiver[] {
  const receivers = addresses.map((address) => ({ ...address, key: keyOf(address) }))
  return [...new Map(receivers.map((each) => [each.key, each])).values()]
}

function keyOf({ shape, url }: ReceiverAddress): string {
  return createHash('sha256').update(`${shape} ${url}`).digest('hex').slice(0, 16)
}
