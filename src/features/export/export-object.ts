import type { Writable } from 'node:stream'
import { copyOf, readExportObjects, streamRows, withSnapshot } from './rows.ts'
import type { ExportFilter, ExportObject, Snapshot } from './rows.ts'
import type { Database } from '../../core/database/pool.ts'
import * as statements from '../../core/database/statements/export.ts'
import { UsageError } from '../../base/errors.ts'
import { readChanges } from './changes.ts'
import { isReaderGone, writeTarget } from './target.ts'
import type { OnWarning } from './target.ts'
import { csvFormat, ndjsonFormat, writeText } from './text.ts'
import type { ExportFormat, OnRows } from './text.ts'

export interface ExportRequest extends ExportFilter {
  /** A table or view of `collab` or `reporting`, with its schema or without. */
  readonly object: string
  readonly format: ExportFormat
  /** A file, or `-` for standard output. */
  readonly out: string
  /** CSV: true leaves texts unchanged that a spreadsheet would run as a formula. With `after` they are always unchanged. */
  readonly formulas: boolean
  /** CSV: true begins with a byte order mark, by which spreadsheets recognize UTF-8. */
  readonly byteOrderMark: boolean
}

export interface ExportEvents {
  readonly onRows?: OnRows | undefined
  readonly onWarning?: OnWarning | undefined
  /** The last check before the file gets its name. If it throws, no file is left. */
  readonly beforeComplete?: () => Promise<void>
}

export interface Exported {
  /** `schema.name`. */
  readonly object: string
  readonly rows: number
  /** Time of the snapshot: all rows are of this moment. */
  readonly takenAt: Date
  /** `since` of the next export, which then misses no row and may repeat some. */
  readonly nextSince: Date
  /** Cursor after which the feed of changes continues. The feed has deletions too. */
  readonly cursor: string
  /** The cursor after which the rows have changed; null for all rows. */
  readonly after: string | null
  /** False if the reader of a pipe closed it before the end. */
  readonly isWhole: boolean
}

/**
 * Writes a table or view from one consistent snapshot of the database, in constant memory. A file is complete or not there.
 * @throws UsageError for an unusable object, organization, cursor or file; EnvironmentError if the file cannot be written
 */
export async function exportObject(
  database: Database,
  request: ExportRequest,
  { onRows, onWarning = () => {}, beforeComplete }: ExportEvents = {},
): Promise<Exported> {
  const { organizationId, after = null } = request
  const isCopy = request.after !== undefined
  const object = findObject(await readExportObjects(database), request.object, isCopy)
  checkFilter(object, request)
  return withSnapshot(database, async (snapshot) => {
    const { client, ...times } = snapshot
    if (organizationId !== null) {
      const { known } = await statements.knowsOrganization.one(client, { organizationId })
      if (!known)
        throw new UsageError(
          `There is no organization ${JSON.stringify(organizationId)} in the catalog.`,
        )
    }
    if (after !== null) await readChanges(client, { after, max: 1, objects: [] })
    let rows = 0
    const count = (written: number) => {
      rows = written
      onRows?.(written)
    }
    let isWhole = true
    try {
      await writeTarget(request.out, onWarning, async (out) => {
        await write(snapshot, out, object, request, count)
        await beforeComplete?.()
      })
    } catch (error) {
      if (!isReaderGone(error)) throw error
      isWhole = false
    }
    return { object: fullName(object), ...times, after, rows, isWhole }
  })
}

async function write(
  snapshot: Snapshot,
  out: Writable,
  object: ExportObject,
  request: ExportRequest,
  onRows: OnRows,
): Promise<void> {
  const { columns, changed } = object
  const rows = streamRows(snapshot, object, request)
  if (request.format === 'parquet') {
    // Loaded only if needed, because it takes longer to load than everything else.
    const { writeParquet } = await import('./parquet.ts')
    return writeParquet(rows, out, columns, onRows)
  }
  const formulas = request.formulas || changed !== undefined
  const format =
    request.format === 'csv' ? csvFormat(columns, { ...request, formulas }) : ndjsonFormat(columns)
  return writeText(rows, out, format, onRows)
}

/**
 * @param isCopy true for a table of schema `collab`, as a copy has it that follows the feed of changes
 * @throws UsageError that lists the objects, or both schemas that have an object of this name
 */
export function findObject(
  all: readonly ExportObject[],
  name: string,
  isCopy: boolean,
): ExportObject {
  const objects = isCopy ? all.flatMap((object) => copyOf(object) ?? []) : all
  const named = objects.filter((object) => [object.name, fullName(object)].includes(name))
  const [only] = named
  if (only !== undefined && named.length === 1) return only
  const names = (named.length > 1 ? named : objects).map(fullName)
  throw new UsageError(
    named.length > 1
      ? `${JSON.stringify(name)} is in two schemas: use ${names.join(' or ')}.`
      : `There is no table or view ${JSON.stringify(name)} ${isCopy ? 'in the feed of changes' : 'to export'}. There are: ${names.join(', ')}.`,
  )
}

/** @throws UsageError if the filter needs a column that the object does not have */
function checkFilter(object: ExportObject, { organizationId, since }: ExportFilter): void {
  const lacks = (column: string) => object.columns.every(({ name }) => name !== column)
  if (organizationId !== null && lacks('organization_id'))
    throw new UsageError(
      `--organization needs a column organization_id, which ${fullName(object)} does not have.`,
    )
  if (since !== null && object.changed !== undefined)
    throw new UsageError('--since and a cursor cannot be combined: use one of them.')
  if (since !== null && lacks('changed_at'))
    throw new UsageError(
      `--since needs a column changed_at, which ${fullName(object)} does not have.`,
    )
}

/** `schema.name`. */
export function fullName({ schema, name }: ExportObject): string {
  return `${schema}.${name}`
}
