import type { ServerResponse } from 'node:http'
import { errorBody, successBody } from '../../src/demo/responses.ts'
import type { Fault } from './faults.ts'
import { poisonRecords } from './poison.ts'
import { Random } from '../../src/demo/random.ts'
import type { StandInRequest } from '../../src/demo/requests.ts'
import { sendJson } from '../../src/demo/stand-in.ts'

const HTML = '<!doctype html><html><body><h1>500 Internal Server Error</h1></body></html>'

/** Answers the call with the fault. `items` are those of the good answer; `held` is not answered here. */
export function answerWithFault(
  fault: Exclude<Fault, { kind: 'held' }>,
  request: StandInRequest,
  response: ServerResponse,
  items: string[],
): void {
  const good = () => successBody(request.operation, items)
  switch (fault.kind) {
    case 'cut-body':
      return sendCut(response, good())
    case 'connection-reset':
      response.socket?.resetAndDestroy()
      return
    case 'custom':
      return fault.respond(request, response)
    case 'empty-body':
      return sendJson(response, 200, '')
    case 'truncated-json':
      return sendJson(response, 200, half(good()))
    case 'no-data':
      return sendJson(response, 200, good().replace(/,"data":\[.*\]/s, ''))
    case 'error-under-200':
      return sendJson(response, 200, errorBody(request.operation, fault.errorStatus ?? 'INTERNAL'))
    case 'half-with-next-page-token':
    case 'wrong-length':
    case 'empty-list':
    case 'poison':
      return sendJson(response, 200, spoiltList(fault, request, items))
    default:
      return sendRefusal(fault, request, response)
  }
}

type ListFault = Extract<
  Fault,
  { kind: 'half-with-next-page-token' | 'wrong-length' | 'empty-list' | 'poison' }
>

function spoiltList(fault: ListFault, request: StandInRequest, items: string[]): string {
  const { operation } = request
  switch (fault.kind) {
    case 'half-with-next-page-token': {
      const page = items.slice(0, Math.floor(items.length / 2))
      return successBody(operation, page).replace(/\}\}$/, ',"nextPageToken":"b2Zmc2V0OjI1"}}')
    }
    case 'wrong-length':
      return successBody(operation, items.slice(0, -1))
    case 'empty-list':
      return successBody(operation, [])
    case 'poison':
      return successBody(operation, poisoned(fault, request, items))
  }
}

/** The good items with the bad ones between them, at places that are the same for the same call. */
function poisoned(
  fault: Extract<Fault, { kind: 'poison' }>,
  request: StandInRequest,
  items: string[],
): string[] {
  const kinds = typeof fault.poison === 'string' ? [fault.poison] : fault.poison
  const random = new Random(request.body.length)
  const mixed = items.slice()
  for (const kind of kinds) {
    for (const text of poisonRecords(kind, request.operation)) {
      mixed.splice(random.below(mixed.length + 1), 0, text)
    }
  }
  return mixed
}

type Refusal = Exclude<Fault, ListFault | { kind: BrokenKind }>
type BrokenKind =
  | 'held'
  | 'cut-body'
  | 'connection-reset'
  | 'custom'
  | 'empty-body'
  | 'truncated-json'
  | 'no-data'
  | 'error-under-200'

function sendRefusal(fault: Refusal, request: StandInRequest, response: ServerResponse): void {
  const refuse = (status: number, code: string, headers?: Record<string, string>) =>
    sendJson(response, status, errorBody(request.operation, code), headers)
  switch (fault.kind) {
    case 'too-many-requests': {
      const seconds = fault.retryAfterSeconds
      const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) }
      return refuse(429, 'RESOURCE_EXHAUSTED', headers)
    }
    case 'server-error-html':
      return sendJson(response, 500, HTML, { 'content-type': 'text/html' })
    case 'unavailable':
      return refuse(503, 'UNAVAILABLE')
    case 'unknown-error-code':
      return refuse(418, 'OUT_OF_CHEESE')
    case 'bad-request':
      return refuse(400, 'INVALID_ARGUMENT')
    case 'unauthenticated':
      return refuse(401, 'UNAUTHENTICATED')
    case 'forbidden':
      return refuse(403, 'PERMISSION_DENIED')
    case 'not-found':
      return refuse(404, 'NOT_FOUND')
    case 'redirect':
      return sendJson(response, 307, '', { location: '/elsewhere' })
  }
}

/** Promises the whole body, sends half of it and breaks the connection. */
function sendCut(response: ServerResponse, body: string): void {
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  })
  response.write(half(body), () => response.socket?.destroy())
}

function half(body: string): string {
  return body.slice(0, Math.floor(body.length / 2))
}
