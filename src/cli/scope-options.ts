import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { OPERATION_NAMES } from '../base/operations.ts'

export interface ScopeOptions {
  organization?: string[]
  document?: string
  annotation?: string
  comment?: number[]
  user?: string[]
  group?: string[]
  operations?: string
}

/** A scope, optionally only its failing scopes, or the failed scopes of another run. */
export interface RequestOptions extends ScopeOptions {
  failedOf?: string
  failing?: boolean
  add?: boolean
}

/** Adds the options of a scope. */
export function addScopeOptions(command: Command): Command {
  return command
    .option('--organization <id>', 'only this organization; repeatable', collect)
    .option('--document <id>', 'only this document, of one organization')
    .option('--annotation <id>', 'only this annotation, of one document')
    .option('--comment <n>', 'only this comment, of one annotation; repeatable', collectNumber)
    .option('--user <id>', 'only this user; repeatable', collect)
    .option('--group <id>', 'only this user group; repeatable', collect)
    .option(
      '--operations <list>',
      `${OPERATION_NAMES.join(',')} or some of them (default: SYNC_OPERATIONS)`,
    )
}

/** Adds the options of a requested run. */
export function addRequestOptions(command: Command): Command {
  return addScopeOptions(command)
    .option(
      '--failed-of <run>',
      'only scopes that failed in that run and still fail; cannot be combined with other scopes',
    )
    .option('--failing', 'only scopes whose last fetch failed')
    .option(...ADD_OPTION)
}

/** Without it, a scope that the catalog lacks is refused. */
export const ADD_OPTION = [
  '--add',
  'add the scope to the catalog if it is missing; needs --organization',
] as const

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

function collectNumber(value: string, before: number[] = []): number[] {
  return [...before, wholeNumber(value)]
}

/** Parses the number of a comment. */
export function wholeNumber(value: string): number {
  const number = Number(value)
  if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('It must be a whole number within 2^53 - 1.')
  return number
}
