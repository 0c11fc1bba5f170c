import type { CatalogChanges } from '../../documents/catalog-line.ts'
import { UsageError } from '../../base/errors.ts'
import {
  analyzeWhereLarge,
  beginCatalogChange,
  countChanges,
  deactivateLacking,
  NO_CHANGES,
} from './catalog-change.ts'
import { noteAction } from '../../core/database/actions.ts'
import { transaction } from '../../core/database/pool.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'

/** What is noted of an import. */
export interface ImportRequest {
  /** The file, or CATALOG_SQL. */
  readonly source: string
  readonly requestedBy: string
  /** Deactivates what the rows do not name; null where they are single things, and no list of all there is. */
  readonly prune: boolean | null
  /** However much that is. */
  readonly acceptsAll: boolean
  /** Takes everything back at its end, and goes on to it where the import would be held. */
  readonly isDryRun: boolean
  /** How many lines were read, once all are. */
  readonly lines: () => number
  /** Throws where the rows must not be stored any more. Called in the transaction, before anything is changed. */
  readonly confirm: (client: Client) => Promise<void>
}

/** Of what an import lacks too much for it to be applied without a person. */
export interface HeldImport extends Pick<
  RowOf<typeof catalog.countLacking>,
  'scopes' | 'lacking' | 'organizations' | 'firstOrganizationId'
> {
  /** Of none that stays, after a dry run. */
  readonly importId: number
  /** Somebody refused an import that lacked just the same: it is not asked again. */
  readonly isRefused: boolean
}

/** Holds an import that lacks too much, whose lacks are staged. @returns null where it may be applied */
export async function holdImport(
  client: Client,
  { source, requestedBy, lines }: ImportRequest,
): Promise<HeldImport | null> {
  const { isMuch, digest, ...counts } = await catalog.countLacking.one(client)
  if (!isMuch) return null
  const decided = await catalog.findDecided.first(client, { digest, source })
  if (decided !== undefined)
    return { ...counts, importId: decided.importId, isRefused: decided.state === 'refused' }
  await catalog.replaceHeld.run(client)
  const noted = { source, requestedBy, lines: lines(), ...counts, digest }
  const { importId } = await catalog.holdImport.one(client, noted)
  return { ...counts, importId, isRefused: false }
}

/** Somebody's decision on a held import. */
export interface ImportDecision {
  readonly importId: number
  readonly state: 'accepted' | 'refused'
  readonly decidedBy: string
  readonly reason: string | null
}

/** What was decided of a held import. */
export interface DecidedImport {
  readonly importId: number
  readonly state: ImportDecision['state']
  /** Scopes that became inactive. */
  readonly deactivated: number
}

/**
 * Decides on the import of the catalog that is held. Accepted, what it lacks, and nobody has named since, becomes inactive at
 * once; what it adds comes with the next import. Refused, an import that lacks just the same is not asked again until a whole
 * list is applied.
 * @throws UsageError where it is not held: another one may have taken its place since it was looked at
 */
export async function decideImport(
  database: Database,
  { importId, state, decidedBy, reason }: ImportDecision,
): Promise<DecidedImport> {
  const changes = await transaction(database, async (client) => {
    await beginCatalogChange(client)
    const held = await catalog.heldImport.first(client)
    if (held?.importId !== importId) throw isNotHeld(importId, held?.importId)
    const done = state === 'accepted' ? await applyHeld(client, importId) : NO_CHANGES
    const { went } = countChanges(done)
    await catalog.decideImport.run(client, { importId, state, decidedBy, reason, went })
    const target = `import ${importId}: ${went} removed`
    await noteAction(client, decidedBy, `import_${state}`, { target, reason })
    return done
  })
  await analyzeWhereLarge(database, changes)
  return { importId, state, deactivated: countChanges(changes).went }
}

async function applyHeld(client: Client, importId: number): Promise<CatalogChanges> {
  await catalog.stageHeld.run(client, { importId })
  await catalog.analyzeLacking.run(client)
  const changes = await deactivateLacking(client)
  await catalog.countBatchScopes.run(client)
  return changes
}

function isNotHeld(importId: number, held: number | undefined): UsageError {
  const other = held === undefined ? 'none is' : `import ${held} is`
  return new UsageError(
    `Import ${importId} of the catalog is not held, ${other}: see collab-sync catalog show.`,
  )
}
