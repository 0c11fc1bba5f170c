import { describe, expect, test } from 'vitest'
import { checkDatabase } from '../../src/core/database/connection-errors.ts'
import { createLog } from '../../src/base/log.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import { itemDelivery, openQueue } from '../../src/core/queue/queue.ts'
import { onServer, openTestDatabase } from '../helpers/database.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import { startPooler } from '../helpers/pooler.ts'

const live = await openLive('postgres', {
  world: { organizations: 1, documentsPerOrganization: 2, annotationsPerDocument: 3 },
})

/** Each of them breaks what reads or writes without a word about it. */
const OF_THE_DATABASE = [
  `datestyle = 'German'`,
  `intervalstyle = 'iso_8601'`,
  `timezone = 'Asia/Kathmandu'`,
  `bytea_output = 'escape'`,
  `search_path = 'nowhere'`,
  `statement_timeout = '20s'`,
  `lock_timeout = '20s'`,
  `default_transaction_isolation = 'serializable'`,
  `extra_float_digits = '-15'`,
]

test('what the database sets for its sessions changes nothing: a run stores what the service says', async () => {
  await live.importCatalog()
  const name = new URL(live.database.url).pathname.slice(1)
  await onServer(async (server) => {
    for (const setting of OF_THE_DATABASE)
      await server.query(`alter database ${name} set ${setting}`)
  })
  expect(await live.run()).toMatchObject({ status: 'succeeded', rejected: 0 })
  await expectTablesEqual(live.database, live.world)
  const rows = await openTestDatabase(live.database.url).rows(
    `select '2026-01-02T03:04:05Z'::timestamptz::text as at, current_setting('statement_timeout') as statement_timeout`,
  )
  expect(rows).toEqual([{ at: '2026-01-02 03:04:05+00', statement_timeout: '10min' }])
})

describe('behind a pooler', () => {
  test('that holds sessions, and refuses most start-up parameters, tables and queue work', async () => {
    const pooler = await startPooler(live.database.url, 'session')
    await checkDatabase(openTestDatabase(pooler.url).pool)
    await migrateQueue({ kind: 'postgres', url: pooler.url })
    const queue = await openQueue({ kind: 'postgres', url: pooler.url }, createLog('silent'))
    const before = await queue.countPending()
    const runId = '00000000-0000-4000-8000-000000000000'
    const item = { runId, itemId: 1, kind: 'sync-batch' as const, round: 0, isScoped: true }
    await queue.deliver([itemDelivery(item)])
    expect(await queue.countPending()).toBe(before + 1)
    await queue.close()
  })

  test('that holds none, one sentence says what to set', async () => {
    const pooler = await startPooler(live.database.url, 'transaction')
    const sentence =
      /^At 127\.0\.0\.1:\d+ is a pooler that gives each transaction another session .* in DATABASE_URL, and in QUEUE_DATABASE_URL for the queue\.$/
    await expect(checkDatabase(openTestDatabase(pooler.url).pool)).rejects.toThrow(sentence)
    await expect(migrateQueue({ kind: 'postgres', url: pooler.url })).rejects.toThrow(sentence)
  })
})
