import type { Trigger } from '../../documents/run.ts'
import type { Scope } from '../../documents/scope.ts'
import type { Operation } from '../../base/errors.ts'
import { toItems } from './claims.ts'
import type { Item, PlannedItem } from './claims.ts'
import type { Client } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as items from './statements/items.ts'
import * as runs from './statements/runs.ts'

/** A request for a run: of a scope, or of what failed in an earlier run. */
export interface NewRun {
  readonly trigger: Trigger
  readonly scope: Scope
  /** The user or program that requests it; left out for runs by schedule and hints. */
  readonly by?: string
  /** Names the request, so that one delivered twice makes one run; null where it cannot come twice. */
  readonly requestKey: string | null
  /** The run whose failed scopes are requested again. */
  readonly failedOf?: string
}

/** Why scopes of a run failed. */
export type FailureCause = RowOf<typeof runs.causes>

/** What became of a run; its duration is from its first item's claim to its end. */
export type SettledRun = RowOf<typeof runs.settle>

/** @returns the new run's id; null where the request made one already, or a scheduled run is under way */
export async function insertRun(client: Client, run: NewRun): Promise<string | null> {
  const { trigger, requestKey, failedOf: retryOf = null } = run
  const scope = JSON.stringify(run.scope)
  const made = await runs.insert.first(client, { trigger, scope, requestKey, retryOf })
  return made?.runId ?? null
}

/** Plans a run that pages organizations: its first item, or none where the catalog holds nothing for it. */
export async function planPaging(
  client: Client,
  runId: string,
  operations: readonly Operation[],
  organizationIds: readonly string[] | null,
): Promise<Item[]> {
  const expected = await runs.expectScopes.one(client, { runId, operations, organizationIds })
  if (expected.scopesExpected === 0) return []
  const isNarrow = organizationIds !== null
  return toItems({ runId, isNarrow }, await items.insertFirst.all(client, { runId }))
}

/**
 * Plans a narrow run in full.
 * @param plans statements that insert items of the run, one after the other
 */
export async function planAtOnce(
  client: Client,
  runId: string,
  plans: readonly (() => Promise<PlannedItem[]>)[],
): Promise<Item[]> {
  const planned: Item[] = []
  for (const plan of plans) planned.push(...toItems({ runId, isNarrow: true }, await plan()))
  await runs.expectPlanned.run(client, { runId })
  return planned
}
