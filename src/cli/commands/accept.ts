import { decideImport } from '../../features/catalog/held-import.ts'
import type { ImportDecision } from '../../features/catalog/held-import.ts'
import type { Database } from '../../core/database/pool.ts'
import * as holds from '../../core/database/statements/held.ts'
import { HELD_COLUMNS } from '../../schemas/columns.ts'
import type { AcceptedHeld, HeldListing, RefusedHeld } from '../../schemas/waiting.ts'
import { UsageError } from '../../base/errors.ts'
import { count, counted, describeHeld } from '../../schemas/format.ts'
import { processUser } from '../../base/process-user.ts'
import { countHeld, decideHeld, nothingHeld } from '../../core/sync/held.ts'
import type { HeldChoice } from '../../core/sync/held.ts'
import { note, print, printJson } from '../output.ts'
import { findRun } from '../requested-scope.ts'
import { table } from '../table.ts'
import { withTables } from '../with-store.ts'

const REASON_MAX = 1000
/** Shown before the decision: listings, and users of each. */
const LISTINGS_SHOWN = 50
const USERS_NAMED = 10

type Decision = ImportDecision['state']

interface DecideOptions {
  readonly catalog?: number
  readonly listing?: number
  readonly organization?: string
  readonly reason?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** `collab-sync accept` and `refuse`: decides held listings, by listing, run or organization, or with `--catalog` a held import. */
export async function decide(
  state: Decision,
  run: string | undefined,
  options: DecideOptions,
): Promise<number> {
  const { catalog: importId, listing, organization, reason = null, dryRun, json } = options
  checkUse(state, run, options)
  return withTables({ name: state }, async ({ database }) => {
    if (importId !== undefined)
      return decideCatalog(database, { importId, state, decidedBy: processUser(), reason }, json)
    const choice = {
      runId: run === undefined ? null : await findRun(database, run),
      heldId: listing ?? null,
      organizationId: organization ?? null,
    } satisfies HeldChoice
    const shown = { after: null, limit: LISTINGS_SHOWN, mostUsers: USERS_NAMED, isRefused: false }
    const held = await holds.list.all(database, { ...choice, ...shown })
    if (dryRun && json) printJson(held)
    else if (held.length > 0) {
      ;(dryRun ? print : note)(describeHeld(await countHeld({ database }, choice)))
      show(held, state, dryRun)
    } else if (dryRun) print(await nothingHeld({ database }, choice))
    if (dryRun) return
    const decision = { resolution: state, by: processUser(), reason }
    const { listings, people, left, fault } = await decideHeld({ database }, choice, decision)
    const { runId } = choice
    if (json)
      printJson(
        state === 'accepted'
          ? ({ runId, accepted: listings, removed: people } satisfies AcceptedHeld)
          : ({ runId, refused: listings, kept: people } satisfies RefusedHeld),
      )
    else
      print(
        `The removal is ${state}: ${counted(people, 'person')} ${state === 'accepted' ? 'removed from' : 'kept in'} ${counted(listings, 'listing')}.${left === 0 ? '' : ` Not decided: ${counted(left, 'listing')}.`}`,
      )
    if (fault !== undefined) throw fault
  })
}

function checkUse(
  state: Decision,
  run: string | undefined,
  { catalog, listing, organization, reason = '', dryRun = false }: DecideOptions,
): void {
  const isNamed = [run, listing, organization].some((one) => one !== undefined)
  if (reason.length > REASON_MAX)
    throw new UsageError(`--reason must not be longer than ${count(REASON_MAX)} characters.`)
  if (catalog !== undefined && isNamed)
    throw new UsageError('--catalog cannot be combined with RUN, --listing or --organization.')
  if (catalog !== undefined && dryRun)
    throw new UsageError('--dry-run is for listings. For an import, use: collab-sync catalog show.')
  if (catalog === undefined && !isNamed)
    throw new UsageError('Give a RUN, --listing, --organization or --catalog.')
  if (catalog === undefined && state === 'refused' && !dryRun && reason.trim() === '')
    throw new UsageError('--reason is missing: it documents the decision.')
}

function show(held: readonly HeldListing[], state: Decision, isDryRun = false): void {
  const say = isDryRun ? print : note
  const verb = state === 'accepted' ? 'remove' : 'keep'
  say(table(HELD_COLUMNS, held))
  for (const { heldId, usersMissing, firstMissingUserIds } of held) {
    const more = usersMissing - firstMissingUserIds.length
    const names = firstMissingUserIds.map((userId) => JSON.stringify(userId)).join(', ')
    say(
      `Listing ${heldId} ${isDryRun ? `would ${verb}` : `${verb}s`} ${names}${more > 0 ? ` and ${count(more)} more` : ''}`,
    )
  }
}

async function decideCatalog(
  database: Database,
  decision: ImportDecision,
  json: boolean | undefined,
): Promise<void> {
  const decided = await decideImport(database, decision)
  if (json) printJson(decided)
  else if (decision.state === 'accepted')
    print(
      `The held import was accepted: ${counted(decided.deactivated, 'scope')} of the catalog ${decided.deactivated === 1 ? 'is' : 'are'} inactive now. The next import adds its new scopes.`,
    )
  else print('The held import was refused. The catalog is unchanged.')
}
