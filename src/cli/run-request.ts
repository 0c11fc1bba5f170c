import { failedOf } from '../collab-sync/ask-for-run.ts'
import type { Database } from '../database/pool.ts'
import { UsageError } from '../errors.ts'
import type { RunRequest } from '../sync/start-run.ts'
import { findRun } from './find-run.ts'
import { scopeOf } from './scope-options.ts'
import type { ScopeOptions } from './scope-options.ts'

/** What narrows a run: a scope, or what failed in an earlier run. */
export interface RequestOptions extends ScopeOptions {
  failedOf?: string
}

/** Checks what can be checked without PostgreSQL. @throws UsageError naming the option */
export function checkRequest(options: RequestOptions): void {
  const scope = scopeOf(options)
  if (options.failedOf !== undefined && Object.keys(scope).length > 0) {
    throw new UsageError(
      '--failed-of cannot be combined with a scope: it asks again for what failed, as that run asked.',
    )
  }
}

/** The run that the options ask for. @throws UsageError naming the option, or a run that is not there */
export async function requestOf(database: Database, options: RequestOptions): Promise<RunRequest> {
  const request = { trigger: 'cli', requestKey: null } as const
  if (options.failedOf === undefined) return { ...request, scope: scopeOf(options) }
  return { ...request, ...(await failedOf(database, await findRun(database, options.failedOf))) }
}
