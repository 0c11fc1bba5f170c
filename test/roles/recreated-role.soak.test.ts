import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { grantRole, revokeRole } from '../../src/database/grants.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/pool.ts'
import { openOwnPostgres } from '../faults/servers.ts'
import { createTestDatabase, onServer, urlWith } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'

/** A grant belongs to a role, not to whoever has its name by then. */

const suffix = randomBytes(5).toString('hex')
const ROLE = `cs_role_${suffix}`
const OTHER = `cs_other_${suffix}`
const ROLES = [ROLE, OTHER]

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(
    `insert into collab_store.organizations (organization_id) values ('a'), ('b'), ('c')`,
  )
})
afterAll(async () => {
  await database?.drop()
  await onServer(async (server) => {
    for (const role of ROLES) await server.query(`drop role if exists ${role}`)
  })
})

const recreate = (role: string) =>
  database.pool.query(`drop role if exists ${role}; create role ${role} login`)

/** The organizations that a role sees, as it sees them. */
async function seenBy(role: string, url = database.url): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, options: `-c role=${role}` })
  await client.connect()
  try {
    const { rows } = await client.query(
      'select organization_id from collab.organizations order by 1',
    )
    return rows.map(({ organization_id: id }) => id)
  } finally {
    await client.end()
  }
}

describe('a role that was dropped and created again under the same name', () => {
  test('has none of the old grants, neither with its first new one nor through another role', async () => {
    await recreate(ROLE)
    await recreate(OTHER)
    await grantRole(database.pool, ROLE, 'a')
    await grantRole(database.pool, OTHER, 'c')
    expect(await seenBy(ROLE)).toEqual(['a'])
    await recreate(ROLE)
    await expect(seenBy(ROLE)).rejects.toThrow('permission denied')
    // A member of a role has what the role has: nothing of its predecessor's.
    await database.pool.query(`grant ${ROLE} to ${OTHER}`)
    expect(await seenBy(OTHER)).toEqual(['c'])
    await database.pool.query(`grant collab_organization_reader to ${ROLE}`)
    expect(await seenBy(ROLE)).toEqual([])
    expect(await grantRole(database.pool, ROLE, 'b')).toEqual({ organizationIds: ['b'] })
    expect(await seenBy(ROLE)).toEqual(['b'])
  })

  test('has them neither where it was renamed meanwhile, and its new name is somebody else', async () => {
    await recreate(ROLE)
    await recreate(OTHER)
    await grantRole(database.pool, ROLE, 'a')
    await grantRole(database.pool, OTHER, 'b')
    await database.pool.query(
      `alter role ${ROLE} rename to cs_swap_${suffix}; alter role ${OTHER} rename to ${ROLE};
      alter role cs_swap_${suffix} rename to ${OTHER}`,
    )
    expect([await seenBy(ROLE), await seenBy(OTHER)]).toEqual([['b'], ['a']])
    expect(await grantRole(database.pool, ROLE, 'c')).toEqual({ organizationIds: ['b', 'c'] })
    expect(await revokeRole(database.pool, ROLE, 'b')).toEqual({ organizationIds: ['c'] })
    expect([await seenBy(ROLE), await seenBy(OTHER)]).toEqual([['c'], ['a']])
  })
})

test('a restore on another server keeps the grants, also those of a version that knew names only', async () => {
  await recreate(ROLE)
  await recreate(OTHER)
  await grantRole(database.pool, ROLE, 'a')
  await grantRole(database.pool, OTHER, 'b')
  await database.pool.query(
    `update collab_store.organization_grants_by_role set role_oid = null, server_id = null where role_name = '${OTHER}'`,
  )
  const dump = execFileSync('pg_dump', [database.url], { maxBuffer: 1e9 }).toString()
  const globals = execFileSync('pg_dumpall', ['--roles-only', '-d', inject('postgresUrl')])
    .toString()
    .split('\n')
    // The server of the tests has roles of others too.
    .filter(
      (line) =>
        line.includes(suffix) ||
        /^(CREATE|ALTER) ROLE collab_(reader|organization_reader|views)\b/.test(line),
    )
    .join('\n')
    .replaceAll(/ GRANTED BY \w+/g, '')
  const elsewhere = await openOwnPostgres()
  try {
    const server = new pg.Client(elsewhere.url)
    server.on('error', () => {})
    await server.connect()
    const { rows } = await server.query('select current_user as me')
    // Other roles first: the same names get other oids.
    await server.query(`create role before_${suffix}`)
    await server.query('create database restored')
    await server.query(globals.replaceAll('postgres', rows[0].me))
    await server.end()
    const url = urlWith(elsewhere.url, { database: 'restored' })
    const restored = dump.replaceAll(/OWNER TO postgres/g, `OWNER TO ${rows[0].me}`)
    execFileSync('psql', ['-q', '-d', url], { input: restored, stdio: ['pipe', 'ignore', 'pipe'] })
    expect([await seenBy(ROLE, url), await seenBy(OTHER, url)]).toEqual([['a'], ['b']])
    await migrate(url)
    expect([await seenBy(ROLE, url), await seenBy(OTHER, url)]).toEqual([['a'], ['b']])
    const pool = openDatabase(url)
    try {
      await pool.query(`drop role ${ROLE}; create role ${ROLE} login`)
      expect(await grantRole(pool, ROLE, 'c')).toEqual({ organizationIds: ['c'] })
      expect(await seenBy(ROLE, url)).toEqual(['c'])
    } finally {
      await pool.end()
    }
  } finally {
    await elsewhere.close()
  }
})
