import * as z from 'zod'

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

const seconds = z.number().nullable()
const share = z.number().nullable()

const RefreshClassSchema = z.object({
  class: z.number().describe('0 to 6 by how long threads have been quiet; 7 for every scope.'),
  quietFromS: seconds,
  quietToS: seconds,
  threads: z.number(),
  looks: z.number().describe('Scopes asked for in the last 24 hours.'),
  calls: z.number(),
  found: z.number().describe('Of the looks, those that found a change.'),
  failed: z.number(),
  share: share.describe('Its part of all looks.'),
  plannedShare: share.describe('The part that is planned for it now.'),
  lookedAtEveryS: seconds,
  wholeSince: z.date().nullable(),
})

const DelaysSchema = z.object({
  day: z.string().describe('Day of the changes, in REPORT_TZ.'),
  changes: z.number(),
  undated: z
    .number()
    .describe('Of them, those without a time: deletions, and edits that kept lastUpdated.'),
  p50S: seconds,
  p95S: seconds,
  meanS: seconds,
  withinTarget: share.describe('The part of those with a time that was seen within the target.'),
})

const RefreshSchema = z
  .object({
    budget: z.number().describe('REFRESH_BUDGET, in calls a second.'),
    used: z.number().nullable().describe('Calls a second in the last whole hour.'),
    needed: z.number().describe('Calls a second that FRESHNESS_PROMISE needs.'),
    boundS: z.number().describe('Within how many seconds the budget looks at everything.'),
    fault: z
      .string()
      .nullable()
      .describe('Why the budget cannot keep the promise; null where it can.'),
    targetS: z.number().describe('CHANGE_TARGET in seconds.'),
    pausedSince: z.date().nullable(),
    pausedUntil: z.date().nullable(),
    pauseReason: z.string().nullable(),
    classes: z.array(RefreshClassSchema),
    delays: z
      .array(DelaysSchema)
      .describe('Of the last seven days that are final, the newest first.'),
  })
  .nullable()
  .describe('Continuous refresh; null where there is none.')

/** What continuous refresh does, and how long changes take to be seen. */
export type Refresh = NonNullable<z.output<typeof RefreshSchema>>

export const FreshnessSchema = ChecksSchema.extend({
  notTried: z
    .number()
    .describe(
      'Of those never checked, the ones that are not failing: no call was made for them yet.',
    ),
  promiseS: z.number().describe('FRESHNESS_PROMISE in seconds.'),
  refresh: RefreshSchema,
}).meta({ id: 'Freshness' })

/** What there is to sync, and when it was last checked well; no time where nothing ever was. */
export type Freshness = z.output<typeof FreshnessSchema>

export const OrganizationSchema = ChecksSchema.extend({
  organizationId: z.string(),
  name: z.string().nullable().describe('Its name for people, from the catalog.'),
  active: z.boolean(),
  comments: z.number(),
  held: z.number(),
}).meta({ id: 'Organization' })

/**
 * How fresh one organization is. It is not `active` where the catalog no longer lists it, and has no scopes then; `comments`
 * are live ones, `held` the listings that wait for a person.
 */
export type OrganizationFreshness = z.output<typeof OrganizationSchema>
