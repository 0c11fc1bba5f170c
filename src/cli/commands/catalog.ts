import * as z from 'zod'
import { fileSource } from '../../features/catalog/file.ts'
import { importCatalog } from '../../features/catalog/import.ts'
import type { CatalogImport, ImportOptions } from '../../features/catalog/import.ts'
import type { CatalogSource } from '../../features/catalog/lines.ts'
import { refreshCatalog } from '../../features/catalog/refresh.ts'
import { readNameRedaction } from '../../features/privacy/rules.ts'
import { countCatalog } from '../../features/catalog/catalog-change.ts'
import type { CatalogKind } from '../../features/catalog/catalog-change.ts'
import type { HeldImport } from '../../features/catalog/held-import.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'
import { UsageError } from '../../base/errors.ts'
import { count, counted, scopePath } from '../../schemas/format.ts'
import type { CatalogChanges } from '../../schemas/catalog-line.ts'
import type { Column, Columns } from '../../schemas/columns.ts'
import type { PageRequest } from '../../schemas/page.ts'
import { readPage } from '../../client/listings.ts'
import type { Store } from '../../worker/store.ts'
import type { Settings } from '../../settings/table.ts'
import { EXIT } from '../exit.ts'
import { describeFullRun } from '../full-run.ts'
import { heading, note, print, printJson, progressNotes } from '../output.ts'
import { table } from '../table.ts'
import { withTables } from '../with-store.ts'

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
  return withTables(
    { name: 'catalog import', creates: !options.dryRun },
    ({ database }, { settings }) => {
      if (file === '-' && process.stdin.isTTY) note('Reading catalog lines; end them with Ctrl-D.')
      const source = fileSource(file)
      return load({ database, settings }, source, options, (known) =>
        importCatalog(database, source, { prune, ...known }),
      )
    },
  )
}

/** `collab-sync catalog refresh`. */
export async function catalogRefresh({ prune, ...options }: LoadOptions): Promise<number> {
  const need = ['database', 'catalog'] as const
  const command = { name: 'catalog refresh', need, creates: !options.dryRun }
  return withTables(command, ({ database, databaseUrl }, { settings }) => {
    const url = settings.catalogDatabaseUrl ?? databaseUrl
    const query = { url, text: settings.catalogSql ?? '' }
    const prunes = prune ?? settings.catalogPrune
    return load({ database, settings }, CATALOG_SQL, options, (known) =>
      refreshCatalog(database, query, { prune: prunes, ...known }),
    )
  })
}

/** `collab-sync catalog show`: its size, the last imports, and what the held one lacks. */
export async function catalogShow({
  json,
  ...request
}: PageRequest & { json?: boolean }): Promise<number> {
  return withTables({ name: 'catalog show' }, async ({ database }, { settings }) => {
    const size = await countCatalog(database)
    const imports = await catalog.recentImports.all(database, { limit: IMPORTS_SHOWN })
    const lacking = await readPage(request, {
      name: 'lacking',
      key: z.tuple([z.int(), z.int()]),
      read: (after, limit) => {
        const [afterId, afterPosition] = after ?? [null, null]
        return catalog.listLacking.all(database, { afterId, afterPosition, limit })
      },
      keyOf: ({ lackingId, position }) => [lackingId, position],
      itemOf: ({ lackingId: _id, position: _position, ...ids }) => ids,
    })
    const { items, nextCursor } = lacking
    if (json) return printJson({ ...size, imports, lacking })
    if (size.active.organizations === 0)
      return print('The catalog is empty. Fill it with: collab-sync catalog import FILE.')
    const columns: Columns<Kind> = [
      ['catalog', ([, name]) => name],
      ['active', ([kind]) => size.active[kind], 'number'],
      ['inactive', ([kind]) => size.inactive[kind], 'number'],
    ]
    print(table(columns, KINDS))
    const fullRun = await describeFullRun(database, settings)
    if (fullRun !== null) print(`\n${fullRun}`)
    if (imports.length > 0) print(`${heading('Imports')}\n${table(IMPORT_COLUMNS, imports)}`)
    if (items.length > 0)
      print(
        [heading('The held import lacks'), ...items.map((ids) => `  ${scopePath(ids)}`)].join('\n'),
      )
    if (nextCursor !== null) note(`Next page: --cursor ${nextCursor}`)
  })
}

const IMPORTS_SHOWN = 5
const CATALOG_SQL = { name: 'CATALOG_SQL', unit: 'row' } as const

interface LoadOptions {
  readonly prune?: boolean
  readonly acceptAll?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** @returns exit code 3 if the import is held, or would be */
async function load(
  { database, settings }: Pick<Store, 'database'> & { readonly settings: Settings },
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
  if (json) printJson({ ...done, isDryRun: dryRun, catalog: size })
  else {
    if (done.held === null || dryRun) {
      const now: Column<Kind> = ['now', ([kind]) => size.active[kind], 'number']
      print(`${counted(done.lines, source.unit)} of ${source.name} read.\n`)
      print(table([...changeColumns(done), now], KINDS))
    }
    if (done.held !== null) print(describeHeld(source.name, done.held, dryRun))
    const after = dryRun
      ? 'Nothing was changed: --dry-run.'
      : await describeFullRun(database, settings)
    if (after !== null) print(`\n${after}`)
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

const IMPORT_COLUMNS: Columns<RowOf<typeof catalog.recentImports>> = [
  ['import', ({ importId }) => String(importId)],
  ['at', ({ lastSeenAt }) => lastSeenAt],
  ['source', ({ source }) => source, 'id', 30],
  ['by', ({ decidedBy, requestedBy }) => decidedBy ?? requestedBy, 'id', 30],
  ['state', ({ state: text }) => (/held|failed/.test(text) ? { tone: 'warn', text } : text)],
  ['added', ({ added }) => added, 'number'],
  ['removed', ({ removed }) => removed, 'number'],
  ['', describeProblem, 'id', 600],
]

function describeProblem({ problem, lacking, scopes }: RowOf<typeof catalog.recentImports>) {
  if (problem !== null || lacking === null) return problem
  return `lacks ${count(lacking)} of ${counted(scopes ?? 0, 'scope')}`
}

type Kind = (typeof KINDS)[number]

const HEADS = ['added', 'reactivated', 'deactivated', 'renamed'] as const

/** The columns of changed rows by kind. */
export function changeColumns(changes: CatalogChanges): Columns<Kind> {
  return [
    ['', ([, name]) => name],
    ...HEADS.map((head): Column<Kind> => [head, ([kind]) => changes[kind][head], 'number']),
  ]
}
