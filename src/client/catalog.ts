import { addToCatalog, removeFromCatalog } from '../features/catalog/change.ts'
import { readNameRedaction } from '../features/privacy/rules.ts'
import { NewLinesSchema, OldLinesSchema } from '../documents/catalog-line.ts'
import { checked } from '../documents/check.ts'
import type { CollabSync, Parts } from './collab-sync.ts'

/** Changes the catalog. */
export function catalogOn({
  database,
  by: requestedBy,
}: Parts): Pick<CollabSync, 'addToCatalog' | 'removeFromCatalog'> {
  const by = (source: string) => ({ source, requestedBy })
  return {
    async addToCatalog(request) {
      const { lines, add } = checked(NewLinesSchema, request, '')
      const options = { ...by('catalog add'), add, redaction: readNameRedaction }
      return addToCatalog(database, lines, options)
    },
    async removeFromCatalog(request) {
      const { lines } = checked(OldLinesSchema, request, '')
      return removeFromCatalog(database, lines, by('catalog remove'))
    },
  }
}
