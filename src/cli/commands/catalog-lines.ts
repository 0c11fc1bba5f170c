import { addToCatalog, isActiveLine, removeFromCatalog } from '../../features/catalog/change.ts'
import type { ChangedBy } from '../../features/catalog/change.ts'
import { listCatalog } from '../../client/listings.ts'
import type { Database } from '../../core/database/pool.ts'
import { linesOf } from '../../documents/catalog-line.ts'
import type { CatalogChanges, CatalogEntry, CatalogLine } from '../../documents/catalog-line.ts'
import { UsageError } from '../../base/errors.ts'
import { count, time } from '../../documents/format.ts'
import { note, paint, print, printJson } from '../output.ts'
import { numberColumns, table } from '../table.ts'
import { scopeOf } from '../requested-scope.ts'
import type { ScopeOptions } from '../scope-options.ts'
import { withTables } from '../with-store.ts'
import type { Command } from '../with-store.ts'
import { KINDS } from './catalog.ts'
import { processUser } from '../../base/process-user.ts'

type LineOptions = Pick<ScopeOptions, 'organization' | 'document' | 'annotation' | 'group'> & {
  readonly json?: boolean
}

/** `collab-sync catalog add`. */
export async function catalogAdd({
  add,
  ...options
}: LineOptions & { readonly add?: boolean }): Promise<number> {
  return change({ name: 'catalog add', creates: true }, options, (database, lines, by) =>
    addToCatalog(database, lines, { ...by, add }),
  )
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
    if (json) printJson(changes)
    else print(describeChanges(changes))
  })
}

function describeChanges(changes: CatalogChanges): string {
  const rows = KINDS.flatMap(([kind, name]) => {
    const { added, reactivated, deactivated } = changes[kind]
    const counts = [added, reactivated, deactivated]
    return counts.some((each) => each > 0) ? [[name, ...counts.map(count)]] : []
  })
  if (rows.length === 0) return 'Nothing to change.'
  return table(['', ...numberColumns('added', 'reactivated', 'deactivated')], rows)
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
    const page = await listCatalog(store, {
      limit,
      ...(organizationId !== undefined && { organizationId }),
      ...(documentId !== undefined && { documentId }),
      ...(cursor !== undefined && { cursor }),
    })
    if (json) return printJson(page)
    const columns = ['', 'id', 'name', 'last good check', '']
    print(page.items.length === 0 ? 'No entries.' : table(columns, page.items.map(rowOf)))
    if (page.nextCursor !== null) note(`Next page: --cursor ${page.nextCursor}`)
  })
}

function rowOf(entry: CatalogEntry): string[] {
  const { organizationId, documentId, annotationId, organizationUserGroupId: groupId } = entry
  const [kind, id, name] =
    groupId !== null
      ? ['user group', groupId, entry.organizationUserGroupName]
      : annotationId !== null
        ? ['annotation', annotationId, null]
        : documentId !== null
          ? ['document', documentId, entry.documentName]
          : ['organization', organizationId, entry.organizationName]
  const checked = entry.checkedAt === null ? paint.dim('never') : time(entry.checkedAt)
  return [kind, id, name ?? '', checked, entry.active ? '' : paint.yellow('inactive')]
}
