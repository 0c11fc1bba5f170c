import { successBody } from '../../src/demo/answers.ts'
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
  const standIn = await startWellBehaved({
    ...options,
    intercept: (call) => intercept(beside ? widened(call, beside) : call, calls, injector),
  })
  return Object.assign(standIn, {
    calls,
    violations: calls.violations,
    setFaults: (rules: readonly FaultRule[]) => injector.setRules(rules),
  })
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
