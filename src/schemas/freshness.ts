import * as z from 'zod'

const ChecksSchema = z.object({
  scopes: z.number(),
  annotations: z.number(),
  neverChecked: z.number(),
  failing: z.number().describe('Scopes whose last fetch failed.'),
  stale: z
    .number()
    .describe(
      'Scopes that can be out of date: the last fetch failed, or there was no successful check within FRESHNESS_PROMISE or since a full run was stopped.',
    ),
  overdue: z.number().describe('Stale scopes without a successful check within FRESHNESS_PROMISE.'),
  oldestCheck: z.date().nullable(),
  newestCheck: z.date().nullable(),
})

const seconds = z.number().nullable()
const share = z.number().nullable()

const RefreshClassSchema = z.object({
  class: z.number().describe('0 to 6 by how long annotations have been quiet; 7 for every scope.'),
  quietFromS: seconds,
  quietToS: seconds,
  scopes: z.number(),
  polls: z.number().describe('Fetches in the last 24 hours.'),
  calls: z.number(),
  found: z.number().describe('Fetches that found a change.'),
  failed: z.number(),
  share: share.describe('Its share of all fetches.'),
  plannedShare: share.describe('The share that is planned for it now.'),
  polledEveryS: seconds,
  lastFullPass: z.date().nullable(),
})

const DelaysSchema = z.object({
  day: z.string().describe('Day of the changes, in REPORT_TZ.'),
  changes: z.number(),
  undated: z
    .number()
    .describe('Changes without a time: deletions, and edits that did not change lastUpdated.'),
  p50S: seconds,
  p95S: seconds,
  meanS: seconds,
  withinTarget: share.describe(
    'Share of the changes with a time that were noticed within CHANGE_TARGET.',
  ),
})

const RefreshSchema = z
  .object({
    budget: z.number().describe('REFRESH_BUDGET, in calls per second.'),
    used: z.number().nullable().describe('Calls per second in the last full hour.'),
    needed: z.number().describe('Calls per second that FRESHNESS_PROMISE needs.'),
    boundS: z.number().describe('Seconds in which the budget checks every scope.'),
    fault: z
      .string()
      .nullable()
      .describe('Why the budget is too small for FRESHNESS_PROMISE; null if it is sufficient.'),
    targetS: z.number().describe('CHANGE_TARGET in seconds.'),
    pausedSince: z.date().nullable(),
    pausedUntil: z.date().nullable(),
    pauseReason: z.string().nullable(),
    classes: z.array(RefreshClassSchema),
    delays: z.array(DelaysSchema).describe('The last seven final days, newest first.'),
  })
  .nullable()
  .describe('Continuous refresh; null if it is off.')

export type Refresh = NonNullable<z.output<typeof RefreshSchema>>

export const FreshnessSchema = ChecksSchema.extend({
  notTried: z.number().describe('Scopes that were never fetched.'),
  tooOld: z
    .number()
    .describe('Scopes whose last fetch succeeded, but not within FRESHNESS_PROMISE.'),
  uncheckedSinceStop: z
    .number()
    .describe(
      'Scopes checked within FRESHNESS_PROMISE, but not since a full run was stopped, for example because the service refused key or token. Stale scopes are these, tooOld, failing and notTried.',
    ),
  promiseS: z.number().describe('FRESHNESS_PROMISE in seconds.'),
  refresh: RefreshSchema,
}).meta({ id: 'Freshness' })

export type Freshness = z.output<typeof FreshnessSchema>

export const OrganizationSchema = ChecksSchema.extend({
  organizationId: z.string(),
  name: z.string().nullable().describe('Its display name in the catalog.'),
  active: z.boolean(),
  comments: z.number(),
  held: z.number(),
  refused: z.number(),
}).meta({ id: 'Organization' })

/** An organization that is not `active` has no scopes. `comments` are live ones, `held` the listings whose removal is pending approval, `refused` those whose removal was refused. */
export type OrganizationFreshness = z.output<typeof OrganizationSchema>
