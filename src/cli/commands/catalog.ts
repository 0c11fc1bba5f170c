import * as z from 'zod'
import { fileSource } from '../../features/catalog/file.ts'
import { importCatalog } from '../../features/catalog/import.ts'
import type { CatalogImport, ImportOptions } from '../../features/catalog/import.ts'
import type { CatalogSource } from '../../features/catalog/lines.ts'
import { refreshCatalog } from '../../features/catalog/refresh.ts'
import { readNameRedaction } from '../../features/privacy/rules.ts'
import { countCatalog } from '../../features/catalog/catalog-change.ts'
import type { CatalogKind, CatalogSize } from '../../features/catalog/catalog-change.ts'
import type { HeldImport } from '../../features/catalog/held-import.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'
import { UsageError } from '../../base/errors.ts'
import { count, counted, scopePath, shorten, time } from '../../documents/format.ts'
import type { PageRequest } from '../../documents/page.ts'
import { readPage } from '../../client/listings.ts'
import type { Store } from '../../worker/store.ts'
import { EXIT } from '../exit.ts'
import { heading, note, paint, print, printJson, progressNotes } from '../output.ts'
import { numberColumns, table } from '../table.ts'
import { withTables } from '../with-store.ts'

/** The result of an import, and the size of the catalog afterwards. */
type Imported = CatalogImport & { readonly isDryRun: boolean; readonly catalog: CatalogSize }

export const KINDS: readonly (readonly [kind: CatalogKind, name: string])[] = [
  ['organizations', 'organizations'],
  ['documents', 'documents'],
  ['annotations', 'annotations'],
  ['userGroups', 'user groups'],
]

/** `collab-sync catalog import FILE|-`. */
export async function catalogImport(
  file: string,
  { prune = false, ...options }: LoadOptions,
): Promise<number> {
  if (options.acceptAll && !prune)
    throw new UsageError('--accept-all needs --prune: without it, nothing is deactivated.')
  return withTables({ name: 'catalog import', creates: !options.dryRun }, (store) => {
    if (file === '-' && process.stdin.isTTY) note('Reading catalog lines; end them with Ctrl-D.')
    const source = fileSource(file)
    return load(store, source, options, (known) =>
      importCatalog(store.database, source, { prune, ...known }),
    )
  })
}

/** `collab-sync catalog refresh`. */
export async function catalogRefresh({ prune, ...options }: LoadOptions): Promise<number> {
  const need = ['database', 'catalog'] as const
  const command = { name: 'catalog refresh', need, creates: !options.dryRun }
  return withTables(command, (store, { settings }) => {
    const url = settings.catalogDatabaseUrl ?? store.databaseUrl
    const query = { url, text: settings.catalogSql ?? '' }
    const prunes = prune ?? settings.catalogPrune
    return load(store, CATALOG_SQL, options, (known) =>
      refreshCatalog(store.database, query, { prune: prunes, ...known }),
    )
  })
}

/** `collab-sync catalog show`: its size, the last imports, and what the held one lacks. */
export async function catalogShow({
  json,
  ...request
}: PageRequest & { json?: boolean }): Promise<number> {
  return withTables({ name: 'catalog show' }, async ({ database }) => {
    const size = await countCatalog(database)
    const imports = await catalog.recentImports.all(database, { limit: IMPORTS_SHOWN })
    const lacking = await readPage(request, {
      name: 'lacking',
      key: LackingKey,
      read: (after, limit) => {
        const [afterId, afterPosition] = after ?? [null, null]
        return catalog.listLacking.all(database, { afterId, afterPosition, limit })
      },
      keyOf: ({ lackingId, position }): z.output<typeof LackingKey> => [lackingId, position],
    })
    const items = lacking.items.map(({ lackingId: _id, position: _position, ...ids }) => ids)
    if (json) return printJson({ ...size, imports, lacking: { ...lacking, items } })
    if (size.active.organizations === 0)
      return print('The catalog is empty. Fill it with: collab-sync catalog import FILE.')
    print(table(['catalog', ...numberColumns('active', 'inactive')], rowsOf(size)))
    if (imports.length > 0) print(`${heading('Imports')}\n${importsTable(imports)}`)
    if (items.length > 0)
      print(
        [heading('The held import lacks'), ...items.map((ids) => `  ${scopePath(ids)}`)].join('\n'),
      )
    if (lacking.nextCursor !== null) note(`Next page: --cursor ${lacking.nextCursor}`)
  })
}

const IMPORTS_SHOWN = 5
const LackingKey = z.tuple([z.int(), z.int()]).readonly()
const CATALOG_SQL = { name: 'CATALOG_SQL', unit: 'row' } as const

interface LoadOptions {
  readonly prune?: boolean
  readonly acceptAll?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** @returns exit code 3 if the import is held, or would be */
async function load(
  { database }: Store,
  source: Pick<CatalogSource, 'name' | 'unit'>,
  { acceptAll = false, dryRun = false, json }: LoadOptions,
  work: (known: Omit<ImportOptions, 'prune'>) => Promise<CatalogImport>,
): Promise<number> {
  const onProgress = json
    ? () => {}
    : progressNotes((lines: number) => `${counted(lines, 'line')} read`)
  const redaction = readNameRedaction
  const done = await work({ acceptsAll: acceptAll, isDryRun: dryRun, onProgress, redaction })
  if (done.blanks !== null) note(describeBlanks(source, done.blanks))
  const size = await countCatalog(database)
  const imported: Imported = { ...done, isDryRun: dryRun, catalog: size }
  if (json) printJson(imported)
  else {
    if (done.held === null || dryRun) print(describeImport(source, imported))
    if (done.held !== null) print(describeHeld(source.name, done.held, dryRun))
    if (dryRun) print('\nNothing was changed: --dry-run.')
  }
  return done.held === null ? EXIT.done : EXIT.partial
}

function describeBlanks(
  { name, unit }: Pick<CatalogSource, 'name' | 'unit'>,
  { lines, first }: NonNullable<CatalogImport['blanks']>,
): string {
  const where =
    lines === 1 ? `${unit} ${first}` : `${counted(lines, unit)}, first in ${unit} ${first}`
  return `Warning: ${name} contains IDs that begin or end with a blank (${where}). Such an ID is not changed, and differs from the same ID without the blank.`
}

function describeHeld(name: string, held: HeldImport, isDryRun: boolean): string {
  const { scopes, lacking, organizations, firstOrganizationId, isRefused, importId } = held
  const first = JSON.stringify(firstOrganizationId)
  const all =
    organizations === 1
      ? `organization ${first}`
      : `${counted(organizations, 'organization')}, most of all ${first}`
  const some = `, and more than 10 % of ${all}`
  const what = `${name} lacks ${count(lacking)} of the ${counted(scopes, 'scope')} in the catalog${organizations === 0 ? '' : some}.`
  if (isRefused)
    return `${what} The catalog ${isDryRun ? 'would be' : 'is'} unchanged, because an import that lacks the same scopes was refused.`
  if (isDryRun) return `${what} The import would be held.`
  return `${what} The import is held, and the catalog is unchanged. To apply it: collab-sync accept --catalog ${importId}. To discard it: collab-sync refuse --catalog ${importId}.`
}

function importsTable(imports: readonly RowOf<typeof catalog.recentImports>[]): string {
  return table(
    ['import', 'at', 'source', 'by', 'state', ...numberColumns('came', 'went'), ''],
    imports.map((each) => [
      String(each.importId),
      time(each.lastSeenAt),
      shorten(each.source, 30),
      shorten(each.decidedBy ?? each.requestedBy, 30),
      each.state === 'held' || each.state === 'failed' ? paint.yellow(each.state) : each.state,
      count(each.came),
      count(each.went),
      each.problem ??
        (each.lacking === null
          ? ''
          : `lacks ${count(each.lacking)} of ${counted(each.scopes ?? 0, 'scope')}`),
    ]),
  )
}

const HEADS = ['added', 'reactivated', 'deactivated', 'renamed'] as const

function describeImport(source: Pick<CatalogSource, 'name' | 'unit'>, done: Imported): string {
  const rows = KINDS.map(([kind, name]) => [
    name,
    ...HEADS.map((head) => count(done[kind][head])),
    count(done.catalog.active[kind]),
  ])
  return [
    `${counted(done.lines, source.unit)} of ${source.name} read.`,
    '',
    table(['', ...numberColumns(...HEADS, 'now')], rows),
  ].join('\n')
}

function rowsOf({ active, inactive }: CatalogSize): string[][] {
  return KINDS.map(([kind, name]) => [name, count(active[kind]), count(inactive[kind])])
}
