import { giveHint } from '../../client/hints.ts'
import { counted } from '../../schemas/format.ts'
import { processUser } from '../../base/process-user.ts'
import { noteNotDelivered, print, printJson } from '../output.ts'
import { hintScopeOf } from '../requested-scope.ts'
import type { ScopeOptions } from '../scope-options.ts'
import { withQueue } from '../with-store.ts'

type HintOptions = Pick<ScopeOptions, 'organization' | 'document' | 'annotation'> & {
  readonly add?: boolean
  readonly json?: boolean
}

/** `collab-sync hint`. */
export async function hintCommand(options: HintOptions): Promise<number> {
  const { add, json, ...scopeOptions } = options
  const scope = hintScopeOf(scopeOptions)
  const command = { name: 'hint', creates: true, isTraced: true }
  return withQueue(command, async ({ database }, queue, { log }) => {
    const parts = { database, queue, log, by: processUser() }
    const hinted = await giveHint(parts, { scope, add }, noteNotDelivered)
    if (json) return printJson(hinted)
    const { runId } = hinted
    const what = counted(hinted.annotations, 'annotation')
    print(
      runId === null ? `Continuous refresh fetches ${what} next.` : `Run ${runId} fetches ${what}.`,
    )
  })
}
