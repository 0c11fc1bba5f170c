import { addToCatalog, removeFromCatalog } from '../src/features/catalog/change.ts'
import { CatalogJobSchema } from '../src/documents/catalog-line.ts'
import { checked } from '../src/documents/check.ts'
import type { Job } from '../src/worker/worker.ts'

/** A program changes the catalog through the queue (contract.md, "The queue"). Delivered twice, it changes nothing more. */
export const changeCatalogJob: Job = {
  name: 'catalog',
  async perform(app, { data }) {
    const asked = checked(CatalogJobSchema, data, 'data')
    const { database } = app.store
    const by = { source: `catalog ${asked.change}`, requestedBy: asked.requestedBy }
    return asked.change === 'add'
      ? addToCatalog(database, asked.lines, { ...by, add: asked.add })
      : removeFromCatalog(database, asked.lines, by)
  },
}
