import { copyOf, readExportObjects, withSnapshot } from './rows.ts'
import type { CopyObject, ExportFilter, ExportObject, Snapshot } from './rows.ts'
import type { Database } from '../../core/database/pool.ts'
import { UsageError } from '../../base/errors.ts'
import { isReaderGone, openTarget, writeText } from './target.ts'
import type { OnRows, OnWarning, Target } from './target.ts'
import { csvFormat, ndjsonFormat } from './text.ts'
import type { ExportFormat } from './text.ts'

/** What to export, and how. */
export interface ExportRequest extends ExportFilter {
  /** A table or view of `collab` or `reporting`, with its schema or without. */
  readonly object: string
  /**
   * For a copy that follows the feed of changes: behind which cursor, or null for all rows. Left out: the object as it is,
   * with the columns of which the feed says nothing.
   */
  readonly after?: string | null
  readonly format: ExportFormat
  /** A file, or `-` for standard output. */
  readonly out: string
  /**
   * CSV: true writes texts that a spreadsheet would run as a formula without change. With `after` they are always written
   * so: the rows are for a database.
   */
  readonly formulas: boolean
  /** CSV: true begins with a byte order mark. */
  readonly byteOrderMark: boolean
}

/** What an export calls while it runs. */
export interface ExportEvents {
  readonly onRows?: OnRows | undefined
  readonly onWarning?: OnWarning | undefined
  /** The last check before the file gets its name; what it throws leaves no file. */
  readonly beforeComplete?: () => Promise<void>
}

/** What was exported. */
export interface Exported {
  /** `schema.name`. */
  readonly object: string
  readonly rows: number
  /** When the picture of the database was taken; everything in it is of this moment. */
  readonly takenAt: Date
  /** What to give as `since` next time: nothing is missed, some rows may come again. */
  readonly nextSince: Date
  /** Where the feed of changes goes on: it tells deletions too, and misses nothing. */
  readonly cursor: string
  /** The cursor behind which it begins; null where it is all there is. */
  readonly after: string | null
  /** False where the reader of standard output went away before the end. */
  readonly isWhole: boolean
}

/**
 * Writes a table or view out of one consistent picture of the database, in constant memory. A file is there when all of it
 * is, or not at all.
 * @throws UsageError for an object, an organization, a cursor or a file that cannot be used; EnvironmentError where the file
 * cannot be written to its end
 */
export async function exportObject(
  database: Database,
  request: ExportRequest,
  { onRows, onWarning, beforeComplete }: ExportEvents = {},
): Promise<Exported> {
  const { after } = request
  const objects = await readExportObjects(database)
  const object =
    after === undefined ? findObject(objects, request.object) : findCopy(objects, request.object)
  checkFilter(object, request)
  return withSnapshot(database, async (snapshot) => {
    await checkOrganization(snapshot, request.organizationId)
    if (typeof after === 'string') await snapshot.checkCursor(after)
    const target = await openTarget(request.out, onWarning)
    const { takenAt, nextSince, cursor } = snapshot
    const exported = { object: fullName(object), takenAt, nextSince, cursor, after: after ?? null }
    let written = 0
    const count = (rows: number) => {
      written = rows
      onRows?.(rows)
    }
    try {
      const rows = await write(snapshot, target, object, request, count)
      await beforeComplete?.()
      await target.complete()
      return { ...exported, rows, isWhole: true }
    } catch (error) {
      const thrown = await target.abandon(error)
      if (isReaderGone(error)) return { ...exported, rows: written, isWhole: false }
      throw thrown
    }
  })
}

async function checkOrganization(snapshot: Snapshot, organizationId: string | null): Promise<void> {
  if (organizationId === null || (await snapshot.knowsOrganization(organizationId))) return
  throw new UsageError(`There is no organization ${JSON.stringify(organizationId)} in the catalog.`)
}

async function write(
  snapshot: Snapshot,
  { out }: Target,
  object: ExportObject | CopyObject,
  request: ExportRequest,
  onRows: OnRows,
): Promise<number> {
  const { columns } = object
  const { organizationId, after = null } = request
  const formulas = request.formulas || request.after !== undefined
  const rows =
    'changed' in object
      ? snapshot.copyRows(object, { organizationId, after })
      : snapshot.rows(object, request)
  if (request.format === 'parquet') {
    // Loaded for those who want it: it takes longer to load than all the rest.
    const { writeParquet } = await import('./parquet.ts')
    return writeParquet(rows, out, columns, onRows)
  }
  const format =
    request.format === 'csv' ? csvFormat(columns, { ...request, formulas }) : ndjsonFormat(columns)
  return writeText(rows, out, format, onRows)
}

/**
 * What a person means by a name, with its schema or without.
 * @throws UsageError that lists what there is, or both where a name is in both schemas
 */
function findObject(objects: readonly ExportObject[], name: string): ExportObject {
  const named = objects.filter((object) => [object.name, fullName(object)].includes(name))
  const [only] = named
  if (only !== undefined && named.length === 1) return only
  if (named.length > 1) {
    throw new UsageError(
      `${JSON.stringify(name)} is in two schemas: say ${named.map(fullName).join(' or ')}.`,
    )
  }
  throw new UsageError(
    `There is no table or view ${JSON.stringify(name)} to export. There are: ${objects.map(fullName).join(', ')}.`,
  )
}

/**
 * What a person means by the name of something to keep a copy of: of the tables of schema collab alone.
 * @throws UsageError that lists what there is
 */
export function findCopy(objects: readonly ExportObject[], name: string): CopyObject {
  const copies = objects.flatMap((object) => copyOf(object) ?? [])
  const found = copies.find((copy) => [copy.name, fullName(copy)].includes(name))
  if (found !== undefined) return found
  throw new UsageError(
    `The feed of changes tells nothing of ${JSON.stringify(name)}. It tells of: ${copies.map(fullName).join(', ')}.`,
  )
}

/** @throws UsageError where the filter needs a column that the object does not have */
function checkFilter(object: ExportObject, filter: ExportFilter): void {
  const has = (column: string) => object.columns.some(({ name }) => name === column)
  if (filter.organizationId !== null && !has('organization_id')) {
    throw new UsageError(
      `--organization narrows by organization_id, which ${fullName(object)} does not have.`,
    )
  }
  if (filter.since !== null && 'changed' in object) {
    throw new UsageError('--since and a cursor are two ways to say what changed: give one of them.')
  }
  if (filter.since !== null && !has('changed_at')) {
    throw new UsageError(`--since follows changed_at, which ${fullName(object)} does not have.`)
  }
}

/** `schema.name`. */
export function fullName({ schema, name }: ExportObject): string {
  return `${schema}.${name}`
}
