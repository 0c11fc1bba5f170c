import { tellingAway } from '../database/away.ts'
import type { Database } from '../database/pool.ts'
import * as scopes from '../database/statements/scopes.ts'
import { askingOn } from './ask-for-run.ts'
import type { CollabSync } from './collab-sync.ts'
import { listingsOn } from './listings.ts'
import type { Parts } from './parts.ts'
import { runsOn } from './runs.ts'
import { scheduleOn } from './schedule.ts'
import { settlingOn } from './settle-waiting.ts'

/**
 * A `CollabSync` on parts that somebody else opened; `close` leaves them to whoever opened them.
 * Nothing is asked before a method is called. The tables must be of this program's version (`requireSchema`).
 */
export function collabSyncOn(parts: Parts): CollabSync {
  const { database } = parts
  const { watchRun, ...runs } = runsOn(parts)
  return {
    ...tellingAwayInAll(database, {
      ...askingOn(parts),
      ...runs,
      ...listingsOn(database),
      ...settlingOn(parts),
      ...scheduleOn(parts),
      getFreshness: () => scopes.freshness.one(database),
    }),
    watchRun,
    close: async () => {},
  }
}

type Asking = Record<string, (...given: never[]) => Promise<unknown>>

/** The same functions, which tell in a sentence where PostgreSQL is away. */
function tellingAwayInAll<F extends Asking>(database: Database, functions: F): F {
  const told = Object.entries(functions).map(([name, ask]) => [
    name,
    // An error that is thrown before anything is awaited rejects too.
    (...given: never[]) => tellingAway(database, async () => ask(...given)),
  ])
  return Object.fromEntries(told) as F
}
