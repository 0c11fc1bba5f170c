import type { Client } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as actions from './statements/actions.ts'

type Action = RowOf<typeof actions.list>

/** Notes an action of a user or program, in the transaction that makes its change. Its target must name no user of the service. */
export async function noteAction(
  client: Client,
  by: string,
  action: Action['action'],
  to: Partial<Pick<Action, 'runId' | 'target' | 'reason'>>,
): Promise<void> {
  await actions.note.run(client, { by, action, runId: null, target: null, reason: null, ...to })
}
