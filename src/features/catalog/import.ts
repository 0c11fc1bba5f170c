import { loadCatalog } from './catalog.ts'
import type { CatalogRow, LoadedCatalog } from './catalog.ts'
import type { Database } from '../../core/database/pool.ts'
import type { On } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'
import { CATALOG_IDS, CATALOG_NAMES } from '../../documents/catalog-line.ts'
import { UsageError } from '../../base/errors.ts'
import type { CatalogSource } from './lines.ts'
import { counted } from '../../documents/format.ts'
import { processUser } from '../../base/process-user.ts'

/** What an import read and did. */
export type CatalogImport = LoadedCatalog & {
  /** Lines that the source held; several may name the same thing. */
  readonly lines: number
  /** Lines with an id that begins or ends with white space, which is mostly a mistake; null where there are none. */
  readonly blanks: Blanks | null
}

interface Blanks {
  readonly lines: number
  /** Number of the first of them. */
  readonly first: number
}

/** Takes erased people out of names; `src/features/privacy` does. */
interface NameRedaction {
  /** The newest erasure that it knows; null where there is none. */
  readonly lastErasure: number | null
  redact(organizationId: string, name: string): string
}

export interface ImportOptions {
  /** Deactivates what the source does not list; refused where it lists nothing. */
  readonly prune: boolean | null
  /** Deactivates it also where it is more than a tenth at once. */
  readonly acceptsAll?: boolean
  /** Finds out what would change, and takes it back. */
  readonly isDryRun?: boolean
  /** Who asked for it; the user of this process where it is left out. */
  readonly requestedBy?: string
  /** Reads who is erased. Needed where a line has a name. */
  readonly redaction?: ((on: On) => Promise<NameRedaction>) | undefined
  /** Hears how many lines were read, every {@link BATCH_LINES} lines. */
  readonly onProgress?: (lines: number) => void
}

/**
 * Loads all lines of a source into the catalog, or none. Importing again is harmless. An import that lacks too much of what
 * there is changes nothing and is held.
 * @throws UsageError with up to 20 bad lines by their number, or where a person was erased meanwhile; nothing was loaded
 */
export async function importCatalog(
  database: Database,
  source: CatalogSource,
  options: ImportOptions,
): Promise<CatalogImport> {
  const { prune, acceptsAll = false, isDryRun = false, redaction: readRedaction } = options
  let redaction: NameRedaction | undefined
  let lines = 0
  let blanks: Blanks | null = null
  const rows = readRows(source, {
    onRead(count) {
      lines = count
      options.onProgress?.(count)
    },
    onBlank: (number) => (blanks = { first: number, ...blanks, lines: (blanks?.lines ?? 0) + 1 }),
    async redact(organizationId, name) {
      redaction ??= await readRedaction?.(database)
      if (redaction === undefined) throw new Error('Names are imported with a redaction only.')
      return redaction.redact(organizationId, name)
    },
  })
  const done = await loadCatalog(database, refuseNothing(rows, source, prune), {
    source: source.name,
    requestedBy: options.requestedBy ?? processUser(),
    prune,
    acceptsAll,
    isDryRun,
    lines: () => lines,
    async confirm(client) {
      if (redaction === undefined) return
      await catalog.lockErasures.run(client)
      const now = await readRedaction?.(client)
      if (now?.lastErasure !== redaction.lastErasure) throw new UsageError(ERASED_MEANWHILE)
    },
  })
  return { lines, blanks, ...done }
}

/** Names that were read before it may contain the person, and the erasure may have searched the catalog already. */
const ERASED_MEANWHILE =
  'Nothing was imported: a person was erased while the lines were read. Import them again.'
const BATCH_LINES = 1000
const MAX_COMPLAINTS = 20
/** At the beginning or the end. */
const BLANK = /^\s|\s$/

async function* readRows(
  source: CatalogSource,
  on: {
    onRead: (lines: number) => void
    onBlank: (number: number) => void
    redact: (organizationId: string, name: string) => Promise<string>
  },
): AsyncGenerator<CatalogRow[]> {
  const complaints: string[] = []
  let batch: CatalogRow[] = []
  let count = 0
  for await (const numbered of source.lines()) {
    count += 1
    if ('complaint' in numbered) {
      complaints.push(`${source.unit} ${numbered.number} ${numbered.complaint}`)
      if (complaints.length === MAX_COMPLAINTS) break
    } else if (complaints.length === 0) {
      const { line } = numbered
      const row = CATALOG_IDS.map((member) => line[member] ?? null)
      if (row.some((id) => id !== null && BLANK.test(id))) on.onBlank(numbered.number)
      for (const name of CATALOG_NAMES.map((member) => line[member] ?? null))
        row.push(name === null ? null : await on.redact(line.organizationId, name))
      batch.push(row)
    }
    if (count % BATCH_LINES === 0) {
      on.onRead(count)
      yield batch
      batch = []
    }
  }
  if (complaints.length > 0) throw new UsageError(complaintOf(source, complaints))
  on.onRead(count)
  yield batch
}

/** An empty list is more often a failed export than a wish to deactivate everything. */
async function* refuseNothing(
  rows: AsyncIterable<CatalogRow[]>,
  source: CatalogSource,
  prune: boolean | null,
): AsyncGenerator<CatalogRow[]> {
  let any = false
  for await (const batch of rows) {
    any ||= batch.length > 0
    yield batch
  }
  if (prune && !any)
    throw new UsageError(
      `${source.name} lists nothing: pruning by it would deactivate the whole catalog, so nothing was done.`,
    )
}

function complaintOf(source: CatalogSource, complaints: string[]): string {
  const atLeast = complaints.length === MAX_COMPLAINTS ? 'at least ' : ''
  return [
    `${source.name}: nothing was imported, because of ${atLeast}${counted(complaints.length, `wrong ${source.unit}`)}:`,
    ...complaints.map((complaint) => `  ${complaint}.`),
  ].join('\n')
}
