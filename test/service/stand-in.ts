import { successBody } from '../../src/demo/operations.ts'
import { Random } from '../../src/demo/random.ts'
import { sendJson, startStandIn as startWellBehaved } from '../../src/demo/stand-in.ts'
import type {
  Call,
  StandIn as WellBehaved,
  StandInOptions as WellBehavedOptions,
} from '../../src/demo/stand-in.ts'
import { CallLog } from './call-log.ts'
import { answerWithFault, FaultInjector } from './faults.ts'
import type { FaultRule } from './faults.ts'

export interface StandInOptions extends Omit<WellBehavedOptions, 'intercept'> {
  faults?: readonly FaultRule[]
  /** How many of the newest calls are kept at least; 0 keeps none. */
  logCalls?: number
  /** True (default): records, and the members of each record, come in another order every time. */
  shuffle?: boolean
  /** The seed of order and faults. */
  seed?: number
  /** Members that the service adds beside the documented ones of each success body, as JSON texts: `"a":1,"b":2`. */
  beside?: Beside
}

export interface Beside {
  readonly result: string
  readonly data: string
}

export interface StandIn extends WellBehaved {
  readonly calls: CallLog
  /**
   * True: the records of a listing come in another order every time, and their members in the same one, as a service sends
   * them that does not sort; `shuffle` reorders both. False (default): as `shuffle` says.
   */
  shuffleRecords: boolean
  /** Calls that were outside docs/SERVICE.md, the first thousand: `calls.violations`. */
  readonly violations: CallLog['violations']
  setFaults(rules: readonly FaultRule[]): void
}

/** Starts the demonstration's stand-in with a record of its calls, and with faults. */
export async function startStandIn({
  faults = [],
  logCalls = 20_000,
  shuffle = true,
  seed = 1,
  beside,
  ...options
}: StandInOptions): Promise<StandIn> {
  const calls = new CallLog(logCalls)
  const injector = new FaultInjector(faults, seed)
  const random = new Random(seed)
  const wellBehaved = await startWellBehaved({
    ...options,
    intercept: (call) => {
      const ordered = shuffle || standIn.shuffleRecords ? reordered(call, random, shuffle) : call
      return intercept(beside ? widened(ordered, beside) : ordered, calls, injector)
    },
  })
  const standIn = Object.assign(wellBehaved, {
    calls,
    shuffleRecords: false,
    violations: calls.violations,
    setFaults: (rules: readonly FaultRule[]) => injector.setRules(rules),
  })
  return standIn
}

/** The records in another order; with `inside`, the members of each record too. */
export function shuffled(items: readonly string[], random: Random, inside: boolean): string[] {
  const records = inside ? items.map((text) => rotated(text, random.below(3) * 2)) : items
  return records
    .map((record) => ({ record, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ record }) => record)
}

function rotated(text: string, by: number): string {
  return JSON.stringify(JSON.parse(text), (_, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value)
    const first = by % entries.length
    return Object.fromEntries([...entries.slice(first), ...entries.slice(0, first)])
  })
}

/** A call whose good answer has its records in another order; where comments are asked for by id, their order is fixed. */
function reordered(call: Call, random: Random, inside: boolean): Call {
  const { operation, request, response } = call
  if (operation === null || (request !== null && 'commentIds' in request.data)) return call
  const items = () => {
    const found = call.items()
    return found && shuffled(found, random, inside)
  }
  const respond = () => {
    const found = items()
    if (found === undefined) call.respond()
    else sendJson(response, 200, successBody(operation, found))
  }
  return { ...call, items, respond }
}

/** A call whose good answer has members beside the documented ones. */
function widened(call: Call, { result, data }: Beside): Call {
  const respond = () => {
    const items = call.operation === null ? undefined : call.items()
    if (items === undefined || call.operation === null) return call.respond()
    const body = successBody(call.operation, items)
    const inner = body.replace('{"result":{', `{${result},"result":{${data},`)
    sendJson(call.response, 200, inner)
  }
  return { ...call, respond }
}

function intercept(call: Call, calls: CallLog, injector: FaultInjector): () => void {
  const { operation, request, body, violation, response } = call
  calls.arrived()
  if (violation !== null) calls.violated({ atMs: Date.now(), operation, reason: violation, body })
  const fault = request === null ? undefined : injector.pick(request)
  let isLogged = false
  const log = () => {
    if (isLogged) return
    isLogged = true
    const status = response.headersSent ? response.statusCode : null
    const data = request?.data ?? null
    calls.answered({ atMs: Date.now(), operation, data, status, fault: fault?.kind ?? null })
  }
  response.once('close', () => {
    calls.left()
    // Of one who gave up before the answer.
    log()
  })
  if (request === null || fault === undefined) return answered(call.respond)
  if (fault.kind !== 'held')
    return answered(() => answerWithFault(fault, { request, response, items: call.items() ?? [] }))
  return () => void fault.until.then(answered(call.respond))

  function answered(respond: () => void): () => void {
    return () => {
      respond()
      log()
    }
  }
}
