import { NO_CHANGES, ofEachKind, removeScopes } from './catalog-change.ts'
import type { Database } from '../../core/database/pool.ts'
import type { On } from '../../core/database/statement.ts'
import * as catalog from '../../core/database/statements/catalog.ts'
import { CATALOG_NAMES, linesOf } from '../../schemas/catalog-line.ts'
import type { CatalogChanges, CatalogLine } from '../../schemas/catalog-line.ts'
import type { HintScope } from '../../schemas/hint.ts'
import type { Scope } from '../../schemas/scope.ts'
import { notInCatalog, UsageError } from '../../base/errors.ts'
import { importCatalog } from './import.ts'
import type { ImportOptions } from './import.ts'
import { listSource } from './lines.ts'

/** For `sync.catalog_imports`. */
export interface ChangedBy {
  /** For example the command. */
  readonly source: string
  readonly requestedBy: string
}

interface AddOptions extends ChangedBy, Pick<ImportOptions, 'redaction'> {
  readonly add?: boolean | undefined
}

/**
 * Adds all lines to the catalog, or none. If the catalog has them already, nothing is locked or written.
 * @param options.add whether to add missing parents
 * @throws UsageError that names a missing parent, without `add`
 */
export async function addToCatalog(
  database: Database,
  lines: readonly CatalogLine[],
  { add = false, source, requestedBy, redaction }: AddOptions,
): Promise<CatalogChanges> {
  const found = await findLines(database, lines)
  if (!add) for (const { named, place } of found) requireKnown(named.slice(0, -1), place)
  if (found.every(({ place, isNamed }) => place.isStored && isNamed)) return NO_CHANGES
  const options = { prune: null, requestedBy, redaction }
  const done = await importCatalog(database, listSource(source, lines), options)
  return ofEachKind((kind) => done[kind])
}

/**
 * Adds the scope of a run to the catalog, with its parents.
 * @throws UsageError if the scope names no organization
 */
export async function addScope(
  database: Database,
  scope: Scope,
  requestedBy: string,
  source = 'run --add',
): Promise<void> {
  const lines = linesOf(scope)
  if (lines.length === 0)
    throw new UsageError('add needs organizationIds: there is nothing else to add.')
  await addToCatalog(database, lines, { source, requestedBy, add: true })
}

/**
 * Adds the annotation of a hint to the catalog.
 * @throws UsageError if the hint is about a document, because adding a document alone adds no comments to fetch
 */
export async function addHinted(
  database: Database,
  scope: HintScope,
  requestedBy: string,
): Promise<void> {
  if (scope.annotationId === undefined)
    throw new UsageError('add needs an annotation: a document alone has no comments to fetch.')
  await addScope(database, scope, requestedBy, 'hint --add')
}

/**
 * Deactivates lines and everything beneath them. They are no longer fetched, but their rows stay.
 * @throws UsageError that names what the catalog never had; nothing was changed
 */
export async function removeFromCatalog(
  database: Database,
  lines: readonly CatalogLine[],
  by: ChangedBy,
): Promise<CatalogChanges> {
  const keys: Record<(typeof LEVELS)[number]['key'], number[]> = {
    organizationKey: [],
    documentKey: [],
    annotationKey: [],
    userGroupKey: [],
  }
  for (const { named, place } of await findLines(database, lines)) {
    requireKnown(named, place)
    const last = named.at(-1)?.key
    if (last !== undefined) keys[last].push(place[last] as number)
  }
  return removeScopes(database, keys, { ...by, lines: lines.length })
}

/**
 * Whether the catalog has a line, and it is active.
 * @throws UsageError that names what the catalog never had
 */
export async function isActiveLine(database: Database, line: CatalogLine): Promise<boolean> {
  const [found] = await findLines(database, [line])
  if (found === undefined) throw new Error('A line names something.')
  requireKnown(found.named, found.place)
  return found.place.isActive
}

const LEVELS = [
  { member: 'organizationId', key: 'organizationKey', what: 'Organization' },
  { member: 'documentId', key: 'documentKey', what: 'Document' },
  { member: 'annotationId', key: 'annotationKey', what: 'Annotation' },
  { member: 'organizationUserGroupId', key: 'userGroupKey', what: 'User group' },
] as const

async function findLines(on: On, lines: readonly CatalogLine[]) {
  const places = await catalog.findLines.all(on, {
    organizationIds: lines.map(({ organizationId }) => organizationId),
    documentIds: lines.map(({ documentId }) => documentId ?? null),
    annotationIds: lines.map(({ annotationId }) => annotationId ?? null),
    userGroupIds: lines.map(({ organizationUserGroupId }) => organizationUserGroupId ?? null),
  })
  return places.map((place, index) => {
    const line = lines[index]
    /** The IDs of the line, beginning with the organization. */
    const named = LEVELS.flatMap((level) => {
      const id = line?.[level.member]
      return id == null ? [] : [{ ...level, id }]
    })
    /** Whether the catalog has the line's names. */
    const isNamed = CATALOG_NAMES.every(
      (name) => (line?.[name] ?? place[name] ?? '') === (place[name] ?? ''),
    )
    return { named, isNamed, place }
  })
}

type FoundLine = Awaited<ReturnType<typeof findLines>>[number]

/** Prevents that a typing error creates an organization. @throws UsageError that names what the catalog lacks */
function requireKnown(named: FoundLine['named'], place: FoundLine['place']): void {
  const missing = named.find(({ key }) => place[key] === null)
  if (missing !== undefined) throw notInCatalog(missing.what, missing.id)
}
