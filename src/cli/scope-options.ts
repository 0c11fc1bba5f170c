import { Command, InvalidArgumentError } from 'commander'
import { addScope } from '../catalog/change.ts'
import { failedOf } from '../client/runs.ts'
import type { Database } from '../database/pool.ts'
import { findRunIds, RUN_DIGITS_MIN } from '../database/run-reports.ts'
import { checked } from '../documents/check.ts'
import { HintScopeSchema } from '../documents/hint.ts'
import type { HintScope } from '../documents/hint.ts'
import { parseScope } from '../documents/scope.ts'
import type { Scope } from '../documents/scope.ts'
import { UsageError } from '../errors.ts'
import type { RunRequest } from '../sync/run/start.ts'
import { processUser } from '../process-user.ts'

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

/**
 * The scope that the options say.
 * @throws UsageError naming the option
 */
export function scopeOf(options: ScopeOptions): Scope {
  const operations = options.operations?.split(',').map((operation) => operation.trim())
  const said = { ...options, operations }
  const members = Object.entries(OPTION_OF_MEMBER)
    .map(([member, option]) => [member, said[option]] as const)
    .filter(([, value]) => value !== undefined)
  return inOptions(() => parseScope(Object.fromEntries(members)))
}

/**
 * What the options say to have changed.
 * @throws UsageError naming the option
 */
export function hintScopeOf(options: ScopeOptions): HintScope {
  const scope = scopeOf(options)
  return inOptions(() => checked(HintScopeSchema, scope, ''))
}

const OPTION_OF_MEMBER: Readonly<Record<string, keyof ScopeOptions>> = {
  organizationUserGroupIds: 'group',
  organizationIds: 'organization',
  documentId: 'document',
  annotationId: 'annotation',
  commentIds: 'comment',
  userIds: 'user',
  operations: 'operations',
} satisfies Record<keyof Scope, keyof ScopeOptions>

/** Has what is wrong said in a person's words: options instead of the members that a program sends. */
function inOptions<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const members = new RegExp(`\\b(${Object.keys(OPTION_OF_MEMBER).join('|')})\\b(\\.\\d+)?`, 'g')
    throw new UsageError(
      error.message
        .replace(/^scope\./, '')
        .replace(members, (_, member: string) => `--${OPTION_OF_MEMBER[member]}`),
    )
  }
}

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

/** What narrows a run: a scope, or what failed in an earlier run. */
export interface RequestOptions extends ScopeOptions {
  failedOf?: string
  /** Adds what the catalog lacks of the scope. */
  add?: boolean
}

/** Checks what can be checked without PostgreSQL. @throws UsageError naming the option */
export function checkRequest(options: RequestOptions): void {
  const scope = scopeOf(options)
  if (options.add && scope.organizationIds === undefined) {
    throw new UsageError('--add needs --organization: there is nothing else to add.')
  }
  if (options.failedOf !== undefined && Object.keys(scope).length > 0) {
    throw new UsageError(
      '--failed-of cannot be combined with a scope: it asks again for what failed, as that run asked.',
    )
  }
}

/** The run that the options ask for. @throws UsageError naming the option, or a run that is not there */
export async function requestOf(database: Database, options: RequestOptions): Promise<RunRequest> {
  const request = { trigger: 'cli', requestKey: null } as const
  if (options.failedOf === undefined) {
    const scope = scopeOf(options)
    if (options.add) await addScope(database, scope, processUser())
    return { ...request, scope }
  }
  return { ...request, ...(await failedOf(database, await findRun(database, options.failedOf))) }
}

/**
 * The run that a person names by its id or the first six or more digits of it.
 * @throws UsageError where that is no id, or names no run or several
 */
export async function findRun(database: Database, text: string): Promise<string> {
  const found = await findRunIds(database, text)
  if (found === null) {
    throw new UsageError(
      `RUN must be a run's id, or its first ${RUN_DIGITS_MIN} or more digits, not ${JSON.stringify(text)}; see them with: collab-sync status.`,
    )
  }
  const [run, ...others] = found
  if (run === undefined) {
    throw new UsageError(
      `There is no run ${JSON.stringify(text)}; see those there are with: collab-sync status.`,
    )
  }
  if (others.length > 0) {
    throw new UsageError(
      `More than one run begins with ${JSON.stringify(text)}: give more digits. They are ${found.join(', ')}.`,
    )
  }
  return run
}
