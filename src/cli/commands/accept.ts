import { decideImport } from '../../features/catalog/held-import.ts'
import type { ImportDecision } from '../../features/catalog/held-import.ts'
import type { Database } from '../../core/database/pool.ts'
import * as holds from '../../core/database/statements/held.ts'
import type { AcceptedHeld, HeldListing, RefusedHeld } from '../../documents/waiting.ts'
import { UsageError } from '../../base/errors.ts'
import { count, counted } from '../../documents/format.ts'
import { processUser } from '../../base/process-user.ts'
import { decideHeld } from '../../core/sync/held.ts'
import type { HeldChoice } from '../../core/sync/held.ts'
import { note, print, printJson } from '../output.ts'
import { heldTable } from '../run-details.ts'
import { findRun } from '../requested-scope.ts'
import { withTables } from '../with-store.ts'

const REASON_MAX = 1000
/** Listings that are shown before they are decided, and users named of each. */
const LISTINGS_SHOWN = 50
const USERS_NAMED = 10

interface DecideOptions {
  /** The held import. */
  readonly catalog?: number
  /** The held listing. */
  readonly listing?: number
  readonly organization?: string
  readonly reason?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

/**
 * `collab-sync accept` and `refuse`: decides about listings that are held, by listing, run or organization; `--catalog` about a
 * held import. What would change is shown before.
 * @throws UsageError where nothing is held, or it is not said what is meant
 */
export async function decide(
  state: ImportDecision['state'],
  run: string | undefined,
  options: DecideOptions,
): Promise<number> {
  const { catalog: importId, listing, organization, reason = null, dryRun, json } = options
  checkUse(state, run, options)
  return withTables({ name: state }, async ({ database }) => {
    if (importId !== undefined) return decideCatalog(database, { importId, state, reason }, json)
    const choice = {
      runId: run === undefined ? null : await findRun(database, run),
      heldId: listing ?? null,
      organizationId: organization ?? null,
    } satisfies HeldChoice
    const held = await holds.list.all(database, {
      ...choice,
      after: null,
      limit: LISTINGS_SHOWN,
      mostUsers: USERS_NAMED,
    })
    if (dryRun && json) printJson(held)
    else if (held.length > 0) show(held, state, dryRun ? print : note)
    else if (dryRun) print('Nothing that is held there waits for a person.')
    if (dryRun) return
    const decision = { resolution: state, by: processUser(), reason }
    const { listings, users, left, fault } = await decideHeld({ database }, choice, decision)
    const { runId } = choice
    if (json)
      printJson(
        state === 'accepted'
          ? ({ runId, accepted: listings, removed: users } satisfies AcceptedHeld)
          : ({ runId, refused: listings, kept: users } satisfies RefusedHeld),
      )
    else
      print(
        `${counted(listings, 'listing')} ${state}: ${counted(users, 'user')} ${state === 'accepted' ? 'removed' : 'kept'}.${left === 0 ? '' : ` Not decided: ${counted(left, 'listing')}.`}`,
      )
    if (fault !== undefined) throw fault
  })
}

/** @throws UsageError where it is not said what is meant, or why */
function checkUse(
  state: ImportDecision['state'],
  run: string | undefined,
  { catalog, listing, organization, reason = '', dryRun = false }: DecideOptions,
): void {
  const isNamed = [run, listing, organization].some((one) => one !== undefined)
  if (reason.length > REASON_MAX)
    throw new UsageError(`--reason must not be longer than ${count(REASON_MAX)} characters.`)
  if (catalog !== undefined && isNamed)
    throw new UsageError('Give --catalog, or what listings are meant, not both.')
  if (catalog !== undefined && dryRun)
    throw new UsageError('--dry-run is for listings; what an import lacks: catalog show.')
  if (catalog === undefined && !isNamed)
    throw new UsageError('Name a run, or give --listing, --organization or --catalog.')
  if (catalog === undefined && state === 'refused' && !dryRun && reason.trim() === '')
    throw new UsageError('--reason is missing: say why, for whoever looks later.')
}

/** What would change, listing by listing. */
function show(
  held: readonly HeldListing[],
  state: ImportDecision['state'],
  say: (text: string) => void,
): void {
  say(heldTable(held))
  for (const { heldId, usersMissing, firstMissingUserIds } of held) {
    const more = usersMissing - firstMissingUserIds.length
    const names = firstMissingUserIds.map((userId) => JSON.stringify(userId)).join(', ')
    say(
      `${heldId}: ${state === 'accepted' ? 'leave' : 'stay'} ${names}${more > 0 ? ` and ${count(more)} more` : ''}`,
    )
  }
}

async function decideCatalog(
  database: Database,
  { importId, state, reason }: Pick<ImportDecision, 'importId' | 'state' | 'reason'>,
  json: boolean | undefined,
): Promise<void> {
  const decision = { importId, state, decidedBy: processUser(), reason }
  const decided = await decideImport(database, decision)
  if (json) printJson(decided)
  else if (state === 'accepted')
    print(
      `The held import was accepted: ${counted(decided.deactivated, 'scope')} of the catalog became inactive. What it adds comes with the next import.`,
    )
  else print('The held import was refused: the catalog stays as it is.')
}
