import { parseScope } from '../../../src/documents/scope.ts'
import { places } from '../../../src/demo/catalog.ts'
import { figure, short } from '../bench.ts'
import type { Comparison, Figure } from '../bench.ts'
import { openPlace } from '../place.ts'
import { environmentOf, startProgram } from '../program.ts'
import type { Program } from '../program.ts'
import { worldOf } from '../worlds.ts'

const WORLD = {
  organizations: 20,
  documents: 20,
  annotations: 50,
  comments: 2,
  users: 10,
  groups: 1,
}
const LATENCY_MS = 40
const IN_FLIGHT = 16
const NARROWED = 200

export const narrowed: Comparison = {
  name: 'narrowed',
  title: 'A narrowed run beside a run of everything',
  explains:
    'One worker has a run of 20,000 annotations under way, with 16 calls of 40 ms in flight, which takes up all jobs in hand, places and permits. Beside it runs of one annotation are asked for, one after the other. What is told is the time from asking until the run is settled, its call of 40 ms and its commit included: it begins before that.',
  async run(servers) {
    const place = await openPlace(servers, WORLD, { latencyMs: LATENCY_MS })
    const rows: (string | number)[][] = []
    const figures: Figure[] = []
    try {
      for (const queue of ['redis', 'postgres'] as const) {
        if (queue === 'redis' && servers.redisUrl === null) continue
        const database = await place.createDatabase()
        const program = await startProgram(environmentOf({ ...place, database }, queue, IN_FLIGHT))
        const seconds = await besideEverything(program)
        await program.stop()
        await database.drop()
        const p99 = percentile(seconds, 0.99)
        rows.push([queue, short(percentile(seconds, 0.5)), short(p99), short(Math.max(...seconds))])
        figures.push(
          figure(`narrowed.p99.${queue}`, `p99 of ${NARROWED} narrowed runs`, [p99], {
            unit: 's',
            atMost: 2,
          }),
        )
      }
    } finally {
      await place.close()
    }
    const head = ['queue', 'p50 s', 'p99 s', 'longest s']
    return { tables: [{ title: 'From asking until it is settled', head, rows }], figures }
  },
}

/** @throws where the run of everything was over first */
async function besideEverything(program: Program): Promise<number[]> {
  let isOver = false
  const everything = program.run().finally(() => (isOver = true))
  await new Promise((resolve) => setTimeout(resolve, 2000))
  const seconds: number[] = []
  for (const { organizationId, documentId, annotationId } of places(worldOf(WORLD))) {
    if (seconds.length === NARROWED) break
    const operations = ['comments']
    const scope = { organizationIds: [organizationId], documentId, annotationId, operations }
    const { wholeMs } = await program.run(parseScope(scope))
    if (isOver) throw new Error('The run of everything ended before the narrowed ones.')
    seconds.push(wholeMs / 1000)
  }
  await everything
  return seconds
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0
}
