import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { UsageError } from '../../base/errors.ts'
import { OPERATION_NAMES, OPERATIONS } from '../../base/operations.ts'
import { processUser } from '../../base/process-user.ts'
import { fieldOf } from '../../core/database/comment-rows.ts'
import { retryConflicts, transactionOn } from '../../core/database/pool.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import type { On } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'
import { CATALOG_IDS, CATALOG_NAMES } from '../../schemas/catalog-line.ts'
import type { CatalogChanges } from '../../schemas/catalog-line.ts'
import { counted } from '../../schemas/format.ts'
import {
  analyzeWhereLarge,
  beginCatalogChange,
  deactivateLacking,
  NO_CHANGES,
  noteImport,
  ofEachKind,
} from './catalog-change.ts'
import { holdImport } from './held-import.ts'
import type { HeldImport } from './held-import.ts'
import type { CatalogSource } from './lines.ts'

/** What an import read and changed, or what a dry run would change. */
export type CatalogImport = CatalogChanges & {
  /** If the import is held, it changed nothing. */
  readonly held: HeldImport | null
  /** Lines of the source; several may name the same scope. */
  readonly lines: number
  /** Lines with an ID that begins or ends with white space, which is usually a mistake; null if there are none. */
  readonly blanks: { readonly lines: number; readonly first: number } | null
}

/** Removes erased people from names; implemented by `src/features/privacy`. */
interface NameRedaction {
  /** The latest erasure that it includes; null if there is none. */
  readonly lastErasure: number | null
  redact(organizationId: string, name: string): string
}

export interface ImportOptions {
  /** Whether to deactivate what the source does not list; null if the source is not a complete list. */
  readonly prune: boolean | null
  /** Deactivates any number of scopes, and holds nothing. */
  readonly acceptsAll?: boolean
  /** Rolls the changes back. */
  readonly isDryRun?: boolean
  /** The user of this process by default. */
  readonly requestedBy?: string
  /** Required if a line has a name. */
  readonly redaction?: ((on: On) => Promise<NameRedaction>) | undefined
  /** Called with the number of lines read so far, every 1,000 lines. */
  readonly onProgress?: (lines: number) => void
}

/** What {@link copyRows} has read of a source. */
interface Read {
  lines: number
  blanks: CatalogImport['blanks']
  redaction: NameRedaction | undefined
}

/**
 * Loads all lines of a source into the catalog in one transaction, or none. A line implies its parents and reactivates what it
 * names. With `prune`, what no line names becomes inactive; if that is more than ten scopes and more than a tenth of the catalog
 * or of one organization, the import is held and changes nothing. Unchanged rows are not written. If several lines name the same
 * scope differently, the last name applies. Lines are streamed to PostgreSQL; no row of the catalog is locked until all have
 * arrived. Concurrent imports wait for each other.
 * @throws UsageError with up to 20 invalid lines, if `prune` would deactivate everything, or if a person was erased meanwhile;
 *   then nothing was imported
 */
export async function importCatalog(
  database: Database,
  source: CatalogSource,
  options: ImportOptions,
): Promise<CatalogImport> {
  const read: Read = { lines: 0, blanks: null, redaction: undefined }
  const client = await database.connect()
  try {
    await client.query('set statement_timeout = 0')
    await catalog.createLines.run(client)
    await pipeline(
      Readable.from(copyRows(database, source, options, read), { objectMode: false }),
      client.query(copyFrom(catalog.copyLines.text)),
    )
    const { lines, blanks } = read
    if (options.prune && lines === 0)
      throw new UsageError(
        `${source.name} lists nothing: pruning by it would deactivate the whole catalog, so nothing was done.`,
      )
    await catalog.analyzeLines.run(client)
    // After a deadlock with a run, only the merge is repeated, because the source may be a pipe.
    const end = options.isDryRun ? 'rollback' : 'commit'
    const changes = await retryConflicts(() =>
      transactionOn(client, () => holdOrMerge(client, source.name, options, read), end),
    )
    if (!options.isDryRun) await analyzeWhereLarge(client, changes)
    return { lines, blanks, ...changes }
  } finally {
    // Closing the connection drops the temporary table.
    client.release(true)
  }
}

const BATCH_LINES = 1000
const MAX_COMPLAINTS = 20
/** At the beginning or the end. */
const BLANK = /^\s|\s$/

/** The lines in the text format of COPY, with the columns of `catalog/copy-lines.sql`. */
async function* copyRows(
  database: Database,
  source: CatalogSource,
  { onProgress, redaction }: ImportOptions,
  read: Read,
): AsyncGenerator<string> {
  const complaints: string[] = []
  let text = ''
  for await (const numbered of source.lines()) {
    read.lines += 1
    if ('complaint' in numbered) {
      complaints.push(`${source.unit} ${numbered.number} ${numbered.complaint}`)
      if (complaints.length === MAX_COMPLAINTS) break
    } else if (complaints.length === 0) {
      const { line, number } = numbered
      const row = CATALOG_IDS.map((member) => line[member] ?? null)
      if (row.some((id) => id !== null && BLANK.test(id)))
        read.blanks = { first: number, ...read.blanks, lines: (read.blanks?.lines ?? 0) + 1 }
      for (const name of CATALOG_NAMES.map((member) => line[member] ?? null)) {
        if (name !== null) read.redaction ??= await redaction?.(database)
        if (name !== null && read.redaction === undefined)
          throw new Error('Names are imported with a redaction only.')
        row.push(name && (read.redaction?.redact(line.organizationId, name) ?? null))
      }
      text += `${row.map(fieldOf).join('\t')}\n`
    }
    if (read.lines % BATCH_LINES === 0) {
      onProgress?.(read.lines)
      yield text
      text = ''
    }
  }
  if (complaints.length > 0) throw new UsageError(complaintOf(source, complaints))
  onProgress?.(read.lines)
  yield text
}

function complaintOf(source: CatalogSource, complaints: string[]): string {
  const atLeast = complaints.length === MAX_COMPLAINTS ? 'at least ' : ''
  return [
    `${source.name}: nothing was imported, because of ${atLeast}${counted(complaints.length, `wrong ${source.unit}`)}:`,
    ...complaints.map((complaint) => `  ${complaint}.`),
  ].join('\n')
}

async function holdOrMerge(
  client: Client,
  source: string,
  { prune, acceptsAll, isDryRun, requestedBy = processUser(), redaction }: ImportOptions,
  read: Read,
): Promise<CatalogChanges & Pick<CatalogImport, 'held'>> {
  const by = { source, requestedBy, lines: read.lines }
  await beginCatalogChange(client)
  if (read.redaction !== undefined) {
    // The lines may name a person who was erased after the redaction was read.
    await catalog.lockErasures.run(client)
    const now = await redaction?.(client)
    if (now?.lastErasure !== read.redaction.lastErasure)
      throw new UsageError(
        'Nothing was imported: a person was erased while the lines were read. Import them again.',
      )
  }
  let held: HeldImport | null = null
  if (prune) {
    await catalog.stageLacking.run(client)
    await catalog.analyzeLacking.run(client)
    if (!acceptsAll) held = await holdImport(client, by)
    if (held !== null && !isDryRun) return { ...NO_CHANGES, held }
    await catalog.replaceHeld.run(client)
  }
  const changes = await merge(client, prune === true)
  if ((await catalog.heldImport.first(client)) !== undefined) await catalog.unholdNamed.run(client)
  await noteImport(client, { ...by, prunes: prune }, changes)
  return { ...changes, held }
}

/** What has a scope of an operation; annotations are numbered by themselves. */
const LISTED = OPERATION_NAMES.flatMap((operation) =>
  OPERATIONS[operation].kinds.map((kind) => ({ operation, kind })),
)

/** Creates parents before children, and numbers before batches before scopes; counts last. */
async function merge(client: Client, prune: boolean): Promise<CatalogChanges> {
  await catalog.stageNames.run(client)
  const organizations = await catalog.addOrganizations.run(client)
  await catalog.stageUserGroups.run(client)
  const userGroups = await catalog.addUserGroups.run(client)
  await catalog.stageDocuments.run(client)
  const documents = await catalog.addDocuments.run(client)
  await catalog.stageAnnotations.run(client)
  await catalog.numberListings.run(client, {
    operations: LISTED.map(({ operation }) => operation),
    kinds: LISTED.map(({ kind }) => kind),
  })
  await catalog.numberAnnotations.run(client)
  await catalog.addBatches.run(client, { operations: OPERATION_NAMES })
  await catalog.addListings.run(client)
  const annotations = (await catalog.addAnnotations.one(client)).scopes

  const gone = prune ? await deactivateLacking(client) : NO_CHANGES
  const back = await catalog.reactivate.one(client)
  const renamed = await catalog.rename.one(client)
  const added = { organizations, documents, annotations, userGroups }
  await catalog.countBatchScopes.run(client)
  return ofEachKind((kind) => ({
    added: added[kind],
    reactivated: back[kind],
    deactivated: gone[kind].deactivated,
    renamed: renamed[kind],
  }))
}
