import type { Action } from '../documents/action.ts'
import type { Client } from './pool.ts'
import * as actions from './statements/actions.ts'

/**
 * Notes an action of a user or program, in the transaction that makes its change.
 * @param by the name of who does it
 * @param to.target what it is done to, in words that name no user of the service
 */
export async function noteAction(
  client: Client,
  by: string,
  action: Action['action'],
  to: Partial<Pick<Action, 'runId' | 'target' | 'reason'>>,
): Promise<void> {
  await actions.note.run(client, { by, action, runId: null, target: null, reason: null, ...to })
}
