import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { EnvironmentError } from '../../src/base/errors.ts'
import { openOwnPostgres } from '../faults/servers.ts'
import type { OwnPostgres } from '../faults/servers.ts'
import { onDatabase } from './on-app.ts'

let postgres: OwnPostgres
let database: Database
let collabSync: CollabSync

beforeEach(async () => {
  postgres = await openOwnPostgres()
  await migrate(postgres.url)
  database = openDatabase(postgres.url)
  collabSync = onDatabase(database)
})
afterEach(async () => {
  await database?.end()
})

test('while PostgreSQL is away everything says so in a sentence, and a watcher waits for it', async () => {
  const { rows } = await database.query(
    `insert into sync.runs (trigger) values ('cli') returning run_id`,
  )
  const runId = rows[0].run_id as string
  const statuses: string[] = []
  const watching = (async () => {
    for await (const { status } of collabSync.watchRun(runId)) statuses.push(status)
  })()
  await expect.poll(() => statuses).toEqual(['queued'])

  await postgres.kill()
  const asked = [
    () => collabSync.startRun({ idempotencyKey: 'one' }),
    () => collabSync.getRun(runId),
    () => collabSync.waitForRun(runId),
    () => collabSync.listRuns(),
    () => collabSync.setSchedule({ cron: '0 2 * * *' }),
  ]
  for (const ask of asked) {
    const told = await ask().catch((error: unknown) => error)
    expect(told).toBeInstanceOf(EnvironmentError)
    expect((told as Error).message).toMatch(
      /^PostgreSQL at 127\.0\.0\.1:\d+, database .* again in a/,
    )
  }
  // Long enough for the watcher to have looked in vain.
  await sleep(2000)

  await postgres.start()
  await database.query(
    `update sync.runs set status = 'cancelled', finished_at = now() where run_id = $1`,
    [runId],
  )
  await watching
  expect(statuses).toEqual(['queued', 'cancelled'])
  expect(await collabSync.getRun(runId)).toMatchObject({ status: 'cancelled' })
})
