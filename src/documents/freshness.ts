import * as z from 'zod'
import { text } from './check.ts'
import { PageRequestSchema } from './page.ts'

export const FreshnessSchema = z
  .object({
    scopes: z.number(),
    annotations: z.number(),
    neverChecked: z.number(),
    oldestCheck: z.date().nullable(),
    newestCheck: z.date().nullable(),
  })
  .meta({ id: 'Freshness' })

/** What there is to sync, and when it was last gone through; no time where nothing was ever checked. */
export type Freshness = z.output<typeof FreshnessSchema>

export const OrganizationSchema = FreshnessSchema.extend({
  organizationId: z.string(),
  active: z.boolean(),
  comments: z.number(),
  failing: z.number().describe('Scopes that failed when they were last asked for.'),
  held: z.number(),
}).meta({ id: 'Organization' })

/**
 * How fresh one organization is. It is not `active` where the catalog no longer lists it; `comments` are live ones, `failing`
 * the scopes that failed when they were last asked for, `held` the listings that wait for a person. Its checks are those of
 * its batches: a scope that failed or is held may be older.
 */
export type OrganizationFreshness = z.output<typeof OrganizationSchema>

export const OrganizationsRequestSchema = PageRequestSchema.extend({
  search: text.optional().describe('Only those whose id holds this text.'),
})
