import { addToCatalog, isActiveLine, removeFromCatalog } from '../../features/catalog/change.ts'
import { readNameRedaction } from '../../features/privacy/rules.ts'
import type { ChangedBy } from '../../features/catalog/change.ts'
import { listCatalog } from '../../client/listings.ts'
import type { Database } from '../../core/database/pool.ts'
import { linesOf } from '../../schemas/catalog-line.ts'
import type { CatalogChanges, CatalogEntry, CatalogLine } from '../../schemas/catalog-line.ts'
import type { Columns } from '../../schemas/columns.ts'
import { UsageError } from '../../base/errors.ts'
import { note, print, printJson } from '../output.ts'
import { table } from '../table.ts'
import { scopeOf } from '../requested-scope.ts'
import type { ScopeOptions } from '../scope-options.ts'
import { withTables } from '../with-store.ts'
import type { Command } from '../with-store.ts'
import { changeColumns, KINDS } from './catalog.ts'
import { processUser } from '../../base/process-user.ts'

type LineOptions = Pick<ScopeOptions, 'organization' | 'document' | 'annotation' | 'group'> & {
  readonly json?: boolean
}

/** `collab-sync catalog add`. */
export async function catalogAdd({
  add,
  name,
  ...options
}: LineOptions & { readonly add?: boolean; readonly name?: string }): Promise<number> {
  if (name !== undefined && lineOf(options).annotationId !== undefined)
    throw new UsageError('--name is of an organization, document or user group.')
  return change({ name: 'catalog add', creates: true }, options, (database, lines, by) =>
    addToCatalog(database, name === undefined ? lines : lines.map((line) => named(line, name)), {
      ...by,
      add,
      redaction: readNameRedaction,
    }),
  )
}

function named(line: CatalogLine, name: string): CatalogLine {
  if (line.organizationUserGroupId !== undefined)
    return { ...line, organizationUserGroupName: name }
  return line.documentId === undefined
    ? { ...line, organizationName: name }
    : { ...line, documentName: name }
}

/** `collab-sync catalog remove`. */
export async function catalogRemove(options: LineOptions): Promise<number> {
  return change({ name: 'catalog remove' }, options, removeFromCatalog)
}

/** `collab-sync catalog show` of one thing: whether it is active. */
export async function catalogShowLine({ json, ...options }: LineOptions): Promise<number> {
  const line = lineOf(options)
  return withTables({ name: 'catalog show' }, async ({ database }) => {
    const active = await isActiveLine(database, line)
    if (json) printJson({ ...line, active })
    else print(active ? 'It is in the catalog.' : 'It is inactive: it is not fetched any more.')
  })
}

/** @throws UsageError if the options name several things */
function lineOf(options: LineOptions): CatalogLine {
  const [line, ...more] = linesOf(scopeOf(options))
  if (line === undefined || more.length > 0)
    throw new UsageError('Name one organization, document, annotation or user group.')
  return line
}

async function change(
  command: Command,
  { json, ...options }: LineOptions,
  work: (database: Database, lines: CatalogLine[], by: ChangedBy) => Promise<CatalogChanges>,
): Promise<number> {
  const lines = linesOf(scopeOf(options))
  return withTables(command, async ({ database }) => {
    const by = { source: command.name, requestedBy: processUser() }
    const changes = await work(database, lines, by)
    if (json) return printJson(changes)
    const changed = KINDS.filter(([kind]) => Object.values(changes[kind]).some((rows) => rows > 0))
    print(changed.length === 0 ? 'Nothing to change.' : table(changeColumns(changes), changed))
  })
}

/** `collab-sync catalog list`: the contents of a document or an organization, or all organizations. */
export async function catalogList(options: {
  readonly organization?: string
  readonly document?: string
  readonly limit: number
  readonly cursor?: string
  readonly json?: boolean
}): Promise<number> {
  const { organization: organizationId, document: documentId, limit, cursor, json } = options
  return withTables({ name: 'catalog list' }, async (store) => {
    const page = await listCatalog(store, { limit, organizationId, documentId, cursor })
    if (json) return printJson(page)
    print(page.items.length === 0 ? 'No entries.' : table(ENTRY_COLUMNS, page.items))
    if (page.nextCursor !== null) note(`Next page: --cursor ${page.nextCursor}`)
  })
}

const ENTRY_COLUMNS: Columns<CatalogEntry> = [
  ['', (entry) => ownOf(entry)[0]],
  ['ID', (entry) => ownOf(entry)[1], 'id', 200],
  ['name', (entry) => ownOf(entry)[2], 'id', 200],
  ['last good check', ({ checkedAt }) => checkedAt ?? 'never'],
  ['', ({ active }) => (active ? null : { tone: 'warn', text: 'inactive' })],
]

function ownOf(entry: CatalogEntry): [kind: string, id: string, name: string | null] {
  const { organizationId, documentId, annotationId, organizationUserGroupId: groupId } = entry
  if (groupId !== null) return ['user group', groupId, entry.organizationUserGroupName]
  if (annotationId !== null) return ['annotation', annotationId, null]
  if (documentId !== null) return ['document', documentId, entry.documentName]
  return ['organization', organizationId, entry.organizationName]
}
