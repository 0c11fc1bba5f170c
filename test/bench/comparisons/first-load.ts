import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { World } from '../../../src/demo/world.ts'
import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { openDirectSync } from '../direct-run.ts'
import { MemoryApi } from '../memory-api.ts'
import { createDatabaseOf } from '../database.ts'
import { TABLES } from '../script/tables.ts'
import type { Servers } from '../servers.ts'
import { FOUR_THOUSAND, worldOf } from '../worlds.ts'

const WORLD = { ...FOUR_THOUSAND, documents: 20 }
const COMMENTS = 80_000
const RUNS = 5

/** Rows from memory: the whole write path, compared with a binary COPY of the rows of `collab.comments` on one connection. */
export const firstLoad: Comparison = {
  name: 'first-load',
  title: 'The first load: from bytes of responses to committed rows',
  async run(servers) {
    const world = worldOf(WORLD)
    const copies = await contractCopies(servers, world)
    const copy: number[] = []
    const ours: number[] = []
    for (let run = 0; run < RUNS; run++) {
      copy.push(await copyRate(servers, world, copies))
      ours.push(await syncRate(servers, world))
    }
    const row = (what: string, rate: number) => [what, short(rate), short(rate / median(copy))]
    const ratios = ours.map((rate, run) => rate / (copy[run] as number))
    return {
      tables: [
        {
          title: '80,000 comments of 8,000 annotations',
          head: ['', 'comments/s', 'of COPY'],
          rows: [
            row('COPY of the rows of `collab.comments`, encoded beforehand', median(copy)),
            row('collab-sync', median(ours)),
          ],
        },
      ],
      figures: [
        figure(
          'first-load.of-contract-copy',
          'comments a second / those of COPY of the rows of `collab.comments`',
          ratios,
          { atLeast: 0.45 },
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
    return (COMMENTS / (await sync.run())) * 1000
  } finally {
    await sync.close()
    await database.drop()
  }
}

/** The rows of `collab.comments` of each organization, as PostgreSQL itself encodes them. */
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

async function copyRate(
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
