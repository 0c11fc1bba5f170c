import type { ServerResponse } from 'node:http'
import type { Operation } from '../../src/base/operations.ts'
import { Random } from '../../src/demo/random.ts'
import { errorBody, successBody } from '../../src/demo/operations.ts'
import { sendJson } from '../../src/demo/stand-in.ts'
import { poisonRecords } from './poison.ts'
import type { PoisonKind } from './poison.ts'
import type { StandInRequest } from '../../src/demo/operations.ts'

interface FaultContext {
  readonly request: StandInRequest
  readonly response: ServerResponse
  /** The items of the good answer. */
  readonly items: readonly string[]
}

/** What goes wrong, where; each happens on the wire, nothing is simulated in the client. */
export type Fault =
  | {
      kind: Exclude<FaultKind, 'held' | 'poison' | 'custom'>
      retryAfterSeconds?: number
      errorStatus?: string
    }
  | { kind: 'held'; until: Promise<unknown> }
  | { kind: 'poison'; poison: PoisonKind | readonly PoisonKind[] }
  | { kind: 'custom'; respond: (request: StandInRequest, response: ServerResponse) => void }

type FaultKind = keyof typeof FAULTS | 'held'

const HTML = '<!doctype html><html><body><h1>500 Internal Server Error</h1></body></html>'

/** Every fault, by how it answers a call. */
const FAULTS = {
  'too-many-requests': refusal(429, 'RESOURCE_EXHAUSTED'),
  'server-error-html': ({ response }) =>
    sendJson(response, 500, HTML, { 'content-type': 'text/html' }),
  unavailable: refusal(503, 'UNAVAILABLE'),
  'error-under-200': refusal(200, 'INTERNAL'),
  'unknown-error-code': refusal(418, 'OUT_OF_CHEESE'),
  /** Promises the whole body, sends half of it and breaks the connection. */
  'cut-body': ({ request, response, items }) => {
    const body = successBody(request.operation, items)
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    }
    response.writeHead(200, headers).write(half(body), () => response.socket?.destroy())
  },
  'empty-body': ({ response }) => sendJson(response, 200, ''),
  'truncated-json': listing((items, { operation }) => half(successBody(operation, items))),
  'connection-reset': ({ response }) => void response.socket?.resetAndDestroy(),
  'no-data': listing((items, { operation }) =>
    successBody(operation, items).replace(/,"data":\[.*\]/s, ''),
  ),
  'bad-request': refusal(400, 'INVALID_ARGUMENT'),
  unauthenticated: refusal(401, 'UNAUTHENTICATED'),
  forbidden: refusal(403, 'PERMISSION_DENIED'),
  'not-found': refusal(404, 'NOT_FOUND'),
  redirect: ({ response }) => sendJson(response, 307, '', { location: '/elsewhere' }),
  'half-with-next-page-token': listing((items, { operation }) =>
    successBody(operation, items.slice(0, Math.floor(items.length / 2))).replace(
      /\}\}$/,
      ',"nextPageToken":"b2Zmc2V0OjI1"}}',
    ),
  ),
  'wrong-length': listing((items, { operation }) => successBody(operation, items.slice(0, -1))),
  'empty-list': listing((_, { operation }) => successBody(operation, [])),
  /** The bad items are between the good ones, at places that are the same for the same call. */
  poison: listing((items, { operation, body }, fault) => {
    const random = new Random(body.length)
    const mixed = [...items]
    for (const kind of fault.kind === 'poison' ? [fault.poison].flat() : [])
      for (const text of poisonRecords(kind, operation))
        mixed.splice(random.below(mixed.length + 1), 0, text)
    return successBody(operation, mixed)
  }),
  custom: ({ request, response }, fault) => {
    if (fault.kind === 'custom') fault.respond(request, response)
  },
} satisfies Record<string, (context: FaultContext, fault: Fault) => void>

/** Answers a call with the fault; `held` is not answered here. */
export function answerWithFault(fault: Fault, context: FaultContext): void {
  if (fault.kind !== 'held') FAULTS[fault.kind](context, fault)
}

function listing(
  body: (items: readonly string[], request: StandInRequest, fault: Fault) => string,
) {
  return ({ request, response, items }: FaultContext, fault: Fault) =>
    sendJson(response, 200, body(items, request, fault))
}

function refusal(status: number, code: string) {
  return ({ request, response }: FaultContext, fault: Fault) => {
    const { retryAfterSeconds, errorStatus } = fault as Extract<Fault, { errorStatus?: string }>
    const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }
    sendJson(response, status, errorBody(request.operation, errorStatus ?? code), headers)
  }
}

function half(body: string): string {
  return body.slice(0, Math.floor(body.length / 2))
}

/** Which calls a rule is about; the members given must all be equal. */
export interface FaultMatch {
  operation?: Operation
  organizationId?: string
  documentId?: string
  annotationId?: string
}

export type FaultRule = Fault & {
  /** All calls where it is not given. */
  match?: FaultMatch | ((request: StandInRequest) => boolean)
  /** The share of the matching calls that fail, 0 to 1. All of them where it is not given. */
  rate?: number
  /** After this many times the rule is spent. */
  times?: number
  /** The same call made again fails at most this often in a row, so that some retry gets through. */
  mostInARow?: number
}

/**
 * A quarter of all calls fails, in ten ways in equal parts. No call fails more than three times in
 * a row: with the default of five retries every call gets through, whatever the seed.
 */
export function quarterOfAllCallsTenWays(retryAfterSeconds = 1): FaultRule[] {
  const ways: Fault[] = [
    { kind: 'too-many-requests' },
    { kind: 'too-many-requests', retryAfterSeconds },
    { kind: 'server-error-html' },
    { kind: 'unavailable' },
    { kind: 'error-under-200' },
    { kind: 'cut-body' },
    { kind: 'empty-body' },
    { kind: 'truncated-json' },
    { kind: 'connection-reset' },
    { kind: 'no-data' },
  ]
  // Rules are tried in turn, each on what those before it left over.
  return ways.map((fault, place) => ({
    ...fault,
    rate: 0.025 / (1 - 0.025 * place),
    mostInARow: 3,
  }))
}

/** A fault that puts records of these kinds between the good ones of every listing. */
export function poison(...kinds: PoisonKind[]): FaultRule {
  return { kind: 'poison', poison: kinds }
}

/** Says for each call whether it fails and how; the first rule that applies wins. */
export class FaultInjector {
  readonly #random: Random
  #rules: { rule: FaultRule; left: number }[] = []
  /** How often in a row a call has now failed by rules with `mostInARow`, by its body. */
  readonly #inARow = new Map<string, number>()

  constructor(rules: readonly FaultRule[], seed: number) {
    this.#random = new Random(seed)
    this.setRules(rules)
  }

  setRules(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, left: rule.times ?? Infinity }))
    this.#inARow.clear()
  }

  pick(request: StandInRequest): FaultRule | undefined {
    if (this.#rules.length === 0) return undefined
    const inARow = this.#inARow.get(request.body) ?? 0
    const found = this.#rules.find(
      ({ rule, left }) =>
        left > 0 &&
        inARow < (rule.mostInARow ?? Infinity) &&
        isPossible(rule, request) &&
        isMatch(rule.match, request) &&
        (rule.rate === undefined || this.#random.next() < rule.rate),
    )
    if (!found) {
      this.#inARow.delete(request.body)
      return undefined
    }
    found.left--
    if (found.rule.mostInARow !== undefined) this.#inARow.set(request.body, inARow + 1)
    return found.rule
  }
}

/** An answer can only be of the wrong length where its length is known, and only a listing is paged or poisoned. */
function isPossible(rule: FaultRule, request: StandInRequest): boolean {
  const isAsked = 'commentIds' in request.data
  if (rule.kind === 'wrong-length') return isAsked
  if (rule.kind === 'half-with-next-page-token' || rule.kind === 'poison') return !isAsked
  return true
}

function isMatch(match: FaultRule['match'], request: StandInRequest): boolean {
  if (match === undefined) return true
  if (typeof match === 'function') return match(request)
  const facts: Record<string, unknown> = { ...request.data, operation: request.operation }
  return Object.entries(match).every(([name, value]) => facts[name] === value)
}
