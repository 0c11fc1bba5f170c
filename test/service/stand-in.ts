import { startStandIn as startWellBehaved } from '../../src/demo/stand-in.ts'
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
  ...options
}: StandInOptions): Promise<StandIn> {
  const calls = new CallLog(logCalls)
  const injector = new FaultInjector(faults, options.seed ?? 1)
  const standIn = await startWellBehaved({
    ...options,
    intercept: (call) => intercept(call, calls, injector),
  })
  return Object.assign(standIn, {
    calls,
    violations: calls.violations,
    setFaults: (rules: readonly FaultRule[]) => injector.setRules(rules),
  })
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
  if (fault.kind === 'held') return () => void fault.until.then(answered(call.answer))
  return answered(() => answerWithFault(fault, request, response, call.items() ?? []))

  function answered(answer: () => void): () => void {
    return () => {
      answer()
      log()
    }
  }
}
