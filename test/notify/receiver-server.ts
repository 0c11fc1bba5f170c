import { bytes, openFaultServer } from '../service/fault-server.ts'
import type { Fault, Seen } from '../service/fault-server.ts'

/** A message as it came over HTTP. */
export interface Received extends Omit<Seen, 'body'> {
  readonly method: string
  readonly text: string
  readonly body: {
    readonly id: string
    readonly type: string
    readonly timestamp: string
    readonly data: Record<string, unknown> & { readonly text: string; readonly action: string }
  }
}

/** Somebody who is told. */
export interface ReceiverServer {
  readonly url: string
  /** What it took. */
  readonly received: readonly Received[]
  /** What it answers from now on; 200 without a body at first. */
  answer(status: number, headers?: Record<string, string>, body?: string): void
  /** Requests so far, refused ones too. */
  asked(): number
  /** Lets requests wait for their response until the function that it returns is called. */
  hold(): () => void
  close(): Promise<void>
}

export async function startReceiver(): Promise<ReceiverServer> {
  const received: Received[] = []
  const server = await openFaultServer()
  let answer: Fault = bytes(200, '')
  let isTaken = true
  let held = Promise.resolve()
  server.usually = (response, request) => {
    const { path, headers, body: text } = server.seen.at(-1) as Seen
    const { method = '' } = request
    if (isTaken) received.push({ method, path, headers, text, body: JSON.parse(text || 'null') })
    const now = answer
    void held.then(() => now(response, request))
  }
  return {
    url: server.url,
    received,
    answer(status, headers = {}, body = '') {
      isTaken = status < 300
      answer = (response) => response.writeHead(status, headers).end(body)
    },
    asked: () => server.seen.length,
    hold() {
      let release = () => {}
      held = new Promise((resolve) => (release = resolve))
      return () => {
        held = Promise.resolve()
        release()
      }
    },
    close: server.close,
  }
}
