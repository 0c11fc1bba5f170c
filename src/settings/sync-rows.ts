import { OPERATION_NAMES, OPERATIONS } from '../base/operations.ts'
import { cronPattern, timeZone } from '../schemas/schedule.ts'
import { databaseAddress } from './database-address.ts'
import * as parse from './parse.ts'
import { inGroup } from './setting.ts'

const MEBIBYTE = 1024 * 1024
const RECORDS = OPERATION_NAMES.map((operation) => `${OPERATIONS[operation].record}.`)

/** When and how runs call the service. */
export const SYNC_ROWS = inGroup('sync', {
  cron: {
    name: 'SYNC_CRON',
    parse: cronPattern,
    default: '0 2 * * *',
    meaning: 'When the nightly run starts.',
  },
  timeZone: {
    name: 'SYNC_TZ',
    parse: timeZone,
    default: 'UTC',
    meaning: 'Time zone of SYNC_CRON.',
    example: 'Europe/Berlin',
  },
  operations: {
    name: 'SYNC_OPERATIONS',
    parse: parse.operations,
    default: OPERATION_NAMES.join(','),
    meaning:
      'What to sync: one or more operations, with commas between. migrate stores it; it must be the same for all processes.',
  },
  concurrency: {
    name: 'SYNC_CONCURRENCY',
    parse: parse.wholeNumber(1, 1024),
    default: '16',
    meaning: 'Maximum number of calls in flight to the service, for each process.',
  },
  rateLimit: {
    name: 'SYNC_RATE_LIMIT',
    parse: parse.decimalNumber(0.1, 100_000),
    meaning:
      'Maximum number of calls a second to the service, for all processes together. The lowest value of a running worker applies to all. Default: no limit.',
    example: '50',
  },
  timeoutMs: {
    name: 'SYNC_TIMEOUT_MS',
    parse: parse.wholeNumber(100, 3_600_000),
    default: '30000',
    meaning: 'Time limit of one call, in milliseconds.',
  },
  retries: {
    name: 'SYNC_RETRIES',
    parse: parse.wholeNumber(0, 100),
    default: '5',
    meaning: 'Retries of a failed call.',
  },
  throttledMaxMs: {
    name: 'SYNC_THROTTLED_MAX_MS',
    parse: parse.wholeNumber(0, 86_400_000),
    default: '900000',
    meaning:
      'How long calls wait for a service that throttles every call or became unreachable, in milliseconds. After that, scopes are skipped until a call succeeds (throttled), or the run fails (unreachable).',
  },
  maxIds: {
    name: 'SYNC_MAX_IDS',
    parse: parse.wholeNumber(1, 10_000),
    default: '30',
    meaning: 'Maximum number of IDs in one filter of a call.',
  },
  maxBodyBytes: {
    name: 'SYNC_MAX_BODY_BYTES',
    // A string of V8 ends at 2^29 characters.
    parse: parse.wholeNumber(1024, 500 * MEBIBYTE),
    default: String(64 * MEBIBYTE),
    meaning: 'Largest response of the service, in bytes. A scope with a larger response fails.',
  },
  shrinkLimit: {
    name: 'SYNC_SHRINK_LIMIT',
    parse: parse.share,
    default: '50%',
    meaning:
      'A listing that lost more than this share and more than ten users, at once or within seven days, or all users at once, is held for approval.',
  },
  heldAcceptAfter: {
    name: 'HELD_ACCEPT_AFTER',
    parse: parse.wholeNumberOrNever(2, 1000),
    default: 'never',
    meaning:
      'Number of nightly runs with the same listing after which a held removal is applied automatically. never: a user decides.',
    example: '7',
  },
})

/** How old data may be, and the calls for it. */
export const REFRESH_ROWS = inGroup('refresh', {
  refreshBudget: {
    name: 'REFRESH_BUDGET',
    parse: parse.callRate,
    meaning:
      'Calls a second (40) or a day (2500000/d) for continuous refresh, for all processes together. If it is not set, there is no refresh. migrate stores it; it must be the same for all processes.',
    example: '40',
  },
  freshnessPromiseMs: {
    name: 'FRESHNESS_PROMISE',
    parse: parse.duration,
    default: '26h',
    meaning:
      'Maximum age of the last valid response of each scope, such as 75s, 26h or 7d. Older scopes are stale and are reported. migrate stores it; it must be the same for all processes.',
  },
  changeTargetMs: {
    name: 'CHANGE_TARGET',
    parse: parse.duration,
    default: '1h',
    meaning:
      'Time within which a change should be stored; used in reports only. migrate stores it; it must be the same for all processes.',
  },
})

/** Times in reports. */
export const REPORT_ROWS = inGroup('reports', {
  reportTimeZone: {
    name: 'REPORT_TZ',
    parse: timeZone,
    default: 'UTC',
    meaning:
      'Time zone of the days and weeks of reports. migrate stores it; it must be the same for all processes.',
    example: 'Europe/Berlin',
  },
  commentWrittenMember: {
    name: 'COMMENT_WRITTEN_MEMBER',
    parse: parse.memberPath,
    meaning:
      'Field of a comment that contains the time at which it was written, a nested one with dots (meta.createdAt): ISO 8601, epoch seconds or milliseconds, or an object with seconds or _seconds. migrate stores it; it must be the same for all processes. Without it, lastUpdated of the first version seen, which is never exact.',
    example: 'createdAt',
  },
})

/** What is stored, and for how long. */
export const PRIVACY_ROWS = inGroup('privacy', {
  privacyEmail: {
    name: 'PRIVACY_EMAIL',
    parse: parse.oneOf('keep', 'hash', 'drop'),
    default: 'keep',
    meaning:
      'How email addresses are stored: keep, hash (salted with a secret of this database; equal addresses have equal hashes) or drop. migrate stores it; it must be the same for all processes.',
    example: 'hash',
  },
  privacyRaw: {
    name: 'PRIVACY_RAW',
    parse: parse.oneOf('keep', 'drop'),
    default: 'keep',
    meaning:
      'Fields that the service does not document: keep stores them in raw, drop does not store them. migrate stores it; it must be the same for all processes.',
    example: 'drop',
  },
  privacyExclude: {
    name: 'PRIVACY_EXCLUDE',
    parse: parse.memberPaths,
    meaning: `Fields that are neither stored nor compared: ${RECORDS.join(' or ')} and a path as reporting.observed_members shows it, with spaces between. Documented fields are refused. migrate stores it; it must be the same for all processes.`,
    example: '"comment.from.photoUrl comment.attachments[].url user.photoUrl"',
  },
  pruneOlderThanMs: {
    name: 'PRUNE_OLDER_THAN',
    parse: parse.retention,
    meaning:
      'Age, such as 400d or 60w and at least 30d, from which history is deleted. After it has started a nightly run, the worker deletes what `prune --older-than` with this age deletes. If it is not set, nothing is deleted because of its age. Set the same value for all workers.',
    example: '400d',
  },
})

/** The catalog from a query. */
export const CATALOG_ROWS = inGroup('catalog', {
  catalogSql: {
    name: 'CATALOG_SQL',
    parse: parse.text,
    required: true,
    meaning:
      'A query on your database that returns the catalog. Nightly runs and "catalog refresh" run it.',
    example: '"select organization_id, document_id, annotation_id from app.threads"',
  },
  catalogDatabaseUrl: {
    name: 'CATALOG_DATABASE_URL',
    parse: databaseAddress,
    meaning: 'Database on which CATALOG_SQL runs. Default: DATABASE_URL.',
    example: 'postgres://reader:secret@app-db.example.com:5432/app',
    secret: true,
  },
  catalogPrune: {
    name: 'CATALOG_PRUNE',
    parse: parse.flag,
    default: '0',
    meaning: '1 deactivates scopes that CATALOG_SQL no longer returns.',
    example: '1',
  },
})
