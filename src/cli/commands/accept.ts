import { counted, shortId } from '../../format.ts'
import { readSettings } from '../../settings/settings.ts'
import { acceptHeld } from '../../sync/held.ts'
import { EXIT } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { findRun } from '../scope-options.ts'
import { quietLog, withTables } from '../with-store.ts'

/** `collab-sync accept RUN`: applies the removals that a run held. @throws UsageError where it holds nothing */
export async function accept(
  text: string,
  { organization, json }: { organization?: string; json?: boolean },
): Promise<number> {
  const settings = readSettings(process.env, { need: ['database'] })
  const opening = { settings, log: quietLog(settings), name: 'accept' }
  return withTables(opening, async ({ database }) => {
    const runId = await findRun(database, text)
    const done = await acceptHeld({ database }, { runId, organizationId: organization ?? null })
    if (json) printJson(done)
    else {
      print(
        `${counted(done.accepted, 'listing')} of run ${shortId(runId)} accepted: ${counted(done.removed, 'user')} removed.`,
      )
    }
    return EXIT.done
  })
}
