import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import {
  analyzeWhereLarge,
  beginCatalogChange,
  deactivateLacking,
  NO_CHANGES,
  noteImport,
  ofEachKind,
} from './catalog-change.ts'
import type { CatalogKind } from './catalog-change.ts'
import { holdImport } from './held-import.ts'
import type { HeldImport, ImportRequest } from './held-import.ts'
import { retryConflicts, transactionOn } from '../../core/database/pool.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import * as catalog from '../../core/database/statements/catalog.ts'
import type { CatalogChanges } from '../../documents/catalog-line.ts'

/** What an import did, or a dry run would do: nothing where it is held. */
export type LoadedCatalog = CatalogChanges & { readonly held: HeldImport | null }

/** The ids and names of one line in the order of `catalog/copy-lines.sql`; null where the line has none. */
export type CatalogRow = readonly (string | null)[]

/**
 * Makes the catalog hold what the rows say, in one transaction: a row implies its parents; what is
 * inactive and named becomes active again; with `prune`, what is active and not named becomes inactive. Where that is more
 * than a tenth, and more than ten, of the whole or of one organization, nothing is changed: the import is held.
 * A row that is as it should be is not written. Of the names of one thing the last one counts. Rows are streamed to the server in constant memory,
 * and nothing of the catalog is touched or locked before the last one is there. Imports at the same
 * time wait for each other.
 * @param rows batches of rows; when it throws, nothing was changed
 * @returns what changed, or what is held
 * @throws what `rows` and `request.confirm` throw
 */
export async function loadCatalog(
  database: Database,
  rows: AsyncIterable<readonly CatalogRow[]>,
  request: ImportRequest,
): Promise<LoadedCatalog> {
  const client = await database.connect()
  try {
    await client.query('set statement_timeout = 0')
    await catalog.createLines.run(client)
    await pipeline(
      Readable.from(copyText(rows), { objectMode: false }),
      client.query(copyFrom(catalog.copyLines.text)),
    )
    await catalog.analyzeLines.run(client)
    // A deadlock with a run repeats the merge only: the source of the rows may be a pipe.
    const end = request.isDryRun ? 'rollback' : 'commit'
    const changes = await retryConflicts(() =>
      transactionOn(client, () => holdOrMerge(client, request), end),
    )
    if (!request.isDryRun) await analyzeWhereLarge(client, changes)
    return changes
  } finally {
    // Closing the connection drops the session's temporary table, whatever state it is in.
    client.release(true)
  }
}

async function* copyText(rows: AsyncIterable<readonly CatalogRow[]>): AsyncGenerator<string> {
  for await (const batch of rows) {
    let text = ''
    for (const row of batch) text += `${row.map(copyField).join('\t')}\n`
    if (text !== '') yield text
  }
}

function copyField(value: string | null): string {
  if (value === null) return '\\N'
  return /[\\\t\n\r]/.test(value)
    ? value.replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] ?? '')
    : value
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

async function holdOrMerge(client: Client, request: ImportRequest): Promise<LoadedCatalog> {
  await beginCatalogChange(client)
  const { source, requestedBy, prune, acceptsAll, isDryRun } = request
  await request.confirm(client)
  let held: HeldImport | null = null
  if (prune) {
    await catalog.stageLacking.run(client)
    await catalog.analyzeLacking.run(client)
    if (!acceptsAll) held = await holdImport(client, request)
    if (held !== null && !isDryRun) return { ...NO_CHANGES, held }
    await catalog.replaceHeld.run(client)
  }
  const changes = await merge(client, prune === true)
  if ((await catalog.heldImport.first(client)) !== undefined) await catalog.unholdNamed.run(client)
  const by = { source, requestedBy, prunes: prune, lines: request.lines() }
  await noteImport(client, by, changes)
  return { ...changes, held }
}

/** The order matters: parents before children, numbers before batches before scopes, counts last. */
async function merge(client: Client, prune: boolean): Promise<CatalogChanges> {
  await catalog.stageNames.run(client)
  const organizations = await catalog.addOrganizations.run(client)
  await catalog.stageUserGroups.run(client)
  await catalog.stageDocuments.run(client)
  await catalog.numberUsersScopes.run(client)
  await catalog.addUsersBatches.run(client)
  const userGroups = (await catalog.addUserGroups.one(client)).scopes
  const documents = (await catalog.addDocuments.one(client)).scopes
  await catalog.stageAnnotations.run(client)
  await catalog.numberAnnotations.run(client)
  await catalog.addCommentsBatches.run(client)
  const annotations = (await catalog.addAnnotations.one(client)).scopes

  const gone = prune ? await deactivateLacking(client) : NO_CHANGES
  const back = await catalog.reactivate.one(client)
  const renamed = await catalog.rename.one(client)
  const added = { organizations, documents, annotations, userGroups }
  const changes = ofEachKind((kind) => ({
    added: added[kind],
    reactivated: back[kind],
    deactivated: gone[kind].deactivated,
    renamed: renamed[kind],
  }))
  await catalog.advanceNumbers.run(client)
  await catalog.countBatchScopes.run(client)
  return changes
}

/** Rows of the catalog by kind. */
export interface CatalogSize {
  readonly active: Readonly<Record<CatalogKind, number>>
  /** No longer listed, so no longer asked for; what was stored of them stays. */
  readonly inactive: Readonly<Record<CatalogKind, number>>
}

/** Counts the catalog; a fraction of a second for a million annotations. */
export async function countCatalog(database: Database): Promise<CatalogSize> {
  const row = await catalog.count.one(database)
  return {
    active: ofEachKind((kind) => row[kind]),
    inactive: {
      organizations: row.inactiveOrganizations,
      documents: row.inactiveDocuments,
      annotations: row.inactiveAnnotations,
      userGroups: row.inactiveUserGroups,
    },
  }
}
