import { addScope } from '../features/catalog/change.ts'
import { failedOf } from '../client/runs.ts'
import type { Database } from '../core/database/pool.ts'
import { findRunIds, RUN_DIGITS_MIN } from '../client/run-reports.ts'
import type { NewRun } from '../core/database/runs.ts'
import { checked } from '../schemas/check.ts'
import { HintScopeSchema } from '../schemas/hint.ts'
import type { HintScope } from '../schemas/hint.ts'
import { parseScope } from '../schemas/scope.ts'
import type { Scope } from '../schemas/scope.ts'
import { UsageError } from '../base/errors.ts'
import { processUser } from '../base/process-user.ts'
import type { RequestOptions, ScopeOptions } from './scope-options.ts'

/** The scope of the options. @throws UsageError naming the wrong option */
export function scopeOf(options: ScopeOptions): Scope {
  const operations = options.operations?.split(',').map((operation) => operation.trim())
  const given = { ...options, operations }
  const members = Object.entries(OPTION_OF_MEMBER)
    .map(([member, option]) => [member, given[option]] as const)
    .filter(([, value]) => value !== undefined)
  return inOptions(() => parseScope(Object.fromEntries(members)))
}

/** The scope of a hint. @throws UsageError naming the wrong option */
export function hintScopeOf(options: ScopeOptions): HintScope {
  const scope = scopeOf(options)
  return inOptions(() => checked(HintScopeSchema, scope))
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

const OPTION_WORDS = Object.fromEntries(
  Object.entries(OPTION_OF_MEMBER).map(([member, option]) => [member, `--${option}`]),
)

function inOptions<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    return inWordsOfCommand(OPTION_WORDS)(error)
  }
}

/** Replaces the members that a UsageError names by the options of the command, and throws it again. */
export function inWordsOfCommand(words: Readonly<Record<string, string>>) {
  const members = new RegExp(`\\b(${Object.keys(words).join('|')})\\b(\\.\\d+)?`, 'g')
  return (error: unknown): never => {
    if (!(error instanceof UsageError)) throw error
    const message = error.message.replace(/^scope\./, '')
    throw new UsageError(message.replace(members, (_, member: string) => words[member] ?? member))
  }
}

/** Checks a request without PostgreSQL. @throws UsageError naming the wrong option */
export function checkRequest(options: RequestOptions): void {
  const scope = scopeOf(options)
  if (options.add && scope.organizationIds === undefined)
    throw new UsageError('--add needs --organization.')
  if (options.failedOf !== undefined && (options.failing || Object.keys(scope).length > 0))
    throw new UsageError(
      '--failed-of cannot be combined with a scope or --failing: it uses the scope of that run.',
    )
}

/** The run that the options request. @throws UsageError naming the wrong option or run */
export async function requestOf(database: Database, options: RequestOptions): Promise<NewRun> {
  const by = processUser()
  const request = { trigger: 'cli', requestKey: null, by } as const
  if (options.failedOf === undefined) {
    const scope = scopeOf(options)
    if (options.add) await addScope(database, scope, by)
    return { ...request, scope, failing: options.failing }
  }
  return {
    ...request,
    ...(await failedOf(database, await findRun(database, options.failedOf, '--failed-of'))),
  }
}

/** Finds a run by its ID or at least its first six digits. @param name of the argument or option @throws UsageError if there is no such run, or several */
export async function findRun(database: Database, text: string, name = 'RUN'): Promise<string> {
  const found = await findRunIds(database, text)
  if (found === null)
    throw new UsageError(
      `${name} must be the ID of a run, or at least its first ${RUN_DIGITS_MIN} digits, not ${JSON.stringify(text)}. List the runs with: collab-sync status`,
    )
  const [run, ...others] = found
  if (run === undefined)
    throw new UsageError(
      `There is no run ${JSON.stringify(text)}. List the runs with: collab-sync status`,
    )
  if (others.length > 0)
    throw new UsageError(
      `Several runs begin with ${JSON.stringify(text)}: give more digits. They are ${found.join(', ')}.`,
    )
  return run
}
