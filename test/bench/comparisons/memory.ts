import { figure, median, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { runCommand } from '../child.ts'
import { openPlace } from '../place.ts'
import { environmentOf, startProgram } from '../program.ts'
import type { Servers } from '../servers.ts'
import type { WorldSize } from '../stand-in.ts'
import { FOUR_THOUSAND } from '../worlds.ts'

const RUNS = 10
/** Its comments are a response of about 50 MB. */
const ONE_ANNOTATION = { ...FOUR_THOUSAND, organizations: 1, documents: 1, comments: 112_500 }

/** Peaks of `collab-sync run` as the kernel counts them, and the growth of the heap over ten runs. */
export const memory: Comparison = {
  name: 'memory',
  title: 'Memory',
  async run(servers) {
    const ofCatalog = { ...FOUR_THOUSAND, annotations: 50, comments: 2 }
    const small = await peakOf(servers, { ...ofCatalog, documents: 10 })
    const large = await peakOf(servers, { ...ofCatalog, documents: 100 })
    const answer = await peakOf(servers, { ...ONE_ANNOTATION, annotations: 1 })
    const answers = await peakOf(servers, { ...ONE_ANNOTATION, annotations: 3 })
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
            ['one response of 50 MB', short(answer)],
            ['three responses of 50 MB at once', short(answers)],
          ],
        },
      ],
      figures: [
        figure('memory.10k', 'peak, 10,000 annotations', [small], { unit: 'MB', atMost: 300 }),
        figure('memory.100k', 'peak, 100,000 annotations', [large], { unit: 'MB', atMost: 300 }),
        figure('memory.large-answer', 'peak, one response of 50 MB', [answer], {
          unit: 'MB',
          atMost: 400,
        }),
        figure('memory.growth', 'growth of the heap over ten runs', [growth], {
          unit: '%',
          atMost: 5,
        }),
      ],
    }
  },
}

async function peakOf(servers: Servers, world: WorldSize): Promise<number> {
  const place = await openPlace(servers, world)
  const database = await place.createDatabase()
  try {
    return (await runCommand(['run'], environmentOf({ ...place, database }, 'redis'))).peakMb
  } finally {
    await database.drop()
    await place.close()
  }
}

async function heapsOfRuns(servers: Servers): Promise<number[]> {
  const place = await openPlace(servers, FOUR_THOUSAND, ['--prepare'])
  const database = await place.createDatabase()
  const program = await startProgram(environmentOf({ ...place, database }, 'redis'))
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
