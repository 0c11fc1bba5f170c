import type { Database } from '../database/pool.ts'
import type { Log } from '../log.ts'
import type { JobQueue } from '../queue/queue.ts'
import type { Settings } from '../settings/table.ts'

/** What a `CollabSync` works on; whoever opened the parts closes them. */
export interface Parts {
  readonly database: Database
  /** May be away: what is stored meanwhile, workers take up. */
  readonly queue: JobQueue
  readonly settings: Settings
  readonly log: Log
  /** What `sync.runs` says of who asked. */
  readonly trigger: 'http' | 'api'
}
