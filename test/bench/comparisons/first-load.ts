import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { copyRows } from '../../../src/core/database/comment-rows.ts'
import type { AnnotationComments } from '../../../src/core/database/comment-rows.ts'
import * as statements from '../../../src/core/database/statements/comments.ts'
import type { World } from '../../../src/demo/world.ts'
import { COMMENTS as READER } from '../../../src/core/sync/record/comment.ts'
import { readAgain } from '../../../src/core/sync/record/records.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { openDirectSync } from '../direct-run.ts'
import { MemoryApi } from '../memory-api.ts'
import { createDatabaseOf } from '../memory-place.ts'
import { TABLES } from '../script/tables.ts'
import type { Servers } from '../servers.ts'
import { FOUR_THOUSAND, worldOf } from '../worlds.ts'

const WORLD = { ...FOUR_THOUSAND, documents: 20 }
const COMMENTS = 80_000
const ROWS_A_COPY = 4000
const RUNS = 5

export const firstLoad: Comparison = {
  name: 'first-load',
  title: 'The first load: from bytes of answers to committed rows',
  explains:
    'Answers come from memory. collab-sync parses, checks and digests them, writes comments, users, memberships, checkpoints and counts, a transaction for every batch, 2,000 records or half second, three at a time. It is compared with the limit of the write: a binary COPY of the very same comments into a table of the contract, `raw` and all, with nothing but its key, on one connection, 4,000 rows a transaction, encoded beforehand by PostgreSQL itself. Beside it the same with our narrow rows, encoded as it goes and beforehand. Only as many scopes are begun as calls can use, because the garbage collector moves every comment that waits for its commit. What is left is the half of PostgreSQL (three indexes besides the key) and that of Node (parsing, digests, encoding, sockets), which share the two cores.',
  async run(servers) {
    const world = worldOf(WORLD)
    const rows = commentRows(world)
    const contractRows = await contractCopies(servers, world)
    const contract: number[] = []
    const copy: number[] = []
    const copyEncoded: number[] = []
    const copyIndexed: number[] = []
    const ours: number[] = []
    for (let run = 0; run < RUNS; run++) {
      contract.push(await contractRate(servers, world, contractRows))
      copy.push(await copyRate(servers, world, rows, 'as it goes'))
      copyEncoded.push(await copyRate(servers, world, rows, 'beforehand'))
      copyIndexed.push(await copyRate(servers, world, rows, 'as it goes', 'collab_store.comments'))
      ours.push(await syncRate(servers, world))
    }
    const row = (what: string, rate: number) => [what, short(rate), short(rate / median(contract))]
    const table = {
      title: '80,000 comments of 8,000 annotations',
      head: ['', 'comments/s', 'of COPY'],
      rows: [
        row("COPY of the contract's rows, encoded beforehand", median(contract)),
        row('COPY of our narrow rows', median(copy)),
        row('COPY of our narrow rows, encoded beforehand', median(copyEncoded)),
        row('COPY of our narrow rows, with our indexes', median(copyIndexed)),
        row('collab-sync', median(ours)),
      ],
    }
    const of = (base: number[]) => ours.map((rate, run) => rate / (base[run] as number))
    return {
      tables: [table],
      figures: [
        figure(
          'first-load.of-contract-copy',
          "comments a second / those of COPY of the contract's rows",
          of(contract),
          { atLeast: 0.45 },
        ),
        figure(
          'first-load.of-copy',
          'comments a second / those of COPY of our narrow rows',
          of(copy),
          {},
        ),
        figure(
          'first-load.of-copy-encoded',
          'comments a second / those of COPY of our narrow rows, encoded beforehand',
          of(copyEncoded),
          {},
        ),
      ],
    }
  },
}

async function syncRate(servers: Servers, world: World): Promise<number> {
  const database = await createDatabaseOf(servers, world)
  const api = new MemoryApi()
  api.prepare(world, 0)
  const sync = await openDirectSync(api, database)
  try {
    await servers.admin.query('checkpoint')
    const { wallMs } = await sync.run()
    return (COMMENTS / wallMs) * 1000
  } finally {
    await sync.close()
    await database.drop()
  }
}

/** The contract's rows of each organization, as PostgreSQL itself encodes them. */
async function contractCopies(servers: Servers, world: World): Promise<Buffer[]> {
  const database = await createDatabaseOf(servers, world)
  const api = new MemoryApi()
  api.prepare(world, 0)
  const sync = await openDirectSync(api, database)
  const client = await database.pool.connect()
  try {
    await sync.run()
    const copies: Buffer[] = []
    for (const organizationId of world.organizationIds()) {
      const rows = `select ${CONTRACT_COLUMNS} from collab.comments
        where organization_id = ${client.escapeLiteral(organizationId)}`
      copies.push(await buffer(client.query(copyTo(`copy (${rows}) to stdout (format binary)`))))
    }
    return copies
  } finally {
    client.release()
    await sync.close()
    await database.drop()
  }
}

const CONTRACT_COLUMNS = `organization_id, document_id, annotation_id, comment_id, comment_text, comment_html,
  author_user_id, author_name, author_email, status, type, last_updated, raw, first_seen_at, changed_at, deleted_at`

async function contractRate(
  servers: Servers,
  world: World,
  copies: readonly Buffer[],
): Promise<number> {
  const database = await createDatabaseOf(servers, world)
  const client = await database.pool.connect()
  try {
    await client.query(TABLES)
    await servers.admin.query('checkpoint')
    const startedMs = performance.now()
    for (const copy of copies) {
      const into = `copy script.comments (${CONTRACT_COLUMNS}) from stdin (format binary)`
      await pipeline(Readable.from([copy]), client.query(copyFrom(into)))
    }
    return (COMMENTS / (performance.now() - startedMs)) * 1000
  } finally {
    client.release()
    await database.drop()
  }
}

async function copyRate(
  servers: Servers,
  world: World,
  rows: readonly AnnotationComments[],
  encoding: 'as it goes' | 'beforehand',
  table: 'plain.copied' | 'collab_store.comments' = 'plain.copied',
): Promise<number> {
  const database = await createDatabaseOf(servers, world)
  await database.pool
    .query(`create schema plain; create table plain.copied (like collab_store.comments);
    alter table plain.copied add primary key (annotation_key, comment_id)`)
  const chunks = inTransactions(rows)
  const at = new Date()
  const encoded = encoding === 'beforehand' ? chunks.map((chunk) => bytesOf(chunk, at)) : null
  const client = await database.pool.connect()
  try {
    await servers.admin.query('checkpoint')
    const startedMs = performance.now()
    for (const [index, chunk] of chunks.entries()) {
      const sent = encoded?.[index] ?? copyRows(chunk, at)
      await pipeline(Readable.from(sent), client.query(copyFrom(copyInto(table))))
    }
    return (COMMENTS / (performance.now() - startedMs)) * 1000
  } finally {
    client.release()
    await database.drop()
  }
}

function bytesOf(annotations: readonly AnnotationComments[], at: Date): Buffer[] {
  return [...copyRows(annotations, at)].map((rows) => Buffer.from(rows))
}

function copyInto(table: string): string {
  return statements.copy.text.replace('collab_store.comments', table)
}

function inTransactions(annotations: readonly AnnotationComments[]): AnnotationComments[][] {
  const chunks: AnnotationComments[][] = []
  let rows = 0
  for (const annotation of annotations) {
    if (rows % ROWS_A_COPY === 0) chunks.push([])
    chunks.at(-1)?.push(annotation)
    rows += annotation.comments.length
  }
  return chunks
}

/** The rows that the world's comments make, with keys as an import gives them. */
function commentRows(world: World): AnnotationComments[] {
  const annotations: AnnotationComments[] = []
  for (const [index, organizationId] of [...world.organizationIds()].entries()) {
    for (const documentId of world.documentIds(organizationId)) {
      for (const annotationId of world.annotationIds(organizationId, documentId)) {
        const comments = world.comments({ organizationId, documentId, annotationId }) ?? []
        annotations.push({
          organizationKey: index + 1,
          annotationKey: annotations.length + 1,
          notBefore: null,
          comments: comments.map((comment) => {
            const record = readAgain(READER, JSON.stringify(comment))
            const { commentId, texts, digest, writtenAt, knownWrittenAt } = record
            // The digest is there before anything is measured.
            return { commentId, texts, digest, writtenAt, knownWrittenAt }
          }),
        })
      }
    }
  }
  return annotations
}
