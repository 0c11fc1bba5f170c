import { isStorable } from '../database/storable.ts'
import * as z from 'zod'
import { UsageError } from '../errors.ts'

/** Checks of what a program asks with; each names the member at fault, and none trusts the caller's types. */

const RunId = z.uuid()

/** Whether a text can be a run's id at all. */
export function isRunId(text: unknown): text is string {
  return RunId.safeParse(text).success
}

/** @returns null where it was left out. @throws UsageError where it is no id of a run */
export function runIdOf(runId: unknown): string | null {
  if (runId === undefined) return null
  if (isRunId(runId)) return runId
  throw new UsageError(`runId must be a run's id, not ${shown(runId)}.`)
}

/**
 * @param member how the caller calls it
 * @returns null where it was left out
 * @throws UsageError where it is no text that PostgreSQL can compare with
 */
export function textOf(member: string, value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string' || !isStorable(value)) {
    throw new UsageError(`${member} must be a text without NUL and halves of characters.`)
  }
  return value
}

/** @throws UsageError where a text anywhere in the value is one that PostgreSQL cannot hold */
export function requireStorable(member: string, value: unknown): void {
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'string' || isStorable(part)) return part
    throw new UsageError(`${member} holds a NUL or half a character, which no id can hold.`)
  })
}

/** A value as a message may show it: short, and on one line. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}
