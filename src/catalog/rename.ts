import { beginCatalogChange, renameScope } from '../database/catalog-change.ts'
import type { Renaming } from '../database/catalog-change.ts'
import { transaction } from '../database/pool.ts'
import type { Database } from '../database/pool.ts'
import type { CatalogLine, Renamed } from '../documents/catalog-line.ts'
import { UsageError } from '../errors.ts'
import { findLines, requireCurrent, requireKnown } from './change.ts'
import type { ChangedBy, FoundLine, Named } from './change.ts'

const KINDS = {
  documentKey: 'document',
  annotationKey: 'annotation',
  userGroupKey: 'user_group',
} as const

/**
 * Gives what a line names another id, within what holds it: all that is stored of it stays with it, answers that were asked
 * under the old id are thrown away, and the old id means it from now on. Again is harmless.
 * @throws UsageError where the catalog lacks it, where there is such an id already, and for an organization; nothing was
 * changed
 */
export async function renameInCatalog(
  database: Database,
  { line, newId }: { readonly line: CatalogLine; readonly newId: string },
  by: ChangedBy,
): Promise<Renamed> {
  return transaction(database, async (client) => {
    await beginCatalogChange(client)
    const [found] = await findLines(client, [line])
    const last = found?.named.at(-1)
    if (found === undefined || last === undefined) throw new Error('A line names something.')
    const renamed = { ...line, [last.member]: newId }
    checkIds(last, newId)
    requireKnown(found.named, found.place)
    requireCurrent(found.named.slice(0, -1))
    if (last.idNow === newId && last.id !== newId) return { line: renamed, rows: 0 }
    requireCurrent(found.named)
    const [other] = await findLines(client, [renamed])
    // Back to an id that it had itself.
    const isBack = other?.place[last.key] === found.place[last.key]
    if (!isBack) requireFree(last, newId, other)
    const rows = await renameScope(client, renamingOf(found.place, last, newId), by)
    return { line: renamed, rows }
  })
}

/**
 * What a line is called now, whether it is asked for, and what of it was named by an id that it had before.
 * @throws UsageError naming what the catalog lacks
 */
export async function showLine(
  database: Database,
  line: CatalogLine,
): Promise<{ line: CatalogLine; active: boolean; renamed: readonly Named[] }> {
  const [found] = await findLines(database, [line])
  if (found === undefined) throw new Error('A line names something.')
  const { named, place } = found
  requireKnown(named, place)
  const now = Object.fromEntries(named.map(({ member, idNow }) => [member, idNow]))
  const renamed = named.filter(({ id, idNow }) => idNow !== id)
  return { line: { ...line, ...now }, active: place.isActive, renamed }
}

function checkIds({ key, what, id }: Named, newId: string): void {
  if (key === 'organizationKey')
    throw new UsageError(
      `Organization ${JSON.stringify(id)} cannot be renamed to ${JSON.stringify(newId)}: readers of another organization must not gain what is stored of it.`,
    )
  if (id === newId) throw cannot(what, id, newId, 'both ids are the same')
}

function requireFree({ key, what, id }: Named, newId: string, other: FoundLine | undefined): void {
  const taken = other?.named.find((each) => each.key === key)
  if (taken === undefined || taken.idNow === null) return
  const holder =
    taken.idNow === newId
      ? `the catalog has ${JSON.stringify(newId)} already`
      : `${JSON.stringify(taken.idNow)} was called so before`
  throw cannot(what, id, newId, holder)
}

function cannot(what: string, id: string, newId: string, why: string): UsageError {
  return new UsageError(
    `${what} ${JSON.stringify(id)} cannot be renamed to ${JSON.stringify(newId)}: ${why}.`,
  )
}

function renamingOf(place: FoundLine['place'], { key: last, id }: Named, newId: string): Renaming {
  const { organizationKey, documentKey } = place
  const parentKey = last === 'annotationKey' ? documentKey : organizationKey
  const key = place[last]
  if (last === 'organizationKey' || key === null || organizationKey === null || parentKey === null)
    throw new Error('It was found.')
  return { kind: KINDS[last], organizationKey, parentKey, key, oldId: id, newId }
}
