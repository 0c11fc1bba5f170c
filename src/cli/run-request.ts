import type { Database } from '../database/pool.ts'
import { readRun } from '../database/run-reports.ts'
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
  const failedOf = await findRun(database, options.failedOf)
  const earlier = await readRun(database, failedOf)
  if (earlier?.finishedAt === null) {
    throw new UsageError(`Run ${failedOf} is still under way: wait for its end.`)
  }
  // The earlier run's scope, so that a narrowed question is asked again as narrowed.
  return { ...request, scope: earlier?.scope ?? {}, failedOf }
}
