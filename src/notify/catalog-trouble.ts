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
export type CatalogTrouble = RowOf<typeof catalog.troubles>

/** A trouble with the catalog, in a sentence or two. */
export function describeTrouble(trouble: CatalogTrouble): string {
  const { state, source, problem, importId } = trouble
  if (state === 'failed') return `The catalog is as it was: ${problem}`
  const lacking = describeLacking(source, trouble)
  return state === 'held'
    ? `Import ${importId} of the catalog is held, nothing was changed. ${lacking}`
    : `The catalog is as it was: an import came again that was refused. ${lacking}`
}

/** What there is to do about it, as a command. */
export function mendTrouble({ state, importId }: CatalogTrouble): string {
  return state === 'held'
    ? `\`collab-sync accept --catalog ${importId}\`, or \`refuse --catalog ${importId}\`.`
    : '`collab-sync catalog refresh` tries again.'
}
