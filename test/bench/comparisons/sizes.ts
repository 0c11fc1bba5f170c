import { figure, short } from '../bench.ts'
import type { Comparison } from '../bench.ts'
import { peakOfRun } from '../child-memory.ts'
import { walOf } from '../database.ts'
import { openPlace } from '../place.ts'
import { environmentOf } from '../program.ts'
import type { Servers } from '../servers.ts'
import type { WorldSize } from '../stand-in.ts'

/** Documents an organization, of 20 organizations and 50 annotations a document: 10,000, 100,000 and 1,000,000 annotations. */
const DOCUMENTS = [10, 100, 1000]
const PROJECTED = [10_000_000, 100_000_000]
const COMMENTS_EACH = 2
/** What a user's service may allow. */
const CALL_RATES = [100, 1000, 5000]

interface Measured {
  readonly annotations: number
  readonly calls: number
  readonly firstS: number
  readonly againS: number
  readonly cpuUsACall: number
  readonly walACommentFirst: number
  readonly walACommentAgain: number
  readonly diskAComment: number
  readonly peakMb: number
}

export const sizes: Comparison = {
  name: 'sizes',
  title: 'What a size costs',
  explains:
    'Catalogs of 10,000, 100,000 and 1,000,000 annotations with two comments each, first load and a run again by `collab-sync run`; the larger ones are projected from the largest that was measured, each term times the number of annotations. A run asks one call an annotation, so its length is the calls divided by the calls a second that the service allows: where that is longer than the night, a full pass no longer fits, whatever the machine. BENCH_MAX_ANNOTATIONS leaves out the larger ones.',
  async run(servers) {
    const max = Number(process.env['BENCH_MAX_ANNOTATIONS'] ?? 1_000_000)
    const measured: Measured[] = []
    for (const documents of DOCUMENTS.filter((count) => count * 1000 <= max))
      measured.push(await measure(servers, documents))
    const [smallest, largest] = [measured[0], measured.at(-1)]
    if (smallest === undefined || largest === undefined) return { tables: [], figures: [] }
    return {
      tables: [
        {
          title: 'Measured',
          head: [
            'annotations',
            'first load s',
            'again s',
            'CPU us a call, again',
            'WAL bytes a comment, first / again',
            'disk bytes a comment',
            'peak MB',
          ],
          rows: measured.map((one) => [
            one.annotations.toLocaleString('en-US'),
            short(one.firstS),
            short(one.againS),
            short(one.cpuUsACall),
            `${short(one.walACommentFirst)} / ${short(one.walACommentAgain)}`,
            short(one.diskAComment),
            short(one.peakMb),
          ]),
        },
        {
          title: 'Projected from the largest',
          head: projectionHead(),
          rows: [largest.annotations, ...PROJECTED].map((annotations) =>
            projected(largest, annotations),
          ),
        },
      ],
      figures: [
        figure(
          'sizes.cpu',
          'CPU a call at the largest size / at the smallest',
          [largest.cpuUsACall / smallest.cpuUsACall],
          { better: 'lower' },
        ),
        figure('sizes.peak', 'peak of the process at the largest size', [largest.peakMb], {
          unit: 'MB',
          atMost: 300,
        }),
      ],
    }
  },
}

async function measure(servers: Servers, documents: number): Promise<Measured> {
  const world: WorldSize = {
    organizations: 20,
    documents,
    annotations: 50,
    comments: COMMENTS_EACH,
    users: 20,
    groups: 2,
  }
  const annotations = world.organizations * documents * world.annotations
  const comments = annotations * COMMENTS_EACH
  const place = await openPlace(servers, world, { prepare: false })
  const database = await place.createDatabase()
  const environment = environmentOf({ ...place, database }, 'postgres', 64)
  try {
    const first = await walOf(servers, () => peakOfRun(environment))
    // What the server does by itself after a load, once: its WAL is not that of the next run.
    await database.pool.query('vacuum (freeze, analyze)')
    const again = await walOf(servers, () => peakOfRun(environment))
    const { rows } = await database.pool.query(
      `select pg_total_relation_size('collab_store.comments')::bigint as bytes`,
    )
    const run = again.result.run as { calls: number; cpuMs: number }
    return {
      annotations,
      calls: run.calls,
      firstS: first.result.seconds,
      againS: again.result.seconds,
      cpuUsACall: (run.cpuMs * 1000) / run.calls,
      walACommentFirst: first.walBytes / comments,
      walACommentAgain: again.walBytes / comments,
      diskAComment: rows[0].bytes / comments,
      peakMb: Math.max(first.result.peakMb, again.result.peakMb),
    }
  } finally {
    await database.drop()
    await place.close()
  }
}

function projectionHead(): string[] {
  return [
    'annotations',
    'CPU hours a run',
    'WAL MB a run, nothing changed',
    'disk GB',
    ...CALL_RATES.map((rate) => `hours at ${rate} calls/s`),
  ]
}

function projected(from: Measured, annotations: number): (string | number)[] {
  const factor = annotations / from.annotations
  const calls = from.calls * factor
  const comments = annotations * COMMENTS_EACH
  return [
    annotations.toLocaleString('en-US'),
    short((calls * from.cpuUsACall) / 3.6e9),
    short((comments * from.walACommentAgain) / 1e6),
    short((comments * from.diskAComment) / 1e9),
    ...CALL_RATES.map((rate) => short(calls / rate / 3600)),
  ]
}
