import { short } from './bench.ts'
import type { Table } from './bench.ts'
import { COMMENTS_EACH } from './sized-run.ts'
import type { Sized } from './sized-run.ts'

/** What a user's service may allow. */
const CALL_RATES = [100, 1000, 5000]
/** A night, in which a full pass has to fit. */
const NIGHT_HOURS = 6
/** Measured with a service that shares the cores (docs/PERFORMANCE.md): a worker of its own core does better. */
const CALLS_IN_FLIGHT = 64
/** A table whose indexes no longer fit in memory, or that a vacuum of one night no longer passes through. */
const PARTITION_FROM_BYTES = 100e9

/** The terms of the largest size that was measured, each times the number of annotations. */
export function projectionTable(from: Sized, sizes: readonly number[]): Table {
  return {
    title: `Projected from ${from.annotations.toLocaleString('en-US')} annotations`,
    head: [
      'annotations',
      'comments',
      'CPU hours a run',
      'WAL MB a run, nothing changed',
      'first load WAL GB',
      'disk GB: comments / catalog / 30 nights of runs',
      ...CALL_RATES.map((rate) => `hours at ${rate} calls/s`),
      'worker processes for 5,000 calls/s',
      `calls/s for a night of ${NIGHT_HOURS} h`,
      'partition collab_store.comments',
    ],
    rows: sizes.map((annotations) => projected(from, annotations)),
  }
}

function projected(from: Sized, annotations: number): (string | number)[] {
  const calls = from.calls * (annotations / from.annotations)
  const comments = annotations * COMMENTS_EACH
  const commentsBytes = comments * from.diskAComment
  return [
    annotations.toLocaleString('en-US'),
    comments.toLocaleString('en-US'),
    short((calls * from.cpuUsACall) / 3.6e9),
    short((comments * from.walACommentAgain) / 1e6),
    short((comments * from.walACommentFirst) / 1e9),
    [commentsBytes, annotations * from.diskAnAnnotation, 30 * calls * from.diskACallOfARun]
      .map((bytes) => short(bytes / 1e9))
      .join(' / '),
    ...CALL_RATES.map((rate) => short(calls / rate / 3600)),
    Math.ceil((5000 * from.cpuUsACall) / 1e6),
    short(calls / NIGHT_HOURS / 3600),
    commentsBytes > PARTITION_FROM_BYTES ? 'yes' : 'no',
  ]
}

/** What follows from the projection for whoever operates it: a paragraph of docs/PERFORMANCE.md. */
export const PROJECTION_EXPLAINS = `A run asks one call an annotation, so its length is the calls divided by the calls a second that the service allows: where that is longer than the night, a full pass no longer fits whatever the machine, and only a service that tells what changed, or a rolling pass over several nights (\`--organization\`), helps. CPU a call says how many worker processes a rate needs, one core each; a call of latency L keeps rate x L calls in flight (5,000 a second at 40 ms: 200, in processes of ${CALLS_IN_FLIGHT}). Every process holds up to 12 connections to PostgreSQL, and 6 more where the queue is there too, of which it uses one a batch that commits; ten processes need a max_connections of 200. The work of a run is proportional to its calls, and so are the rows of \`sync.run_items\`, which \`prune\` removes. Partition \`collab_store.comments\` (by hash of annotation_key) when it nears ${PARTITION_FROM_BYTES / 1e9} GB: a run reads and writes it by annotation_key only, and the reason is not its speed but vacuum, reindexing and restoring a piece at a time.`
