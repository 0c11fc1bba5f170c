import { databaseAddress } from './database-address.ts'
import * as parse from './parse.ts'
import { inGroup } from './setting.ts'

/** The service that is read. */
export const SERVICE_ROWS = inGroup('service', {
  collabApiUrl: {
    name: 'COLLAB_API_URL',
    parse: parse.baseAddress,
    required: true,
    meaning: 'Base address of the service.',
    example: 'https://api.example.com',
  },
  apiKey: {
    name: 'COLLAB_API_KEY',
    parse: parse.headerValue,
    required: true,
    meaning: 'Value of the header x-service-api-key. Set this or COLLAB_API_KEY_FILE.',
    example: 'your-api-key',
    secret: true,
  },
  apiKeyFile: {
    name: 'COLLAB_API_KEY_FILE',
    parse: parse.text,
    meaning: 'File that contains the key. It is read again when the service refuses the key.',
    example: '/run/secrets/collab-api-key',
  },
  authToken: {
    name: 'COLLAB_AUTH_TOKEN',
    parse: parse.headerValue,
    required: true,
    meaning: 'Value of the header x-service-auth-token. Set this or COLLAB_AUTH_TOKEN_FILE.',
    example: 'your-auth-token',
    secret: true,
  },
  authTokenFile: {
    name: 'COLLAB_AUTH_TOKEN_FILE',
    parse: parse.text,
    meaning: 'File that contains the token. It is read again when the service refuses the token.',
    example: '/run/secrets/collab-auth-token',
  },
  apiKeyHeader: {
    name: 'COLLAB_API_KEY_HEADER',
    parse: parse.headerName,
    default: 'x-service-api-key',
    meaning: 'Name of the header for the key, if your deployment uses another one.',
  },
  authTokenHeader: {
    name: 'COLLAB_AUTH_TOKEN_HEADER',
    parse: parse.headerName,
    default: 'x-service-auth-token',
    meaning: 'Name of the header for the token, if your deployment uses another one.',
  },
  allowHttp: {
    name: 'COLLAB_ALLOW_HTTP',
    parse: parse.flag,
    default: '0',
    meaning:
      '1 allows http:// to another machine. Key, token and comments then cross the network unencrypted.',
    example: '1',
  },
})

/** Where the tables are. */
export const DATABASE_ROWS = inGroup('database', {
  databaseUrl: {
    name: 'DATABASE_URL',
    parse: databaseAddress,
    meaning:
      'PostgreSQL 14 or newer. If it is not set, collab-sync keeps an embedded PostgreSQL in COLLAB_SYNC_HOME.',
    example: 'postgres://collab:secret@db.example.com:5432/collab',
    secret: true,
  },
  databasePoolSize: {
    name: 'DATABASE_POOL_SIZE',
    parse: parse.wholeNumber(2, 1000),
    default: '12',
    meaning:
      'Maximum number of PostgreSQL connections of one process, not counting those of the queue.',
  },
  home: {
    name: 'COLLAB_SYNC_HOME',
    parse: parse.text,
    default: '.collab-sync/',
    meaning: 'Directory of the embedded PostgreSQL.',
  },
})

/** Where the queue is. */
export const QUEUE_ROWS = inGroup('queue', {
  redisUrl: {
    name: 'REDIS_URL',
    parse: parse.redisAddress,
    meaning: 'Redis for BullMQ. If it is not set, BullMQ keeps its queue in PostgreSQL.',
    example: 'redis://127.0.0.1:6379',
    secret: true,
  },
  queueDatabaseUrl: {
    name: 'QUEUE_DATABASE_URL',
    parse: databaseAddress,
    meaning:
      'Database in which BullMQ keeps its queue if REDIS_URL is not set. Default: DATABASE_URL, or a separate database of the embedded PostgreSQL.',
    example: 'postgres://collab:secret@db.example.com:5432/collab_queue',
    secret: true,
  },
  queuePrefix: {
    name: 'QUEUE_PREFIX',
    parse: parse.keyPrefix,
    default: 'bull',
    meaning: 'Prefix of the queue. Every program that adds jobs needs the same value.',
  },
})
