import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { createEmptyDatabase, onServer, urlWith } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { buildWorker } from '../helpers/worker-process.ts'
import type { WorkerBuild } from '../helpers/worker-process.ts'
import { openRig } from './rig.ts'
import type { Rig } from './rig.ts'

const WORLD = {
  seed: 8,
  organizations: 2,
  documentsPerOrganization: 2,
  annotationsPerDocument: 5,
  commentsPerAnnotation: 3,
  usersPerOrganization: 8,
  groupsPerOrganization: 1,
}
const role = `cs_worker_${randomBytes(4).toString('hex')}`
const password = randomBytes(8).toString('hex')

let database: TestDatabase
let build: WorkerBuild
let rig: Rig

beforeAll(async () => {
  build = await buildWorker()
  database = await createEmptyDatabase()
  const name = new URL(database.url).pathname.slice(1)
  await onServer(async (server) => {
    await server.query(
      `create role ${role} login password '${password}' nosuperuser nocreatedb nocreaterole`,
    )
    await server.query(`alter database ${name} owner to ${role}`)
    // As an administrator would once, where the migrating role may not: migrate says so and goes on.
    await server.query(
      `do $$ begin create role collab_reader nologin; exception when duplicate_object then null; end $$`,
    )
  })
  const url = urlWith(database.url, { username: role, password })
  expect((await migrate(url)).readerRole).toEqual({ granted: true })
  rig = await openRig({ databaseUrl: url }, { world: WORLD })
})
afterAll(async () => {
  build?.killAll()
  await rig?.close()
  await database?.drop()
  await onServer((server) => server.query(`drop role if exists ${role}`))
})

test('a role that owns its database and nothing else migrates, works and keeps the queue there', async () => {
  const runId = await rig.startRun()
  const worker = await build.start(rig.environment)
  expect(await rig.settled(runId, 180_000)).toMatchObject({ status: 'succeeded' })
  expect(await worker.stop()).toBe(0)
  await expectTablesEqual(rig.database, rig.world)
})

test('collab_reader reads every view of collab and reporting', async () => {
  await asReader(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, viewname) as name from pg_views where schemaname in ('collab', 'reporting')`,
    )
    expect(rows.length).toBeGreaterThanOrEqual(12)
    for (const { name } of rows) await client.query(`select * from ${name} limit 1`)
    const { rows: comments } = await client.query('select count(*)::int as n from collab.comments')
    expect(comments[0].n).toBeGreaterThan(0)
  })
})

test('collab_reader reads nothing of sync, of collab_store, of the queue and of the ledger, and writes nothing', async () => {
  await asReader(async (client) => {
    const { rows } = await client.query<{ name: string; kind: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name, c.relkind as kind
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('sync', 'collab_store', 'collab_sync', 'bullmq') and c.relkind in ('r', 'p', 'v', 'm')`,
    )
    expect(rows.length).toBeGreaterThan(15)
    for (const { name } of rows) {
      await expect(client.query(`select * from ${name} limit 1`)).rejects.toThrow(
        /permission denied/,
      )
    }
    const { rows: views } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, viewname) as name from pg_views where schemaname in ('collab', 'reporting')`,
    )
    for (const { name } of views) {
      await expect(client.query(`delete from ${name}`)).rejects.toThrow(
        /permission denied|cannot delete/,
      )
    }
    for (const statement of [
      `insert into collab.organizations (organization_id) values ('x')`,
      `update collab.organizations set active = false`,
      'create table collab.mine (id int)',
      'create view reporting.mine as select 1',
      'drop view collab.comments',
    ]) {
      await expect(client.query(statement)).rejects.toThrow(
        /permission denied|cannot (insert|update)|must be owner/,
      )
    }
  })
})

async function asReader(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query('set role collab_reader')
    await work(client)
  } finally {
    await client.end()
  }
}
