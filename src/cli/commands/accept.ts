import { decideImport } from '../../database/held-import.ts'
import type { ImportDecision } from '../../database/held-import.ts'
import { UsageError } from '../../errors.ts'
import { count, counted, shortId } from '../../format.ts'
import { readSettings } from '../../settings/settings.ts'
import { acceptHeld } from '../../sync/held.ts'
import { EXIT } from '../exit.ts'
import { print, printJson } from '../output.ts'
import { findRun } from '../scope-options.ts'
import { quietLog, withTables } from '../with-store.ts'
import { processUser } from '../../process-user.ts'

const REASON_MAX = 1000

interface DecideOptions {
  /** The held import. */
  readonly catalog?: number
  readonly reason?: string
  readonly json?: boolean
}

/**
 * `collab-sync accept RUN`: applies the removals that a run held; `accept --catalog` those of a held import.
 * @throws UsageError where nothing is held, or it is not said what is meant
 */
export async function accept(
  text: string | undefined,
  options: DecideOptions & { organization?: string },
): Promise<number> {
  const { organization, catalog, reason, json } = options
  if (catalog !== undefined) {
    if (text !== undefined || organization !== undefined)
      throw new UsageError('Give a run or --catalog, not both.')
    return decide('accepted', catalog, options)
  }
  if (text === undefined) throw new UsageError('Name a run, or give --catalog.')
  if (reason !== undefined) throw new UsageError('--reason is for --catalog.')
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

/** `collab-sync refuse --catalog`: leaves the catalog as it is. @throws UsageError where that import is not held */
export async function refuse({
  catalog,
  ...options
}: DecideOptions & { catalog: number }): Promise<number> {
  return decide('refused', catalog, options)
}

async function decide(
  state: ImportDecision['state'],
  importId: number,
  { reason = null, json }: { reason?: string | null; json?: boolean },
): Promise<number> {
  if ((reason?.length ?? 0) > REASON_MAX)
    throw new UsageError(`--reason must not be longer than ${count(REASON_MAX)} characters.`)
  const settings = readSettings(process.env, { need: ['database'] })
  const opening = { settings, log: quietLog(settings), name: state }
  return withTables(opening, async ({ database }) => {
    const decision = { importId, state, decidedBy: processUser(), reason }
    const decided = await decideImport(database, decision)
    if (json) printJson(decided)
    else if (state === 'accepted')
      print(
        `The held import was accepted: ${counted(decided.deactivated, 'scope')} of the catalog became inactive. What it adds comes with the next import.`,
      )
    else print('The held import was refused: the catalog stays as it is.')
    return EXIT.done
  })
}
