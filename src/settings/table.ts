import type * as z from 'zod'
import * as parse from './parse.ts'
import * as parseNotify from './parse-notify.ts'

/** Settings that are read together: those of a group that a command does not need are not even checked. */
export type SettingGroup =
  'service' | 'database' | 'queue' | 'http' | 'sync' | 'catalog' | 'signals' | 'notify'

/** One setting of the environment. */
export interface Setting {
  readonly name: string
  readonly group: SettingGroup
  readonly parse: z.ZodType<unknown, string>
  /** As a person would write it; without one an unset setting has no value. */
  readonly default?: string
  /** Must be set where its group is needed. */
  readonly required?: true
  readonly meaning: string
  readonly example: string
  /** Its value, or a password in it, never appears in a message. */
  readonly secret?: true
}

const MEBIBYTE = 1024 * 1024

/** Every setting of collab-sync, by its member in `Settings`. `.env.example` is made from this table. */
export const SETTINGS = {
  collabApiUrl: {
    name: 'COLLAB_API_URL',
    group: 'service',
    parse: parse.serviceAddress,
    required: true,
    meaning: 'Base address of the service.',
    example: 'https://api.example.com',
  },
  apiKey: {
    name: 'COLLAB_API_KEY',
    group: 'service',
    parse: parse.headerValue,
    required: true,
    meaning: 'Value of the header x-service-api-key.',
    example: 'your-api-key',
    secret: true,
  },
  authToken: {
    name: 'COLLAB_AUTH_TOKEN',
    group: 'service',
    parse: parse.headerValue,
    meaning: 'Value of the header x-service-auth-token. This one or COLLAB_AUTH_TOKEN_FILE.',
    example: 'your-auth-token',
    secret: true,
  },
  authTokenFile: {
    name: 'COLLAB_AUTH_TOKEN_FILE',
    group: 'service',
    parse: parse.text,
    meaning: 'A file that holds the token; it is read again when the service refuses the token.',
    example: '/run/secrets/collab-auth-token',
  },
  apiKeyHeader: {
    name: 'COLLAB_API_KEY_HEADER',
    group: 'service',
    parse: parse.headerName,
    default: 'x-service-api-key',
    meaning: 'Name of the header for the key, for a deployment that names it otherwise.',
    example: 'x-service-api-key',
  },
  authTokenHeader: {
    name: 'COLLAB_AUTH_TOKEN_HEADER',
    group: 'service',
    parse: parse.headerName,
    default: 'x-service-auth-token',
    meaning: 'Name of the header for the token, for a deployment that names it otherwise.',
    example: 'x-service-auth-token',
  },
  allowHttp: {
    name: 'COLLAB_ALLOW_HTTP',
    group: 'service',
    parse: parse.flag,
    default: '0',
    meaning:
      '1 allows http:// to another machine: key, token and comments then cross the network in the clear.',
    example: '1',
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    group: 'database',
    parse: parse.address('postgres', 'postgresql'),
    meaning:
      'PostgreSQL 14 or newer. Without it an embedded PostgreSQL is kept in COLLAB_SYNC_HOME.',
    example: 'postgres://collab:secret@db.example.com:5432/collab',
    secret: true,
  },
  home: {
    name: 'COLLAB_SYNC_HOME',
    group: 'database',
    parse: parse.text,
    default: '.collab-sync/',
    meaning: 'Where the embedded PostgreSQL keeps its files.',
    example: '.collab-sync/',
  },
  redisUrl: {
    name: 'REDIS_URL',
    group: 'queue',
    parse: parse.address('redis', 'rediss'),
    meaning: 'Redis for BullMQ. Without it BullMQ keeps its queue in PostgreSQL.',
    example: 'redis://127.0.0.1:6379',
    secret: true,
  },
  queueDatabaseUrl: {
    name: 'QUEUE_DATABASE_URL',
    group: 'queue',
    parse: parse.address('postgres', 'postgresql'),
    meaning:
      'Where BullMQ keeps its queue without REDIS_URL. Without it DATABASE_URL, or a database beside the embedded one.',
    example: 'postgres://collab:secret@db.example.com:5432/collab_queue',
    secret: true,
  },
  queuePrefix: {
    name: 'QUEUE_PREFIX',
    group: 'queue',
    parse: parse.keyPrefix,
    default: 'bull',
    meaning: 'Prefix of the queue: every program that enqueues needs the same.',
    example: 'bull',
  },
  httpHost: {
    name: 'HTTP_HOST',
    group: 'http',
    parse: parse.hostName,
    default: '127.0.0.1',
    meaning: 'Where `serve` listens; beyond this machine only with HTTP_TOKEN.',
    example: '0.0.0.0',
  },
  httpPort: {
    name: 'HTTP_PORT',
    group: 'http',
    parse: parse.wholeNumber(0, 65_535),
    default: '8080',
    meaning: 'Port of `serve`; 0 takes a free one.',
    example: '8080',
  },
  httpToken: {
    name: 'HTTP_TOKEN',
    group: 'http',
    parse: parse.accessToken,
    meaning:
      'What people and programs show to `serve`, 16 characters or more. Without it this machine alone is served.',
    example: 'the-output-of-openssl-rand-hex-32',
    secret: true,
  },
  cron: {
    name: 'SYNC_CRON',
    group: 'sync',
    parse: parse.cronPattern,
    default: '0 2 * * *',
    meaning: 'When the nightly run starts.',
    example: '0 2 * * *',
  },
  timeZone: {
    name: 'SYNC_TZ',
    group: 'sync',
    parse: parse.timeZone,
    default: 'UTC',
    meaning: 'Time zone of SYNC_CRON.',
    example: 'Europe/Berlin',
  },
  operations: {
    name: 'SYNC_OPERATIONS',
    group: 'sync',
    parse: parse.operations,
    default: 'users,comments',
    meaning: 'What to sync: users,comments or one of them.',
    example: 'users,comments',
  },
  concurrency: {
    name: 'SYNC_CONCURRENCY',
    group: 'sync',
    parse: parse.wholeNumber(1, 1024),
    default: '16',
    meaning: 'Most calls to the service in flight, in one process.',
    example: '16',
  },
  rateLimit: {
    name: 'SYNC_RATE_LIMIT',
    group: 'sync',
    parse: parse.decimalNumber(0.1, 100_000),
    meaning: 'Most calls a second to the service, all processes together. Without it unlimited.',
    example: '50',
  },
  timeoutMs: {
    name: 'SYNC_TIMEOUT_MS',
    group: 'sync',
    parse: parse.wholeNumber(100, 3_600_000),
    default: '30000',
    meaning: 'Time limit of one call, in milliseconds.',
    example: '30000',
  },
  retries: {
    name: 'SYNC_RETRIES',
    group: 'sync',
    parse: parse.wholeNumber(0, 100),
    default: '5',
    meaning: 'Further tries of a call that failed.',
    example: '5',
  },
  retryAfterMaxMs: {
    name: 'SYNC_RETRY_AFTER_MAX_MS',
    group: 'sync',
    parse: parse.wholeNumber(0, 86_400_000),
    default: '120000',
    meaning: 'Longest wait that a Retry-After of the service can ask for, in milliseconds.',
    example: '120000',
  },
  maxIds: {
    name: 'SYNC_MAX_IDS',
    group: 'sync',
    parse: parse.wholeNumber(1, 10_000),
    default: '30',
    meaning: 'Most ids in one filter of a call.',
    example: '30',
  },
  maxBodyBytes: {
    name: 'SYNC_MAX_BODY_BYTES',
    group: 'sync',
    // A string of V8 ends at 2^29 characters.
    parse: parse.wholeNumber(1024, 500 * MEBIBYTE),
    default: String(64 * MEBIBYTE),
    meaning: 'Largest answer of the service that is read, in bytes; a larger one fails its scope.',
    example: String(64 * MEBIBYTE),
  },
  shrinkLimit: {
    name: 'SYNC_SHRINK_LIMIT',
    group: 'sync',
    parse: parse.share,
    default: '50%',
    meaning:
      'A listing of users that loses more than this share at once is held for a person to accept.',
    example: '50%',
  },
  catalogSql: {
    name: 'CATALOG_SQL',
    group: 'catalog',
    parse: parse.text,
    required: true,
    meaning:
      'A query of yours for the catalog, run at the start of a nightly run and by "catalog refresh".',
    example: '"select organization_id, document_id, annotation_id from app.threads"',
  },
  catalogDatabaseUrl: {
    name: 'CATALOG_DATABASE_URL',
    group: 'catalog',
    parse: parse.address('postgres', 'postgresql'),
    meaning: 'The database that CATALOG_SQL asks. Without it DATABASE_URL.',
    example: 'postgres://reader:secret@app-db.example.com:5432/app',
    secret: true,
  },
  catalogPrune: {
    name: 'CATALOG_PRUNE',
    group: 'catalog',
    parse: parse.flag,
    default: '0',
    meaning: '1 deactivates what CATALOG_SQL no longer lists.',
    example: '1',
  },
  privacyEmail: {
    name: 'PRIVACY_EMAIL',
    group: 'sync',
    parse: parse.oneOf('keep', 'hash', 'drop'),
    default: 'keep',
    meaning:
      "How e-mail addresses are stored: keep, hash (salted with this database's own secret, equal for equal ones), or drop.",
    example: 'hash',
  },
  privacyRaw: {
    name: 'PRIVACY_RAW',
    group: 'sync',
    parse: parse.oneOf('keep', 'drop'),
    default: 'keep',
    meaning: 'Members that the service does not document: keep them in raw, or drop them.',
    example: 'drop',
  },
  metricsPort: {
    name: 'METRICS_PORT',
    group: 'signals',
    parse: parse.wholeNumber(0, 65_535),
    meaning:
      'Port on which a worker serves its own /metrics for Prometheus; 0 takes a free one. Without it none.',
    example: '9464',
  },
  metricsHost: {
    name: 'METRICS_HOST',
    group: 'signals',
    parse: parse.hostName,
    default: '127.0.0.1',
    meaning:
      'Where a worker listens on METRICS_PORT. Its numbers ask for no token: let nobody but Prometheus reach it.',
    example: '0.0.0.0',
  },
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    group: 'signals',
    parse: parse.address('http', 'https'),
    meaning:
      'Base address of an OpenTelemetry collector (OTLP over HTTP), to which traces of runs go. Without it none are made.',
    example: 'http://127.0.0.1:4318',
  },
  otlpTracesEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    group: 'signals',
    parse: parse.address('http', 'https'),
    meaning: 'The full address for traces, where it is not the base address and /v1/traces.',
    example: 'http://127.0.0.1:4318/v1/traces',
  },
  otelServiceName: {
    name: 'OTEL_SERVICE_NAME',
    group: 'signals',
    parse: parse.text,
    default: 'collab-sync',
    meaning: 'What traces call this program.',
    example: 'collab-sync',
  },
  notifyUrls: {
    name: 'NOTIFY_URL',
    group: 'notify',
    parse: parseNotify.receivers,
    meaning:
      'Who is told when something needs a person, and when it is well again: addresses that take a POST, with spaces between; slack+https:// and teams+https:// for these two. The same for all workers.',
    example:
      'https://alerts.example.com/collab slack+https://hooks.slack.com/services/T0/B0/secret',
    secret: true,
  },
  notifySecret: {
    name: 'NOTIFY_SECRET',
    group: 'notify',
    parse: parseNotify.signingSecret,
    meaning:
      'What messages to NOTIFY_URL are signed with (Standard Webhooks): whsec_ and the output of openssl rand -base64 32.',
    example: 'whsec_bm90IGEgc2VjcmV0IGJ1dCBhbiBleGFtcGxlIQ==',
    secret: true,
  },
  freshnessPromiseMs: {
    name: 'FRESHNESS_PROMISE',
    group: 'notify',
    parse: parseNotify.duration,
    default: '26h',
    meaning: 'How old what is stored may get before somebody is told, such as 26h or 2d.',
    example: '26h',
  },
  nightlyLateAfterMs: {
    name: 'NIGHTLY_LATE_AFTER',
    group: 'notify',
    parse: parseNotify.duration,
    default: '30m',
    meaning:
      'How long after its time a nightly run may begin, and how far beyond half as long again as usual it may take, before somebody is told.',
    example: '30m',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    group: 'sync',
    parse: parse.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    meaning: 'Least level of what is logged on stderr.',
    example: 'info',
  },
} as const satisfies Record<string, Setting>

type Table = typeof SETTINGS
type Member = keyof Table
type Defaulted = { [M in Member]: Table[M] extends { default: string } ? M : never }[Member]

/** What the settings say, in plain values. A member without a default is missing where it is unset. */
export type Settings = { [M in Defaulted]: z.output<Table[M]['parse']> } & {
  [M in Exclude<Member, Defaulted>]?: z.output<Table[M]['parse']>
}

/** The table's rows with their members, in its order. */
export const SETTING_LIST: readonly { member: Member; setting: Setting }[] = (
  Object.keys(SETTINGS) as Member[]
).map((member) => ({ member, setting: SETTINGS[member] }))
