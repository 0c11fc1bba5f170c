import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'

/** The scope of `run` and `enqueue` as commander reads it. */
export interface ScopeOptions {
  organization?: string[]
  document?: string
  annotation?: string
  comment?: number[]
  user?: string[]
  group?: string[]
  operations?: string
}

/** What narrows a run: a scope, what fails in it, or what failed in an earlier run. */
export interface RequestOptions extends ScopeOptions {
  failedOf?: string
  failing?: boolean
  /** Adds what the catalog lacks of the scope. */
  add?: boolean
}

/** Gives a command the options that narrow a run (contract.md, "Commands"). */
export function addScopeOptions(command: Command): Command {
  return command
    .option('--organization <id>', 'only this organization; may be repeated', collect)
    .option('--document <id>', 'only this document, of one organization')
    .option('--annotation <id>', 'only this annotation, of one document')
    .option('--comment <n>', 'only this comment, of one annotation; may be repeated', collectNumber)
    .option('--user <id>', 'only this user; may be repeated', collect)
    .option('--group <id>', 'only this user group; may be repeated', collect)
    .option('--operations <list>', 'users,comments or one of them (default: SYNC_OPERATIONS)')
}

/** The option of whoever asks for what the catalog may lack. */
export const ADD_OPTION = [
  '--add',
  'add what the catalog lacks of it, rather than refuse it',
] as const

export function collect(value: string, before: string[] = []): string[] {
  return [...before, value]
}

function collectNumber(value: string, before: number[] = []): number[] {
  const number = Number(value)
  if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError('It must be a whole number within 2^53 - 1.')
  }
  return [...before, number]
}
