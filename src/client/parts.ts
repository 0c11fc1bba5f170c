import type { Log } from '../base/log.ts'
import type { Database } from '../core/database/pool.ts'
import type { JobQueue } from '../core/queue/queue.ts'
import type { Settings } from '../settings/table.ts'

/** The parts of a `CollabSync`. Their owner closes them. */
export interface Parts {
  readonly database: Database
  /** Can be unreachable: workers enqueue later what is stored meanwhile. */
  readonly queue: JobQueue
  readonly settings: Settings
  readonly log: Log
  /** The name in `sync.actions`. */
  readonly by: string
  /** The trigger of runs in `sync.runs`. */
  readonly trigger: 'http' | 'api'
}
