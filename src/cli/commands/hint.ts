import { giveHint } from '../../client/hints.ts'
import type { Hinted } from '../../documents/hint.ts'
import { counted } from '../../documents/format.ts'
import { processUser } from '../../base/process-user.ts'
import { readSettings } from '../../settings/settings.ts'
import { EXIT } from '../exit.ts'
import { noteNotDelivered, print, printJson } from '../output.ts'
import { hintScopeOf } from '../requested-scope.ts'
import type { ScopeOptions } from '../scope-options.ts'
import { quietLog, traced, withQueue } from '../with-store.ts'

type HintOptions = Pick<ScopeOptions, 'organization' | 'document' | 'annotation'> & {
  readonly add?: boolean
  readonly json?: boolean
}

/** `collab-sync hint`: says that comments changed. */
export async function hintCommand(options: HintOptions): Promise<number> {
  const { add, json, ...scopeOptions } = options
  const scope = hintScopeOf(scopeOptions)
  const settings = readSettings(process.env, { need: ['database', 'queue'] })
  const opening = { settings, log: quietLog(settings), name: 'hint', creates: true }
  return traced('hint', settings, () =>
    withQueue(opening, async ({ database }, queue) => {
      const parts = { database, queue, log: opening.log, by: processUser() }
      const hinted = await giveHint(parts, { scope, add }, noteNotDelivered)
      if (json) printJson(hinted)
      else print(describe(hinted))
      return EXIT.done
    }),
  )
}

function describe({ runId, threads }: Hinted): string {
  const what = counted(threads, 'annotation')
  return runId === null
    ? `Continuous refresh looks at ${what} next.`
    : `Run ${runId} looks at ${what}.`
}
