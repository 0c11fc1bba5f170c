import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closedAtEnd } from '../helpers/closing.ts'

/** A message as it came over HTTP. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
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

/** Starts one on 127.0.0.1. */
export async function startReceiver(): Promise<ReceiverServer> {
  const received: Received[] = []
  let answer: { status: number; headers: Record<string, string>; body: string }
  answer = { status: 200, headers: {}, body: '' }
  let asked = 0
  let held: Promise<void> | undefined
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    asked += 1
    const { status, headers, body } = answer
    const text = Buffer.concat(parts).toString()
    if (status < 300) {
      const { method = '', url: path = '', headers } = request
      received.push({ method, path, headers, text, body: JSON.parse(text || 'null') })
    }
    await held
    response.writeHead(status, headers).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (status, headers = {}, body = '') => {
      answer = { status, headers, body }
    },
    asked: () => asked,
    hold() {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      return () => {
        held = undefined
        release()
      }
    },
    close: closedAtEnd(async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }),
  }
}
