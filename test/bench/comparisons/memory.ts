import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { runCommand } from '../child.ts'
import { createBenchDatabase } from '../database.ts'
import { openPlace } from '../place.ts'
import { environmentOf, startProgram } from '../program.ts'
import type { QueueKind } from '../program.ts'
import type { Servers } from '../servers.ts'
import { FOUR_THOUSAND } from '../worlds.ts'

const RUNS = 10
const LARGE_BYTES = 50_000_000

/** Peaks of `collab-sync run` as the kernel counts them, and the growth of the heap over ten runs. */
export const memory: Comparison = {
  name: 'memory',
  title: 'Memory',
  async run(servers) {
    const queue = servers.redisUrl === null ? 'postgres' : 'redis'
    const small = await peakOf(servers, 10, queue)
    const large = await peakOf(servers, 100, queue)
    const answer = await peakOfLargeAnswers(servers, 1)
    const answers = await peakOfLargeAnswers(servers, 3)
    const heaps = await heapsOfRuns(servers)
    const growth = ((heaps.at(-1) ?? 0) / median(heaps.slice(2, 5)) - 1) * 100
    return {
      tables: [
        {
          title: 'Peak of a process',
          head: ['', 'MB'],
          rows: [
            ['10,000 annotations, first load', short(small)],
            ['100,000 annotations, first load', short(large)],
            ['an answer of 50 MB', short(answer)],
            ['three answers of 50 MB at once', short(answers)],
          ],
        },
      ],
      figures: [
        figure('memory.10k', 'peak, 10,000 annotations', [small], { unit: 'MB', atMost: 300 }),
        figure('memory.100k', 'peak, 100,000 annotations', [large], { unit: 'MB', atMost: 300 }),
        figure('memory.large-answer', 'peak, an answer of 50 MB', [answer], {
          unit: 'MB',
          atMost: 300,
        }),
        figure('memory.large-answers', 'peak, three answers of 50 MB at once', [answers], {
          unit: 'MB',
          better: 'lower',
        }),
        figure('memory.growth', 'growth of the heap over ten runs', [growth], {
          unit: '%',
          atMost: 5,
        }),
      ],
    }
  },
}

async function peakOf(servers: Servers, documents: number, queue: QueueKind): Promise<number> {
  const world = { ...FOUR_THOUSAND, documents, annotations: 50, comments: 2 }
  const place = await openPlace(servers, world, { prepare: false })
  const database = await place.createDatabase()
  try {
    const { peakMb } = await runCommand(['run'], environmentOf({ ...place, database }, queue, 64))
    return peakMb
  } finally {
    await database.drop()
    await place.close()
  }
}

async function peakOfLargeAnswers(servers: Servers, annotations: number): Promise<number> {
  const body = Buffer.from(largeAnswer())
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(
        request.url?.includes('users') ? '{"result":{"status":"success","data":[]}}' : body,
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const catalogFile = join(tmpdir(), `collab-sync-bench-${process.pid}-large.ndjson`)
  const lines = Array.from({ length: annotations }, (_, number) =>
    JSON.stringify({ organizationId: 'o', documentId: 'd', annotationId: `a${number}` }),
  )
  await writeFile(catalogFile, lines.join('\n'))
  const database = await createBenchDatabase(servers, catalogFile)
  const standIn = {
    url: `http://127.0.0.1:${port}`,
    apiKey: 'key',
    authToken: 'token',
    control: () => Promise.reject(new Error('It has no switches.')),
    close: async () => {},
  }
  try {
    const { peakMb } = await runCommand(
      ['run'],
      environmentOf({ servers, database, standIn }, 'postgres', 64),
    )
    return peakMb
  } finally {
    server.close()
    await database.drop()
    await rm(catalogFile, { force: true })
  }
}

function largeAnswer(): string {
  const text = 'A comment of the usual length, and then some more of it. '.repeat(8)
  const comments: string[] = []
  for (let bytes = 0, commentId = 1; bytes < LARGE_BYTES; commentId++) {
    const from = {
      userId: `u${commentId % 100}`,
      name: `User ${commentId % 100}`,
      email: `u${commentId % 100}@example.com`,
    }
    const lastUpdated = '2025-11-03T12:00:00.000Z'
    const comment = JSON.stringify({
      commentId,
      commentText: text,
      commentHtml: `<p>${text}</p>`,
      from,
      lastUpdated,
      status: 'added',
      type: 'text',
    })
    bytes += comment.length
    comments.push(comment)
  }
  return `{"result":{"status":"success","message":"Comments(s) retrieved successfully.","data":[${comments.join(',')}]}}`
}

async function heapsOfRuns(servers: Servers): Promise<number[]> {
  const place = await openPlace(servers, FOUR_THOUSAND)
  const database = await place.createDatabase()
  const program = await startProgram(environmentOf({ ...place, database }, 'redis', 64))
  const heaps: number[] = []
  try {
    for (let run = 0; run < RUNS + 3; run++) {
      await program.run()
      globalThis.gc?.()
      const { heapUsed, external } = process.memoryUsage()
      heaps.push(heapUsed + external)
    }
  } finally {
    await program.stop()
    await database.drop()
    await place.close()
  }
  return heaps
}
