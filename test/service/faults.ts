import type { ServerResponse } from 'node:http'
import type { Operation } from '../../src/base/errors.ts'
import type { PoisonKind } from './poison.ts'
import { Random } from '../../src/demo/random.ts'
import type { StandInRequest } from '../../src/demo/requests.ts'

/** What goes wrong, where; each happens on the wire, nothing is simulated in the client. */
export type Fault =
  | { kind: 'too-many-requests'; retryAfterSeconds?: number }
  | { kind: 'server-error-html' }
  | { kind: 'unavailable' }
  | { kind: 'error-under-200'; errorStatus?: string }
  | { kind: 'unknown-error-code' }
  | { kind: 'cut-body' }
  | { kind: 'empty-body' }
  | { kind: 'truncated-json' }
  | { kind: 'connection-reset' }
  | { kind: 'no-data' }
  | { kind: 'bad-request' }
  | { kind: 'unauthenticated' }
  | { kind: 'forbidden' }
  | { kind: 'not-found' }
  | { kind: 'redirect' }
  | { kind: 'half-with-next-page-token' }
  | { kind: 'wrong-length' }
  | { kind: 'empty-list' }
  | { kind: 'held'; until: Promise<unknown> }
  | { kind: 'poison'; poison: PoisonKind | readonly PoisonKind[] }
  | { kind: 'custom'; respond: (request: StandInRequest, response: ServerResponse) => void }

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
