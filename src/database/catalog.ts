import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { retryConflicts, transactionOn } from './pool.ts'
import type { Client, Database } from './pool.ts'
import { sql } from './sql.ts'

/** What an import did to the rows of one table. What was as the lines say is in none of the counts. */
export interface CatalogCounts {
  added: number
  reactivated: number
  deactivated: number
}

/** What an import did to the catalog. */
export interface CatalogChanges {
  organizations: CatalogCounts
  documents: CatalogCounts
  annotations: CatalogCounts
  userGroups: CatalogCounts
}

/** The ids of one line in the order of the columns; null where the line has none. */
export type CatalogRow = readonly [
  organizationId: string,
  documentId: string | null,
  annotationId: string | null,
  organizationUserGroupId: string | null,
]

/**
 * Makes the catalog hold what the rows say, in one transaction: a row implies its parents; what is
 * inactive and named becomes active again; with `prune`, what is active and not named becomes inactive.
 * A row that is as it should be is not written. Rows are streamed to the server in constant memory,
 * and nothing of the catalog is touched or locked before the last one is there. Imports at the same
 * time wait for each other.
 * @param rows batches of rows; when it throws, nothing was changed
 * @throws what `rows` throws
 */
export async function loadCatalog(
  database: Database,
  rows: AsyncIterable<readonly CatalogRow[]>,
  options: { prune: boolean },
): Promise<CatalogChanges> {
  const client = await database.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query(sql('catalog/create-lines'))
    await pipeline(
      Readable.from(copyText(rows), { objectMode: false }),
      client.query(copyFrom(sql('catalog/copy-lines'))),
    )
    await client.query(sql('catalog/analyze-lines'))
    // A deadlock with a run repeats the merge only: the source of the rows may be a pipe.
    const changes = await retryConflicts(() =>
      transactionOn(client, () => merge(client, options.prune)),
    )
    if (size(changes) >= LARGE_IMPORT) await client.query(sql('catalog/analyze'))
    return changes
  } finally {
    // Closing the connection drops the session's temporary table, whatever state it is in.
    client.release(true)
  }
}

const LARGE_IMPORT = 1000

async function* copyText(rows: AsyncIterable<readonly CatalogRow[]>): AsyncGenerator<string> {
  for await (const batch of rows) {
    let text = ''
    for (const row of batch) text += `${row.map(copyField).join('\t')}\n`
    if (text !== '') yield text
  }
}

function copyField(value: string | null): string {
  if (value === null) return '\\N'
  return /[\\\t\n\r]/.test(value)
    ? value.replace(/[\\\t\n\r]/g, (found) => ESCAPES[found] ?? '')
    : value
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** The order matters: parents before children, numbers before batches before scopes, counts last. */
async function merge(client: Client, prune: boolean): Promise<CatalogChanges> {
  // A plan over staged rows is long and runs once: compiling it costs more than it saves.
  await client.query(`set local jit = off; set local work_mem = '64MB'`)
  await client.query(sql('catalog/lock'))
  await client.query(sql('catalog/create-touched-batches'))

  const { rowCount } = await client.query(sql('catalog/add-organizations'))
  await stage(client, 'user-groups')
  await stage(client, 'documents')
  await client.query(sql('catalog/number-users-scopes'))
  await client.query(sql('catalog/add-users-batches'))
  const userGroups = await add(client, 'user-groups')
  const documents = await add(client, 'documents')
  await stage(client, 'annotations')
  await client.query(sql('catalog/number-annotations'))
  await client.query(sql('catalog/add-comments-batches'))
  const annotations = await add(client, 'annotations')

  const changes = {
    organizations: await reviseActive(client, 'organizations', rowCount ?? 0, prune),
    documents: await reviseActive(client, 'documents', documents, prune),
    annotations: await reviseActive(client, 'annotations', annotations, prune),
    userGroups: await reviseActive(client, 'user-groups', userGroups, prune),
  }
  await client.query(sql('catalog/advance-numbers'))
  await client.query(sql('catalog/count-batch-scopes'))
  return changes
}

type Noun = 'organizations' | 'documents' | 'annotations' | 'user-groups'

async function stage(client: Client, noun: Noun): Promise<void> {
  await client.query(sql(`catalog/stage-${noun}`))
  await client.query(sql(`catalog/analyze-staged-${noun}`))
}

async function add(client: Client, noun: Noun): Promise<number> {
  return scopesOf(client, `catalog/add-${noun}`)
}

async function reviseActive(
  client: Client,
  noun: Noun,
  added: number,
  prune: boolean,
): Promise<CatalogCounts> {
  const reactivated = await scopesOf(client, `catalog/reactivate-${noun}`)
  const deactivated = prune ? await scopesOf(client, `catalog/deactivate-${noun}`) : 0
  return { added, reactivated, deactivated }
}

async function scopesOf(client: Client, statement: string): Promise<number> {
  const { rows } = await client.query<{ scopes: number }>(sql(statement))
  return rows[0]?.scopes ?? 0
}

function size(changes: CatalogChanges): number {
  return Object.values(changes)
    .flatMap((counts: CatalogCounts) => Object.values(counts) as number[])
    .reduce((sum, count) => sum + count, 0)
}
