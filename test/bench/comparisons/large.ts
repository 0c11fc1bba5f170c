import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { importCatalog } from '../../../src/features/catalog/import.ts'
import { listSource } from '../../../src/features/catalog/lines.ts'
import { readNameRedaction } from '../../../src/features/privacy/rules.ts'
import { freePort } from '../../helpers/servers.ts'
import { median, short } from '../bench.ts'
import type { Comparison, Table } from '../bench.ts'
import { COMMAND, runCommand } from '../child.ts'
import { createEmptyDatabase, walOf } from '../database.ts'
import type { BenchDatabase } from '../database.ts'
import { openDirectSync } from '../direct-run.ts'
import { makeNights } from '../large/nights.ts'
import { idOf, LargeService } from '../large/service.ts'
import { postgresCpuS } from '../postgres-cpu.ts'
import type { Servers } from '../servers.ts'

const TIMES = 3
const IDLE_S = 60
const QUESTION_LIMIT_S = 120
const QUESTIONS = 'docs/QUESTIONS.md'
const TOKEN = 'a-token-of-the-bench-7h2k'

/** What people look at, with a year of nights behind it. */
export const large: Comparison = {
  name: 'large',
  title: 'A large catalog',
  isOnlyByName: true,
  async run(servers, { annotations }) {
    const service = new LargeService(annotations)
    const database = await createEmptyDatabase(servers)
    const http = await service.listen()
    const environment = {
      COLLAB_API_URL: http.url,
      COLLAB_API_KEY: 'none',
      COLLAB_AUTH_TOKEN: 'none',
      DATABASE_URL: database.url,
      LOG_LEVEL: 'warn',
    }
    try {
      const loaded = await load(servers, database, service)
      const bytes = await bytesOf(database)
      await makeNights(database, annotations)
      return {
        tables: [
          loaded,
          bytes,
          await commands(environment, [
            ['status'],
            ['show', idOf('org', 0)],
            ['show', idOf('org', 0), idOf('doc', 7)],
            ['show', idOf('org', 0), idOf('doc', 7), idOf('an', 357)],
            ['show', '--find', idOf('an', 357)],
            ['catalog', 'show'],
            ['doctor'],
          ]),
          await pages(environment, annotations),
          await questions(database),
          await idle(servers, environment, annotations),
          // Last: the worker would do its run, and would not be idle.
          await commands(environment, [['enqueue', '--failing']]),
        ],
        figures: [],
      }
    } finally {
      http.close()
      await database.drop()
    }
  },
}

async function load(
  servers: Servers,
  database: BenchDatabase,
  service: LargeService,
): Promise<Table> {
  const sync = await openDirectSync(service, database)
  const rows: string[][] = []
  const measure = async (name: string, work: () => Promise<unknown>) => {
    const startedMs = performance.now()
    const { walBytes } = await walOf(servers, work)
    rows.push([name, short((performance.now() - startedMs) / 1000), short(walBytes / 1e6)])
    // Autovacuum is off.
    await database.pool.query('vacuum (analyze)')
  }
  const source = listSource('bench', service.catalog())
  const options = { prune: false, redaction: readNameRedaction }
  try {
    await measure('import', () => importCatalog(database.pool, source, options))
    await measure('first load', () => sync.run())
    await measure('unchanged night', () => sync.run())
    service.night = 1
    await measure('night with changes', () => sync.run('partial'))
  } finally {
    await sync.close()
  }
  return { title: 'Writing', head: ['', 's', 'WAL MB'], rows }
}

async function bytesOf({ pool }: BenchDatabase): Promise<Table> {
  const { rows } = await pool.query(`
    select relname, pg_total_relation_size(oid) / 1e6 as mb, pg_total_relation_size(oid) / nullif(reltuples, 0) as row_bytes
    from pg_class
    where relkind = 'r' and relnamespace in ('collab_store'::regnamespace, 'sync'::regnamespace)
    order by pg_total_relation_size(oid) desc limit 8`)
  return {
    title: 'Disk, after two nights',
    head: ['', 'MB', 'bytes a row'],
    rows: rows.map(({ relname, mb, row_bytes: bytes }) => [
      relname,
      short(Number(mb)),
      short(Number(bytes)),
    ]),
  }
}

async function commands(
  environment: Record<string, string>,
  called: readonly string[][],
): Promise<Table> {
  const rows: string[][] = []
  for (const args of called) {
    const seconds: number[] = []
    for (let time = 0; time < (args[0] === 'enqueue' ? 1 : TIMES); time++) {
      const startedMs = performance.now()
      await runCommand(args, environment).catch((error: unknown) => {
        // It finds no worker.
        if (args[0] !== 'doctor') throw error
      })
      seconds.push((performance.now() - startedMs) / 1000)
    }
    rows.push([args.join(' '), short(median(seconds)), short(Math.max(...seconds))])
  }
  return { title: 'Commands', head: ['', 's', 'slowest s'], rows }
}

async function pages(environment: Record<string, string>, annotations: number): Promise<Table> {
  const port = await freePort()
  const server = spawn(process.execPath, [COMMAND, 'serve'], {
    env: { ...process.env, ...environment, HTTP_PORT: String(port), HTTP_TOKEN: TOKEN },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
      // A search of an ID redirects to a page that has its own row.
      redirect: 'manual',
    })
  const rows: string[][] = []
  try {
    while (!(await get('/healthz').catch(() => null))?.ok)
      await new Promise((resolve) => setTimeout(resolve, 200))
    const [organizationId, documentId] = [idOf('org', 0), idOf('doc', 7)]
    const organization = `/thing?organizationId=${organizationId}`
    const document = `${organization}&documentId=${documentId}`
    for (const path of [
      '/',
      '/organizations',
      '/runs',
      '/held',
      '/history',
      organization,
      document,
      `${document}&annotationId=${idOf('an', 357)}`,
      `${organization}&organizationUserGroupId=group-000000001`,
      `${organization}&userId=user-1`,
      `/search?q=${idOf('an', annotations - 3)}`,
      `/search?q=${documentId}`,
      '/search?q=100007',
      '/search?q=no+such+words',
      '/v1/runs',
      '/v1/failures',
      '/v1/attention',
      '/v1/organizations',
      `/v1/search?q=${documentId}`,
      '/metrics',
    ]) {
      const seconds: number[] = []
      let status = 0
      for (let time = 0; time < TIMES + 1; time++) {
        const startedMs = performance.now()
        const response = await get(path)
        await response.arrayBuffer()
        status = response.status
        seconds.push((performance.now() - startedMs) / 1000)
      }
      const [first = 0, ...again] = seconds
      rows.push([path, String(status), short(first), short(median(again))])
    }
  } finally {
    server.kill()
  }
  return { title: 'Pages', head: ['', 'HTTP', 'first s', 'again s'], rows }
}

/** Each query of docs/QUESTIONS.md, for this organization and this day. */
async function questions({ pool }: BenchDatabase): Promise<Table> {
  const page = await readFile(QUESTIONS, 'utf8')
  const rows: string[][] = []
  const client = await pool.connect()
  try {
    await client.query(`set statement_timeout = '${QUESTION_LIMIT_S}s'`)
    let number = 0
    for (const [, title = '', sql = ''] of page.matchAll(/### (.*)[^]*?```sql\n([^]*?);\n```/g)) {
      const text = sql
        .replaceAll(/date '2025-11-03'/g, 'current_date')
        .replaceAll(`'acme'`, `'${idOf('org', 0)}'`)
        .replaceAll(`'contract'`, `'${idOf('doc', 0)}'`)
      const seconds: number[] = []
      for (let time = 0; time < 2; time++) {
        const startedMs = performance.now()
        const failed = await client.query(text).then(
          () => false,
          () => true,
        )
        seconds.push(failed ? Infinity : (performance.now() - startedMs) / 1000)
        if (failed) break
      }
      rows.push([String((number += 1)), title.slice(0, 60), short(seconds.at(-1) ?? Infinity)])
    }
  } finally {
    client.release(true)
  }
  return { title: 'Questions', head: ['', '', 's'], rows }
}

/** CPU of PostgreSQL while a worker has nothing to do, with a receiver of notifications. */
async function idle(
  servers: Servers,
  environment: Record<string, string>,
  annotations: number,
): Promise<Table> {
  // Each scope once in 20 hours.
  const budget = String(Math.ceil(annotations / 72_000))
  const rows: string[][] = []
  for (const [name, extra] of [
    ['without refresh', {}],
    [`with refresh of ${budget} calls a second`, { REFRESH_BUDGET: budget }],
    // Each scope of ten million once in nine days.
    ['with refresh of 14 calls a second', { REFRESH_BUDGET: '14', FRESHNESS_PROMISE: '720h' }],
  ] as const) {
    const own = {
      ...environment,
      ...extra,
      NOTIFY_URL: `slack+${environment['COLLAB_API_URL']}/notifications`,
    }
    await runCommand(['migrate'], own)
    const worker = spawn(process.execPath, [COMMAND, 'worker'], {
      env: { ...process.env, ...own },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    try {
      await new Promise((resolve) => setTimeout(resolve, 20_000))
      const before = await postgresCpuS(servers)
      await new Promise((resolve) => setTimeout(resolve, IDLE_S * 1000))
      rows.push([name, short((await postgresCpuS(servers)) - before)])
    } finally {
      const ended = new Promise((resolve) => worker.once('exit', resolve))
      worker.kill()
      await ended
    }
  }
  return { title: 'An idle worker', head: ['', "PostgreSQL's CPU s a minute"], rows }
}
