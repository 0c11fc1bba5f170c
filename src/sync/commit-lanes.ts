import type { Database } from '../database/pool.ts'

/**
 * Commits with rows to write that one process makes at a time. One fills a core of PostgreSQL, and while it waits for a
 * disk or the network the next one writes; more of them only get in each other's way, at the end of the same table.
 */
const LANES = 3

/** Runs `work` when a lane is free, in the order in which they came. @throws what `work` throws */
export async function inCommitLane<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const lanes = lanesOf(database)
  if (lanes.free > 0) lanes.free -= 1
  else await new Promise<void>((resolve) => lanes.waiting.push(resolve))
  try {
    return await work()
  } finally {
    // A lane that somebody waits for is handed over, and never free in between.
    const next = lanes.waiting.shift()
    if (next === undefined) lanes.free += 1
    else next()
  }
}

interface Lanes {
  free: number
  readonly waiting: (() => void)[]
}

const lanesByDatabase = new WeakMap<Database, Lanes>()

function lanesOf(database: Database): Lanes {
  let lanes = lanesByDatabase.get(database)
  if (lanes === undefined) {
    lanes = { free: LANES, waiting: [] }
    lanesByDatabase.set(database, lanes)
  }
  return lanes
}
