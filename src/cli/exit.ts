import { CommanderError } from 'commander'
import type { RunStatus } from '../schemas/run.ts'
import {
  CallError,
  EnvironmentError,
  NothingFailsError,
  SchemaError,
  UsageError,
} from '../base/errors.ts'
import { printable } from '../base/printable.ts'
import { describeUnreachable } from '../core/service/unreachable.ts'
import { readSettings } from '../settings/settings.ts'
import { note, printJson } from './output.ts'

/** Exit codes, as README.md lists them. */
export const EXIT = { done: 0, failed: 1, usage: 2, partial: 3, unwritten: 4 } as const

/** The exit code for the status of a run. */
export function exitCodeOf(status: RunStatus): number {
  if (status === 'succeeded') return EXIT.done
  return status === 'partial' ? EXIT.partial : EXIT.failed
}

/**
 * Reports that a retry of failed scopes has nothing to do, with `json` as one document.
 * @param error another error is thrown again
 * @param say prints the sentence
 * @returns the exit code; 1 if it is not known whether scopes fail
 */
export function reportNothingFails(
  error: unknown,
  { json, say }: { json?: boolean | undefined; say: (sentence: string) => void },
): number {
  if (!(error instanceof NothingFailsError)) throw error
  if (json) printJson({ runId: null, reason: error.message })
  else say(error.message)
  return error.isUnknown ? EXIT.failed : EXIT.done
}

/** Reports the error of a command on stderr. @returns the exit code */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return reportWrongUse(error)
  if (error instanceof UsageError || error instanceof SchemaError) {
    note(error.message)
    return EXIT.usage
  }
  note(describeError(error))
  return EXIT.failed
}

function describeError(error: unknown): string {
  if (error instanceof EnvironmentError) return error.message
  if (error instanceof CallError && error.kind === 'unreachable') return describeUnreachable(error)
  if (!isDebugging()) return `${printable(messageOf(error))} (LOG_LEVEL=debug shows the stack.)`
  return error instanceof Error ? (error.stack ?? messageOf(error)) : String(error)
}

/** Reports that standard output could not be written. @returns the exit code: that of another error has precedence */
export function reportUnwritten(error: Error, code: number): number {
  note(`The output could not be written (${error.message.replace(/, write$/, '')}).`)
  return code === EXIT.done ? EXIT.unwritten : code
}

/** Commander also throws after it has shown the help or the version. */
function reportWrongUse(error: CommanderError): number {
  if (error.exitCode === 0) return EXIT.done
  if (error.code === 'commander.help') return EXIT.usage
  const sentence = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  const [first = '', ...rest] = sentence
  note(`${first.toUpperCase()}${rest.join('')}${/[.?!)]$/.test(sentence) ? '' : '.'}`)
  return EXIT.usage
}

/** The error of a failed connection to several addresses has no message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

function isDebugging(): boolean {
  try {
    return ['debug', 'trace'].includes(readSettings(process.env, { need: [] }).logLevel)
  } catch {
    return false
  }
}
