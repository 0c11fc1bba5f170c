import { pino } from 'pino'
import { beforeAll, beforeEach } from 'vitest'
import { Notifier } from '../../src/features/notify/notifier.ts'
import type { NotifierOptions } from '../../src/features/notify/notifier.ts'
import type { ReceiverAddress } from '../../src/schemas/notification-type.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { startReceiver } from './receiver-server.ts'
import type { Received, ReceiverServer } from './receiver-server.ts'

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A database and processes that look at it. */
export interface Rig {
  readonly database: TestDatabase
  /** Lines that the processes logged. */
  readonly logged: string[]
  /** Another process's worth. */
  notifier(options?: Partial<NotifierOptions>): Notifier
  /** A run that is over, as it would be settled; 10 scopes. */
  endedRun(run?: {
    status?: string
    trigger?: string
    scope?: object
    failed?: number
    /** Hours ago. */
    asked?: number
    ended?: number
  }): Promise<string>
}

export async function openRig(notifyUrls: readonly ReceiverAddress[]): Promise<Rig> {
  const database = await createTestDatabase()
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })
  const options: NotifierOptions = {
    database: database.pool,
    log,
    notifyUrls,
    notifySecret: SECRET,
    secondsBetween: 0,
  }
  return {
    database,
    logged,
    notifier: (own = {}) => new Notifier({ ...options, ...own }),
    async endedRun({
      status = 'succeeded',
      trigger = 'cli',
      scope = {},
      failed = 0,
      asked = 0,
      ended = 0,
    } = {}) {
      const { rows } = await database.pool.query(
        `insert into sync.runs (status, trigger, scope, requested_at, started_at, finished_at, scopes_planned,
          scopes_succeeded, scopes_failed, problem)
        select $1, $2, $3, at, at, clock_timestamp() - make_interval(secs => $5 * 3600), 10, 10 - $6::int, $6::int,
          case when $1 <> 'succeeded' then 'SECRET of the service' end
        from (select clock_timestamp() - make_interval(secs => $4 * 3600) as at) t
        returning run_id`,
        [status, trigger, scope, asked, ended, failed],
      )
      return rows[0].run_id
    },
  }
}

/** A receiver for the tests of a file, and for each of them a rig and a notifier that has watched for two days. */
export function reportingRig() {
  let receiver: ReceiverServer
  let before: number
  const on = {
    rig: undefined as unknown as Rig,
    notifier: undefined as unknown as Notifier,
    /** What the receiver was sent since the test began. */
    told: (): Received['body'][] => receiver.received.slice(before).map(({ body }) => body),
    types: (): string[] => on.told().map(({ type }) => type),
    sql: async (text: string, values: unknown[] = []) =>
      (await on.rig.database.pool.query(text, values)).rows,
    /** As if a process had looked for so many hours. */
    watchSince: (hours: number) =>
      on.sql('update sync.notify_watch set watching_since = now() - make_interval(hours => $1)', [
        hours,
      ]),
    /** Looks twice, so that what is resolved is reported, and delivers. */
    async check() {
      await on.notifier.check()
      await on.notifier.check()
      await on.notifier.deliver()
    },
  }
  beforeAll(async () => {
    receiver = await startReceiver()
  })
  beforeEach(async () => {
    on.rig = await openRig([{ shape: 'json', url: `${receiver.url}/hook` }])
    on.notifier = on.rig.notifier()
    before = receiver.received.length
    await on.watchSince(48)
  })
  return on
}

/** All look and deliver at the same time, until nobody finds anything more to do. */
export async function lookTogether(notifiers: readonly Notifier[]): Promise<void> {
  for (let idle = 0; idle < 2;) {
    await Promise.all(notifiers.map((each) => each.check()))
    // Of those that look at once one has its turn, and what is resolved is reported by a second look.
    for (let looks = 0; looks < 2; looks += 1) await notifiers[0]?.check()
    const looks = await Promise.all(notifiers.map((each) => each.deliver()))
    idle = looks.every((sent) => sent === 0) ? idle + 1 : 0
  }
}
