import * as parse from './parse.ts'
import type { Setting } from './setting.ts'

/** Where the tables and the queue are. */
export const STORE_ROWS = {
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
} as const satisfies Record<string, Setting>
