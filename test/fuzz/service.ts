import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { keyOf } from '../worlds/log.ts'
import type { Exchange } from './response-model.ts'

/** The response to one call. */
export interface Reply {
  readonly httpStatus: number
  readonly encoding: string | null
  readonly bytes: Buffer
  readonly isChunked: boolean
  readonly isCut: boolean
}

/** The scope of a call, by its key, and the IDs of the requested comments. */
export interface Asked {
  readonly key: string
  readonly ids: readonly number[] | null
}

/** An HTTP server that responds to each call with given bytes, and keeps them. */
export interface Service {
  readonly url: string
  /** The calls of a run by scope, in order of arrival. */
  readonly exchanges: Map<string, Exchange[]>
  calls: number
  answer: (asked: Asked) => Reply
  close(): Promise<void>
}

export async function startService(): Promise<Service> {
  const server = createServer((message, response) => take(service, message, response))
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const service: Service = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges: new Map(),
    calls: 0,
    answer: () => {
      throw new Error('there is nothing to answer')
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return service
}

function take(service: Service, message: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = []
  message.on('data', (part: Buffer) => parts.push(part))
  message.once('end', () => {
    const { data } = JSON.parse(Buffer.concat(parts).toString()) as { data: Filter }
    const key = keyOf({ ...data, groupId: data.organizationUserGroupIds?.[0] })
    const asked = { key, ids: data.commentIds ?? null }
    const reply = service.answer(asked)
    service.calls += 1
    const { httpStatus, encoding, bytes: body, isCut } = reply
    const exchange = { ids: asked.ids, httpStatus, encoding, body, isCut }
    const others = service.exchanges.get(asked.key)
    if (others === undefined) service.exchanges.set(asked.key, [exchange])
    else others.push(exchange)
    send(response, reply)
  })
}

interface Filter {
  readonly organizationId: string
  readonly documentId?: string
  readonly annotationId?: string
  readonly commentIds?: readonly number[]
  readonly organizationUserGroupIds?: readonly string[]
}

function send(
  response: ServerResponse,
  { httpStatus, encoding, bytes, isChunked, isCut }: Reply,
): void {
  response.writeHead(httpStatus, {
    'content-type': 'application/json',
    ...(encoding === null ? {} : { 'content-encoding': encoding }),
    ...(httpStatus === 302 ? { location: '/elsewhere' } : {}),
    ...(isChunked && !isCut ? {} : { 'content-length': bytes.length + (isCut ? 1 : 0) }),
  })
  if (isCut) response.write(bytes, () => response.socket?.destroy())
  else response.end(bytes)
}
