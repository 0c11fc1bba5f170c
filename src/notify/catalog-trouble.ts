import type { RowOf } from '../database/statement.ts'
import type * as catalog from '../database/statements/catalog.ts'
import { count, counted } from '../format.ts'

/** How much an import lacks. */
type Lacking = Pick<
  RowOf<typeof catalog.troubles>,
  'scopes' | 'lacking' | 'organizations' | 'firstOrganizationId'
>

/** What an import lacks, as a sentence. */
export function describeLacking(source: string, held: Lacking): string {
  const { scopes, lacking, organizations, firstOrganizationId } = held
  const whole = `Of the ${counted(scopes ?? 0, 'scope')} that the catalog has, ${source} lacks ${count(lacking ?? 0)}`
  if (!organizations) return `${whole}.`
  const first = JSON.stringify(firstOrganizationId)
  return organizations === 1
    ? `${whole}: more than a tenth of organization ${first}.`
    : `${whole}: more than a tenth of each of ${count(organizations)} organizations, of ${first} the most.`
}

/** What keeps the catalog from being as its sources say. */
export type CatalogTrouble = Pick<RowOf<typeof catalog.troubles>, 'state' | 'source' | 'problem'> &
  Lacking

/** A trouble with the catalog, in a sentence or two. */
export function describeTrouble(trouble: CatalogTrouble): string {
  return trouble.state === 'held'
    ? `An import of the catalog is held, nothing was changed. ${describeLacking(trouble.source, trouble)}`
    : `The catalog is as it was: ${trouble.problem}`
}
