import { successBody } from '../../src/demo/answers.ts'
import { Random } from '../../src/demo/random.ts'
import { sendJson, startStandIn as startWellBehaved } from '../../src/demo/stand-in.ts'
import type {
  Call,
  StandIn as WellBehaved,
  StandInOptions as WellBehavedOptions,
} from '../../src/demo/stand-in.ts'
import { CallLog } from './call-log.ts'
import { answerWithFault } from './fault-answers.ts'
import { FaultInjector } from './faults.ts'
import type { FaultRule } from './faults.ts'

export interface StandInOptions extends Omit<WellBehavedOptions, 'intercept'> {
  faults?: readonly FaultRule[]
  /** How many of the newest calls are kept at least; 0 keeps none. */
  logCalls?: number
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
  /** Calls that were outside service-api.md, the first thousand: `calls.violations`. */
  readonly violations: CallLog['violations']
  setFaults(rules: readonly FaultRule[]): void
}

/** Starts the demonstration's stand-in with a record of its calls, and with faults; `seed` is theirs too. */
export async function startStandIn({
  faults = [],
  logCalls = 20_000,
  beside,
  ...options
}: StandInOptions): Promise<StandIn> {
  const calls = new CallLog(logCalls)
  const injector = new FaultInjector(faults, options.seed ?? 1)
  const random = new Random(options.seed ?? 1)
  const wellBehaved = await startWellBehaved({
    ...options,
    intercept: (call) => {
      const ordered = standIn.shuffleRecords ? reordered(call, random) : call
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

/** A call whose good answer has its records in another order; where comments are asked for by id, their order is fixed. */
function reordered(call: Call, random: Random): Call {
  const { operation, request, response } = call
  if (operation === null || (request !== null && 'commentIds' in request.data)) return call
  const items = () => {
    const shuffled = call.items()?.slice()
    if (shuffled !== undefined) random.shuffle(shuffled)
    return shuffled
  }
  const answer = () => {
    const found = items()
    if (found === undefined) call.answer()
    else sendJson(response, 200, successBody(operation, found))
  }
  return { ...call, items, answer }
}

/** A call whose good answer has members beside the documented ones. */
function widened(call: Call, { result, data }: Beside): Call {
  const answer = () => {
    const items = call.operation === null ? undefined : call.items()
    if (items === undefined || call.operation === null) return call.answer()
    const body = successBody(call.operation, items)
    const inner = body.replace('{"result":{', `{${result},"result":{${data},`)
    sendJson(call.response, 200, inner)
  }
  return { ...call, answer }
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
  if (request === null || fault === undefined) return answered(call.answer)
  if (fault.kind !== 'held')
    return answered(() => answerWithFault(fault, request, response, call.items() ?? []))
  return () => void fault.until.then(answered(call.answer))

  function answered(answer: () => void): () => void {
    return () => {
      answer()
      log()
    }
  }
}
