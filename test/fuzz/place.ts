import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { openApp } from '../../src/worker/app.ts'
import type { App } from '../../src/worker/app.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { parseScope } from '../../src/documents/scope.ts'
import type { Scope as RunScope } from '../../src/documents/scope.ts'
import { createLog } from '../../src/base/log.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { runDirectly } from '../helpers/direct-run.ts'

/** How many of each a database has. */
export interface Layout {
  readonly organizations: number
  readonly documents: number
  readonly annotations: number
  readonly groups: number
}

/** A scope of the catalog. */
export interface Scope {
  readonly kind: 'organization' | 'group' | 'document' | 'annotation'
  readonly organizationId: string
  readonly documentId: string | null
  readonly annotationId: string | null
  readonly groupId: string | null
}

/** Every scope of a layout. */
export function* scopesOf(layout: Layout): Generator<Scope> {
  for (let o = 0; o < layout.organizations; o++) {
    const own = { organizationId: `o${o}`, documentId: null, annotationId: null, groupId: null }
    yield { kind: 'organization', ...own }
    for (let g = 0; g < layout.groups; g++) yield { kind: 'group', ...own, groupId: `g${g}` }
    for (let d = 0; d < layout.documents; d++) {
      const document = { ...own, documentId: `d${o}-${d}` }
      yield { kind: 'document', ...document }
      for (let a = 0; a < layout.annotations; a++)
        yield { kind: 'annotation', ...document, annotationId: `a${o}-${d}-${a}` }
    }
  }
}

/** Databases with one catalog, copied from one that is made once. */
export class Databases {
  readonly #server: string
  readonly #prefix: string
  readonly #template: string
  readonly #names = new Set<string>()

  private constructor(server: string, prefix: string) {
    this.#server = server
    this.#prefix = prefix
    this.#template = nameOf(prefix, 'template')
    this.#names.add(this.#template)
  }

  /**
   * @param server URL of a database of the server, by a role that may create others
   * @param prefix begins their names; a test gives that of its run
   */
  static async open(server: string, layout: Layout, prefix = 'cs_fuzz'): Promise<Databases> {
    const databases = new Databases(server, prefix)
    await databases.#ask(`create database ${databases.#template}`)
    const url = databases.#urlOf(databases.#template)
    await migrate(url)
    const pool = openDatabase(url, { max: 2 })
    await importCatalog(pool, linesOf(layout), { prune: false })
    await pool.end()
    return databases
  }

  async create(): Promise<string> {
    const name = nameOf(this.#prefix, 'run')
    this.#names.add(name)
    await this.#ask(`create database ${name} template ${this.#template}`)
    // Nothing here outlives a crash anyway.
    await this.#ask(`alter database ${name} set synchronous_commit = off`)
    return this.#urlOf(name)
  }

  async drop(url: string): Promise<void> {
    const name = new URL(url).pathname.slice(1)
    await this.#ask(`drop database if exists ${name} with (force)`)
    this.#names.delete(name)
  }

  async close(): Promise<void> {
    for (const name of this.#names) await this.drop(this.#urlOf(name))
  }

  #urlOf(name: string): string {
    return Object.assign(new URL(this.#server), { pathname: `/${name}` }).href
  }

  async #ask(text: string): Promise<void> {
    const client = new pg.Client(this.#server)
    await client.connect()
    try {
      await client.query(text)
    } finally {
      await client.end()
    }
  }
}

function nameOf(prefix: string, what: string): string {
  return `${prefix}_${what}_${randomBytes(5).toString('hex')}`
}

function linesOf(layout: Layout) {
  return {
    name: 'fuzz',
    unit: 'line' as const,
    async *lines() {
      let number = 0
      for (const { organizationId, documentId, annotationId, groupId } of scopesOf(layout)) {
        const line = {
          organizationId,
          ...(documentId === null ? {} : { documentId }),
          ...(annotationId === null ? {} : { annotationId }),
          ...(groupId === null ? {} : { organizationUserGroupId: groupId }),
        }
        yield { number: ++number, line }
      }
    },
  }
}

/** The program on one database, with its runs worked off in this process. */
export interface Program {
  readonly app: App
  readonly database: Database
  /** One run to its end, a nightly one of everything when left out. @throws EndlessRunError where it has none */
  run(scope?: RunScope): Promise<string>
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
