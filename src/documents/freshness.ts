import * as z from 'zod'
import { text } from './check.ts'
import { PageRequestSchema } from './page.ts'

const ChecksSchema = z.object({
  scopes: z.number(),
  annotations: z.number(),
  neverChecked: z.number(),
  failing: z.number().describe('Scopes that failed when they were last asked for.'),
  stale: z
    .number()
    .describe(
      'Scopes that may be out of date: the last try failed, never checked well, or longer ago than FRESHNESS_PROMISE allows.',
    ),
  overdue: z
    .number()
    .describe('Of the stale ones, those without a good check for longer than FRESHNESS_PROMISE.'),
  oldestCheck: z.date().nullable(),
  newestCheck: z.date().nullable(),
})

export const FreshnessSchema = ChecksSchema.extend({
  promiseS: z.number().describe('FRESHNESS_PROMISE in seconds.'),
}).meta({ id: 'Freshness' })

/** What there is to sync, and when it was last checked well; no time where nothing ever was. */
export type Freshness = z.output<typeof FreshnessSchema>

export const OrganizationSchema = ChecksSchema.extend({
  organizationId: z.string(),
  active: z.boolean(),
  comments: z.number(),
  held: z.number(),
}).meta({ id: 'Organization' })

/**
 * How fresh one organization is. It is not `active` where the catalog no longer lists it, and has no scopes then; `comments`
 * are live ones, `held` the listings that wait for a person.
 */
export type OrganizationFreshness = z.output<typeof OrganizationSchema>

export const OrganizationsRequestSchema = PageRequestSchema.extend({
  search: text.optional().describe('Only those whose id holds this text.'),
})
