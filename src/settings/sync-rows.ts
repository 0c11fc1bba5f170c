import { cronPattern, timeZone } from '../documents/schedule.ts'
import { databaseAddress } from './database-address.ts'
import * as parse from './parse.ts'
import { inGroup } from './setting.ts'

const MEBIBYTE = 1024 * 1024

/** How to sync, and what. */
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
    default: 'users,comments',
    meaning: 'What to sync: users,comments or one of them.',
  },
  reportTimeZone: {
    name: 'REPORT_TZ',
    parse: timeZone,
    default: 'UTC',
    meaning:
      'Time zone of the days and weeks of reports. migrate stores it, the same for all processes.',
    example: 'Europe/Berlin',
  },
  commentWrittenMember: {
    name: 'COMMENT_WRITTEN_MEMBER',
    parse: parse.memberPath,
    meaning:
      'Member of a comment that says when it was written, a nested one with dots (meta.createdAt): ISO 8601, epoch seconds or milliseconds, or an object with seconds or _seconds. migrate stores it, the same for all processes. Without it lastUpdated of the first version seen, which is never exact.',
    example: 'createdAt',
  },
  concurrency: {
    name: 'SYNC_CONCURRENCY',
    parse: parse.wholeNumber(1, 1024),
    default: '16',
    meaning: 'Most calls to the service in flight, in one process.',
  },
  rateLimit: {
    name: 'SYNC_RATE_LIMIT',
    parse: parse.decimalNumber(0.1, 100_000),
    meaning:
      'Most calls a second to the service, all processes together: the lowest that a live worker sets holds for all. Without it unlimited.',
    example: '50',
  },
  refreshBudget: {
    name: 'REFRESH_BUDGET',
    parse: parse.callRate,
    meaning:
      'Calls a second (40) or a day (2500000/d) for continuous refresh, all processes together. Without it there is none. migrate stores it, the same for all processes.',
    example: '40',
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
    meaning: 'Further tries of a call that failed.',
  },
  retryAfterMaxMs: {
    name: 'SYNC_RETRY_AFTER_MAX_MS',
    parse: parse.wholeNumber(0, 86_400_000),
    default: '120000',
    meaning: 'Longest wait that a Retry-After of the service can ask for, in milliseconds.',
  },
  throttledMaxMs: {
    name: 'SYNC_THROTTLED_MAX_MS',
    parse: parse.wholeNumber(0, 86_400_000),
    default: '900000',
    meaning:
      'Longest wait for a service that answers every call that it gets too many, or that can no longer be reached, in milliseconds; then what is left of a run fails.',
  },
  maxIds: {
    name: 'SYNC_MAX_IDS',
    parse: parse.wholeNumber(1, 10_000),
    default: '30',
    meaning: 'Most ids in one filter of a call.',
  },
  maxBodyBytes: {
    name: 'SYNC_MAX_BODY_BYTES',
    // A string of V8 ends at 2^29 characters.
    parse: parse.wholeNumber(1024, 500 * MEBIBYTE),
    default: String(64 * MEBIBYTE),
    meaning: 'Largest answer of the service that is read, in bytes; a larger one fails its scope.',
  },
  shrinkLimit: {
    name: 'SYNC_SHRINK_LIMIT',
    parse: parse.share,
    default: '50%',
    meaning:
      'A listing that lost more than this share, and more than ten, at once or within seven days, or everybody at once, is held for a person.',
  },
  heldAcceptAfter: {
    name: 'HELD_ACCEPT_AFTER',
    parse: parse.wholeNumberOrNever(2, 1000),
    default: 'never',
    meaning:
      'Equal answers in so many nightly runs after which a held removal is applied by itself; never: a person decides.',
    example: '7',
  },
  privacyEmail: {
    name: 'PRIVACY_EMAIL',
    parse: parse.oneOf('keep', 'hash', 'drop'),
    default: 'keep',
    meaning:
      "How e-mail addresses are stored: keep, hash (salted with this database's own secret, equal for equal ones), or drop.",
    example: 'hash',
  },
  privacyRaw: {
    name: 'PRIVACY_RAW',
    parse: parse.oneOf('keep', 'drop'),
    default: 'keep',
    meaning: 'Members that the service does not document: keep them in raw, or drop them.',
    example: 'drop',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    parse: parse.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    meaning: 'Least level of what is logged on stderr.',
  },
})

/** The catalog from a query. */
export const CATALOG_ROWS = inGroup('catalog', {
  catalogSql: {
    name: 'CATALOG_SQL',
    parse: parse.text,
    required: true,
    meaning:
      'A query of yours for the catalog, run at the start of a nightly run and by "catalog refresh".',
    example: '"select organization_id, document_id, annotation_id from app.threads"',
  },
  catalogDatabaseUrl: {
    name: 'CATALOG_DATABASE_URL',
    parse: databaseAddress,
    meaning: 'The database that CATALOG_SQL asks. Without it DATABASE_URL.',
    example: 'postgres://reader:secret@app-db.example.com:5432/app',
    secret: true,
  },
  catalogPrune: {
    name: 'CATALOG_PRUNE',
    parse: parse.flag,
    default: '0',
    meaning: '1 deactivates what CATALOG_SQL no longer lists.',
    example: '1',
  },
})
