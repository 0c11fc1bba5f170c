import { replay as replayRejected } from '../../client/settle-waiting.ts'
import { count, counted } from '../../format.ts'
import { readSettings } from '../../settings/settings.ts'
import { EXIT } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { findRun } from '../scope-options.ts'
import { quietLog, withTables } from '../with-store.ts'

/** `collab-sync replay [RUN]`: tries rejected records again, without a call to the service. */
export async function replay(
  text: string | undefined,
  { json }: { json?: boolean },
): Promise<number> {
  const settings = readSettings(process.env, { need: ['database'] })
  const opening = { settings, log: quietLog(settings), name: 'replay' }
  return withTables(opening, async ({ database }) => {
    const runId = text === undefined ? undefined : await findRun(database, text)
    const replayed = await replayRejected(database, settings, { runId })
    if (json) printJson(replayed)
    else {
      const { tried, stored, still } = replayed
      print(
        tried === 0
          ? 'No rejected record waits to be tried again.'
          : `${counted(tried, 'rejected record')} tried again: ${count(stored)} stored, ${count(still)} not.`,
      )
    }
    return EXIT.done
  })
}
