import { UsageError } from '../errors.ts'
import { transaction } from './pool.ts'
import type { Client, Database } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as catalog from './statements/catalog.ts'

/** What is noted of an import. */
export interface ImportRequest {
  /** The file, or CATALOG_SQL. */
  readonly source: string
  readonly requestedBy: string
  /** Deactivates what the rows do not name. */
  readonly prune: boolean
  /** However much that is. */
  readonly acceptsAll: boolean
  /** Takes everything back at its end, and goes on to it where the import would be held. */
  readonly isDryRun: boolean
  /** How many lines were read, once all are. */
  readonly lines: () => number
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

/** Begins to change the catalog, in the caller's transaction: no other change goes on beside it. */
export async function beginCatalogChange(client: Client): Promise<void> {
  // A plan over staged rows is long and runs once: compiling it costs more than it saves.
  await client.query(`set local jit = off; set local work_mem = '64MB'`)
  await catalog.lock.run(client)
  await catalog.createTouchedBatches.run(client)
  await catalog.createLacking.run(client)
}

/** Holds an import that lacks too much, whose lacks are staged. @returns null where it may be applied */
export async function holdImport(
  client: Client,
  { source, requestedBy, lines }: ImportRequest,
): Promise<HeldImport | null> {
  const { isMuch, digest, ...counts } = await catalog.countLacking.one(client)
  if (!isMuch) return null
  const decided = await catalog.findDecided.first(client, { digest })
  if (decided !== undefined)
    return { ...counts, importId: decided.importId, isRefused: decided.state === 'refused' }
  await catalog.replaceHeld.run(client)
  const noted = { source, requestedBy, lines: lines(), ...counts, digest }
  const { importId } = await catalog.holdImport.one(client, noted)
  return { ...counts, importId, isRefused: false }
}

/** Somebody's decision on the import that is held. */
export interface ImportDecision {
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

const DEACTIVATE = [
  catalog.deactivateOrganizations,
  catalog.deactivateDocuments,
  catalog.deactivateAnnotations,
  catalog.deactivateUserGroups,
]

/**
 * Decides on the import of the catalog that is held. Accepted, what it lacks becomes inactive at once; what it adds comes
 * with the next import. Refused, an import that lacks just the same is not asked again.
 * @throws UsageError where none is held
 */
export async function decideImport(
  database: Database,
  { state, decidedBy, reason }: ImportDecision,
): Promise<DecidedImport> {
  return transaction(database, async (client) => {
    await beginCatalogChange(client)
    const held = await catalog.heldImport.first(client)
    if (held === undefined) throw new UsageError('No import of the catalog is held.')
    const { importId } = held
    let deactivated = 0
    if (state === 'accepted') {
      await catalog.stageHeld.run(client, { importId })
      await catalog.analyzeLacking.run(client)
      for (const deactivate of DEACTIVATE) deactivated += (await deactivate.one(client)).scopes
      await catalog.countBatchScopes.run(client)
    }
    const decision = { importId, state, decidedBy, reason, went: deactivated }
    await catalog.decideImport.run(client, decision)
    return { importId, state, deactivated }
  })
}
