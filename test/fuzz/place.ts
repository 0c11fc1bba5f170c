import { openApp } from '../../src/worker/app.ts'
import type { App } from '../../src/worker/app.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import type { Scope } from '../../src/schemas/scope.ts'
import { createLog } from '../../src/base/log.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { runDirectly } from '../helpers/direct-run.ts'

/** The program on one database, with its runs worked off in this process. */
export interface Program {
  readonly app: App
  readonly database: Database
  /** One run to its end, a nightly one of everything when left out. @throws EndlessRunError where it has none */
  run(scope?: Scope): Promise<string>
  close(): Promise<void>
}

export async function openProgram(
  databaseUrl: string,
  serviceUrl: string,
  overrides: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const environment = {
    COLLAB_API_URL: serviceUrl,
    COLLAB_API_KEY: 'fuzz-key',
    COLLAB_AUTH_TOKEN: 'fuzz-token',
    DATABASE_URL: databaseUrl,
    // A further try would get the same answer.
    SYNC_RETRIES: '0',
    SYNC_CONCURRENCY: '32',
    LOG_LEVEL: process.env['FUZZ_LOG_LEVEL'] ?? 'silent',
    ...overrides,
  }
  const settings = readSettings(environment, {
    need: ['service', 'database', 'queue'],
    directory: '/nonexistent',
  })
  const database = openDatabase(databaseUrl, { max: 5 })
  const queuePlace = { kind: 'postgres', url: databaseUrl } as const
  const store = { databaseUrl, database, isNew: false, isEmbedded: false, queuePlace }
  const app = await openApp(
    settings,
    { ...store, close: async () => {} },
    createLog(settings.logLevel),
  )
  return {
    app,
    database,
    run: (scope) =>
      runDirectly(app, {
        trigger: scope === undefined ? 'schedule' : 'cli',
        scope: parseScope(scope),
        requestKey: null,
      }),
    async close() {
      await app.close()
      await database.end()
    },
  }
}
