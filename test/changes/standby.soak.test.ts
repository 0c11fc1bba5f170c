import { afterAll, expect, inject, test } from 'vitest'
import { readChanges } from '../../src/features/export/changes.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import type { Database } from '../../src/core/database/pool.ts'
import { urlWith } from '../helpers/database.ts'
import { startPairLike } from '../helpers/own-server.ts'
import type { Pair } from '../helpers/own-server.ts'
import { until } from '../helpers/until.ts'
import { readAll } from './copy.ts'

const started = await startPairLike(inject('postgresUrl'))
if (started === null) throw new Error('The programs of the tests’ PostgreSQL are not here.')
const pair: Pair = started
const admin = openDatabase(pair.primary.url, { max: 1 })
await admin.query('create database feed')
await admin.end()
const ofFeed = ({ url }: { url: string }) => urlWith(url, { database: 'feed' })
await migrate(ofFeed(pair.primary))
const primary = openDatabase(ofFeed(pair.primary))
const standby = openDatabase(ofFeed(pair.standby))
afterAll(async () => {
  await standby?.end()
  await primary?.end()
  await pair?.standby.close()
  await pair?.primary.close()
})

/** One change of the feed, which the primary keeps without asking the standby. */
async function add(organizationId: string): Promise<void> {
  const client = await primary.connect()
  await client.query(`begin; set local synchronous_commit = local`)
  await client.query('insert into collab_store.organizations (organization_id) values ($1)', [
    organizationId,
  ])
  await client.query('commit')
  client.release()
}

async function idsAfter(database: Database, after: string | null, max = 100): Promise<string[]> {
  const { changes } = await readAll(database, after, max)
  return changes.map(({ key }) => JSON.parse(key).organization_id)
}

async function caughtUp(): Promise<void> {
  const { rows } = await primary.query('select pg_current_wal_lsn() as lsn')
  await until('the standby has replayed all', async () => {
    const replayed = await standby.query(
      `select pg_last_wal_replay_lsn() >= $1::pg_lsn as is_there`,
      [rows[0].lsn],
    )
    return replayed.rows[0].is_there as boolean
  })
}

test('a standby gives what the primary gives, and waits as long as a writer of the primary', async () => {
  await add('a')
  await caughtUp()
  expect(await idsAfter(standby, null)).toEqual(['a'])
  const { cursor } = await readAll(primary, null)
  const writer = await primary.connect()
  await writer.query(`begin; set local synchronous_commit = local`)
  await writer.query(`insert into collab_store.organizations (organization_id) values ('b')`)
  await add('c')
  await caughtUp()
  // One look: nothing is given until the writer has ended.
  const looks = await Promise.all(
    [primary, standby].map((database) =>
      readChanges(database, { after: cursor, max: 10, objects: null }),
    ),
  )
  await writer.query('commit')
  writer.release()
  expect(looks.map(({ changes }) => changes)).toEqual([[], []])
  await caughtUp()
  expect((await idsAfter(standby, cursor)).toSorted()).toEqual(['b', 'c'])
})

test('a cursor of the primary waits at a standby that is behind, and passes over nothing', async () => {
  const { cursor } = await readAll(primary, null)
  await caughtUp()
  await standby.query('select pg_wal_replay_pause()')
  await until('replay is paused', async () => {
    const { rows } = await standby.query('select pg_get_wal_replay_pause_state() as state')
    return rows[0].state === 'paused'
  })
  for (const id of ['d', 'e', 'f']) await add(id)
  const within = await readChanges(primary, { after: cursor, max: 1, objects: null })
  const end = await readAll(primary, cursor)
  expect([within.hasMore, end.changes.length]).toEqual([true, 3])
  for (const after of [within.cursor, end.cursor]) {
    const page = await readChanges(standby, { after, max: 10, objects: null })
    expect(page).toEqual({ changes: [], cursor: after, hasMore: false })
  }
  await add('g')
  await standby.query('select pg_wal_replay_resume()')
  await caughtUp()
  expect(await idsAfter(standby, within.cursor)).toEqual(['e', 'f', 'g'])
  expect(await idsAfter(standby, end.cursor)).toEqual(['g'])
})
