import type { Trigger } from '../../schemas/run.ts'
import type { Scope } from '../../schemas/scope.ts'
import type { Client } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as runs from './statements/runs.ts'

/** A request for a run: of a scope, of what fails in it now, or of what failed in an earlier run. */
export interface NewRun {
  readonly trigger: Trigger
  readonly scope: Scope
  /** The user or program that requests it; left out for runs by schedule and hints. */
  readonly by?: string
  /** Names the request, so that one delivered twice makes one run; null where it cannot come twice. */
  readonly requestKey: string | null
  /** The run whose failed scopes are requested again. */
  readonly failedOf?: string
  /** True for a run of only those scopes of the scope that fail now. */
  readonly failing?: boolean | undefined
}

/** Why scopes of a run failed. */
export type FailureCause = RowOf<typeof runs.causes>

/** What became of a run; its duration is from its first item's claim to its end. */
export type FinishedRun = RowOf<typeof runs.finish>

/** @returns the new run's id; null where the request made one already, or a scheduled run is under way */
export async function insertRun(client: Client, run: NewRun): Promise<string | null> {
  const { trigger, requestKey, failedOf: retryOf = null, failing = false } = run
  const scope = JSON.stringify(run.scope)
  const request = { trigger, scope, requestKey, retryOf, failing }
  const made = await runs.insert.first(client, request)
  return made?.runId ?? null
}
