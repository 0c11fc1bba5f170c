import { addScope } from '../features/catalog/change.ts'
import { failedOf } from '../client/runs.ts'
import type { Database } from '../core/database/pool.ts'
import { findRunIds, RUN_DIGITS_MIN } from '../client/run-reports.ts'
import type { NewRun } from '../core/database/runs.ts'
import { checked } from '../documents/check.ts'
import { HintScopeSchema } from '../documents/hint.ts'
import type { HintScope } from '../documents/hint.ts'
import { parseScope } from '../documents/scope.ts'
import type { Scope } from '../documents/scope.ts'
import { UsageError } from '../base/errors.ts'
import { processUser } from '../base/process-user.ts'
import type { RequestOptions, ScopeOptions } from './scope-options.ts'

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

/** Checks what can be checked without PostgreSQL. @throws UsageError naming the option */
export function checkRequest(options: RequestOptions): void {
  const scope = scopeOf(options)
  if (options.add && scope.organizationIds === undefined) {
    throw new UsageError('--add needs --organization: there is nothing else to add.')
  }
  if (options.failedOf !== undefined && (options.failing || Object.keys(scope).length > 0)) {
    throw new UsageError(
      '--failed-of cannot be combined with a scope or --failing: it asks again for what failed, as that run asked.',
    )
  }
}

/** The run that the options ask for. @throws UsageError naming the option, or a run that is not there */
export async function requestOf(database: Database, options: RequestOptions): Promise<NewRun> {
  const by = processUser()
  const request = { trigger: 'cli', requestKey: null, by } as const
  if (options.failedOf === undefined) {
    const scope = scopeOf(options)
    if (options.add) await addScope(database, scope, by)
    return { ...request, scope, failing: options.failing }
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
