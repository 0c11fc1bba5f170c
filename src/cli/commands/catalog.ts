import { fileSource } from '../../catalog/file.ts'
import { importCatalog } from '../../catalog/import.ts'
import type { CatalogImport } from '../../catalog/import.ts'
import type { CatalogSource } from '../../catalog/lines.ts'
import { querySource } from '../../catalog/query.ts'
import { countCatalog } from '../../database/catalog.ts'
import type { CatalogKind, CatalogSize } from '../../database/catalog.ts'
import { count, counted } from '../../format.ts'
import { readSettings } from '../../settings/settings.ts'
import type { Store } from '../../store.ts'
import { EXIT } from '../exit.ts'
import { note, print, printJson, table } from '../output.ts'
import { quietLog, withTables } from '../with-store.ts'

/** What an import did, and what the catalog holds after it. */
interface Imported extends CatalogImport {
  readonly catalog: CatalogSize
}

const KINDS: readonly (readonly [kind: CatalogKind, name: string])[] = [
  ['organizations', 'organizations'],
  ['documents', 'documents'],
  ['annotations', 'annotations'],
  ['userGroups', 'user groups'],
]

/** `collab-sync catalog import FILE|-`: loads the lines of a file, all or none. */
export async function catalogImport(
  file: string,
  { prune = false, json }: { prune?: boolean; json?: boolean },
): Promise<number> {
  const settings = readSettings(process.env, { need: ['database'] })
  if (file === '-' && process.stdin.isTTY) note('Reading catalog lines; end them with Ctrl-D.')
  const opening = { settings, log: quietLog(settings), name: 'catalog import' }
  return withTables(opening, (store) => load(store, fileSource(file), { prune, json }))
}

/** `collab-sync catalog refresh`: loads the rows of CATALOG_SQL. */
export async function catalogRefresh({
  prune,
  json,
}: {
  prune?: boolean
  json?: boolean
}): Promise<number> {
  const settings = readSettings(process.env, { need: ['database', 'catalog'] })
  const opening = { settings, log: quietLog(settings), name: 'catalog refresh' }
  return withTables(opening, (store) => {
    const url = settings.catalogDatabaseUrl ?? store.databaseUrl
    const source = querySource(url, settings.catalogSql ?? '')
    return load(store, source, { prune: prune ?? settings.catalogPrune, json })
  })
}

/** `collab-sync catalog show`: how much there is to sync. */
export async function catalogShow({ json }: { json?: boolean }): Promise<number> {
  const settings = readSettings(process.env, { need: ['database'] })
  const opening = { settings, log: quietLog(settings), name: 'catalog show' }
  return withTables(opening, async ({ database }) => {
    const size = await countCatalog(database)
    if (json) printJson(size)
    else if (size.active.organizations === 0) print(EMPTY)
    else print(table([{ head: 'catalog' }, ...numberColumns('active', 'inactive')], rowsOf(size)))
    return EXIT.done
  })
}

const EMPTY = 'The catalog is empty; fill it with: collab-sync catalog import FILE.'

async function load(
  { database }: Store,
  source: CatalogSource,
  { prune, json }: { prune: boolean; json: boolean | undefined },
): Promise<number> {
  const progress = json ? () => {} : linesRead()
  const done = await importCatalog(database, source, { prune, onProgress: progress })
  const catalog = await countCatalog(database)
  if (json) printJson({ ...done, catalog } satisfies Imported)
  else print(describeImport(source, { ...done, catalog }))
  return EXIT.done
}

function describeImport(source: CatalogSource, done: Imported): string {
  const rows = KINDS.map(([kind, name]) => [
    name,
    ...[done[kind].added, done[kind].reactivated, done[kind].deactivated].map(count),
    count(done.catalog.active[kind]),
  ])
  return [
    `${counted(done.lines, source.unit)} of ${source.name} read.`,
    '',
    table([{ head: '' }, ...numberColumns('added', 'reactivated', 'deactivated', 'now')], rows),
  ].join('\n')
}

/** Says now and then how far a long import is. */
function linesRead(): (lines: number) => void {
  let saidAtMs = performance.now()
  return (lines) => {
    if (performance.now() - saidAtMs < 2_000) return
    saidAtMs = performance.now()
    note(`${counted(lines, 'line')} read`)
  }
}

function rowsOf({ active, inactive }: CatalogSize): string[][] {
  return KINDS.map(([kind, name]) => [name, count(active[kind]), count(inactive[kind])])
}

function numberColumns(...heads: string[]) {
  return heads.map((head) => ({ head, align: 'right' as const }))
}
