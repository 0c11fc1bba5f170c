import type { Client } from '../../database/pool.ts'
import { RECENT_S } from '../../database/scopes.ts'
import type { RowOf } from '../../database/statement.ts'
import * as refresh from '../../database/statements/refresh.ts'
import type { Operation } from '../../errors.ts'
import { EVERYTHING, HOT_CLASSES, quietTimes } from './classes.ts'

/** How far refresh is with one class. */
export type Sweep = RowOf<typeof refresh.readSweeps>

/** The moment at which something is planned: of PostgreSQL, or of a world whose clock is made. */
export type Moment = RowOf<typeof refresh.begin>

/** A batch to look at as a whole. */
export type BatchToSweep = RowOf<typeof refresh.batches>

/** A thread to look at: our key, when it last changed, and when it was last looked at, as far as passes tell. */
export interface RecentThread {
  readonly key: number
  readonly activeAt: Date
  readonly sweptAt: Date | null
}

/** What one worker looks at next. */
export interface RefreshPage {
  readonly pageId: number
  /** 0 to 7, as in classes.ts. */
  readonly class: number
  /** Begin of the looks: none is older. */
  readonly at: Date
  /** Of classes 0 to 6. */
  readonly threads: readonly RecentThread[]
  /** Of class 7. */
  readonly batches: readonly BatchToSweep[]
}

/** No pass of a class begins sooner after the one before, and no batch is swept again: the other classes take the calls. */
export const PASS_MIN_S = 5
/** How often the scopes of the catalog are counted. */
const COUNT_EVERY_S = 600

/** Below every key, above every key. */
export const KEY_MAX = 2 ** 31 - 1

/** Begins a pass of the class where the one before is handed out; what holds nobody is left as it is. */
export async function beginPass(
  client: Client,
  { at, snapshot }: Moment,
  sweep: Sweep,
  operations: readonly Operation[],
): Promise<Sweep> {
  const sinceS = sweep.startedAt === null ? Infinity : secondsBetween(sweep.startedAt, at)
  // Where the clock was set back, a pass that began in the future would never end.
  const isDue = sinceS < 0 || (sweep.isPlanned && sinceS >= PASS_MIN_S)
  if (sweep.class === EVERYTHING) {
    if (sinceS >= 0 && sinceS < COUNT_EVERY_S) return sweep
    const { scopes } = await refresh.countScopes.one(client, { operations: [...operations] })
    return { ...sweep, startedAt: at, threads: scopes }
  }
  if (!isDue) return sweep
  const { fromS, toS } = quietTimes(sweep.class)
  const range = { after: before(at, toS), upTo: before(at, fromS) }
  const { threads } = await refresh.countThreads.one(client, range)
  if (threads === 0) return { ...sweep, isPlanned: true, threads }
  if (sweep.class === HOT_CLASSES - 1)
    await refresh.purge.run(client, { before: before(at, RECENT_S) })
  return {
    ...sweep,
    pass: sweep.pass + 1,
    beforeStartedAt: sweep.startedAt,
    startedAt: at,
    snapshot,
    isPlanned: false,
    afterActiveAt: range.upTo,
    afterKey: KEY_MAX,
    threads,
  }
}

/**
 * When the thread was last looked at by a pass, as far as the begins of passes tell: by the pass before of its class, or by one
 * of the class that it came from. Only what is learned of rates of change hangs on it.
 */
export function sweptAt(sweeps: readonly Sweep[], of: number, activeAt: Date): Date | null {
  const here = sweeps[of]?.beforeStartedAt ?? null
  if (here !== null && activeAt <= before(here, quietTimes(of).fromS)) return here
  const there = of === 0 ? null : (sweeps[of - 1]?.wholeSince ?? null)
  return there !== null && activeAt <= before(there, quietTimes(of - 1).fromS) ? there : null
}

export function before(at: Date, seconds: number): Date {
  return new Date(at.getTime() - seconds * 1000)
}

function secondsBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / 1000
}
