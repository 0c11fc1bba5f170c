import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import { revokingStatements } from '../database/revoking-statements.ts'
import { createEmptyDatabase, onServer, openTestDatabase, urlWith } from '../helpers/database.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openRig } from './rig.ts'

const WORLD = { organizations: 2, documentsPerOrganization: 2, annotationsPerDocument: 5 }
const role = `cs_worker_${randomBytes(4).toString('hex')}`
const password = randomBytes(8).toString('hex')

const database = await createEmptyDatabase()
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
await database.pool.query(revokingStatements(database.url))
await migrateQueue({ kind: 'postgres', url })
const rig = await openRig('postgres', { world: WORLD, database: openTestDatabase(url) })
afterAll(async () => {
  await rig?.close()
  await database?.drop()
  await onServer((server) => server.query(`drop role if exists ${role}`))
})

test('a role that owns its database and nothing else, not even what an administrator can revoke, migrates, works and keeps the queue there', async () => {
  const runId = await rig.startRun()
  const worker = await rig.start()
  expect(await rig.settled(runId, 180_000)).toMatchObject({ status: 'succeeded' })
  expect(await worker.stop()).toBe(0)
  await expectTablesEqual(rig.database, rig.world)
})
