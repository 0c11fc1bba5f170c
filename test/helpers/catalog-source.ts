import type { CatalogLine } from '../../src/demo/catalog.ts'
import type { CatalogSource } from '../../src/features/catalog/lines.ts'

/** Lines for `importCatalog`, numbered as they come. */
export function catalogSource(lines: Iterable<CatalogLine>): CatalogSource {
  return {
    name: 'world',
    unit: 'line',
    async *lines() {
      let number = 0
      for (const line of lines) yield { number: ++number, line }
    },
  }
}
