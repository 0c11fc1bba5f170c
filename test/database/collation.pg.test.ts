import { expect, test, vi } from 'vitest'
import { checkCollation, checkStore, describeServer } from '../../src/cli/doctor/check-database.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import * as users from '../../src/core/database/statements/users.ts'
import { describeDatabase } from '../../src/core/database/connection-errors.ts'
import { openDatabase } from '../../src/core/database/pool.ts'
import { createEmptyDatabase, onServer, urlWith } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import { startRelay } from '../helpers/relay.ts'

/** Sorted as bytes. The collation of the database below sorts them as people do: 10, 9, é, org_1, ORG-0, Org-1, z. */
const IN_BYTE_ORDER = ['10', '9', 'ORG-0', 'Org-1', 'org_1', 'z', 'é']

const database = await createEmptyDatabase(`locale_provider icu icu_locale 'en-US'`)
await migrate(database.url)

test('no index of ids depends on the collation of the database', async () => {
  const { rows } = await database.pool.query<{ indexed: string }>(
    `select distinct x.indrelid::regclass || '.' || a.attname as indexed
    from pg_index x
    cross join lateral unnest(x.indkey::int[], x.indcollation::oid[]) u (number, collated_by)
    join pg_attribute a on a.attrelid = x.indrelid and a.attnum = u.number
    where u.collated_by = 'pg_catalog.default'::regcollation and a.attname ~ '_id$'
      and x.indrelid::regclass::text ~ '^(collab_store|sync)[.]'`,
  )
  // Made of a host name by each process for itself.
  expect(rows.map(({ indexed }) => indexed)).toEqual(['sync.processes.worker_id'])
})

test('users are added in the order in which their rows are locked elsewhere', async () => {
  const { rows } = await database.pool.query<{ organization_key: number }>(
    `insert into collab_store.organizations (organization_id) values ('acme') returning organization_key`,
  )
  const organizationKey = rows[0]?.organization_key as number
  const each = <T>(value: T): T[] => IN_BYTE_ORDER.map(() => value)
  await users.add.run(database.pool, {
    organizationKey,
    userIds: IN_BYTE_ORDER.toReversed(),
    digests: each(Buffer.alloc(32)),
    sources: each(1),
    sourceTimes: each(null),
    listed: each(true),
    at: new Date(),
    name: each(null),
    email: each(null),
    rest: each(null),
  })
  const idsBy = async (order: string) => {
    const { rows: read } = await database.pool.query<{ user_id: string }>(
      `select user_id from collab_store.users order by ${order}`,
    )
    return read.map(({ user_id }) => user_id)
  }
  expect(await idsBy('ctid')).toEqual(IN_BYTE_ORDER)
  expect(await idsBy('user_id')).toEqual(IN_BYTE_ORDER)
})

test.each([
  [-20_000, 'behind'],
  [20_000, 'ahead of'],
])('doctor tells of a machine whose clock differs by %d ms', async (aheadMs, way) => {
  const { store, settings } = await (await openLive('none')).openApp()
  const { now } = Date
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs)
  const { findings } = await checkStore(store, settings, 10_000).finally(() => clock.mockRestore())
  expect(findings.find(({ check }) => check === 'clock')).toMatchObject({
    state: 'fail',
    found: expect.stringContaining(` s ${way} PostgreSQL`),
  })
})

test('doctor names a PostgreSQL that accepts connections and does not respond', async () => {
  const { store, settings } = await (await openLive('none')).openApp()
  const relay = await startRelay(store.databaseUrl)
  relay.freeze()
  const frozen = openDatabase(urlWith(store.databaseUrl, { port: relay.port }))
  const { findings } = await checkStore({ ...store, database: frozen }, settings, 100)
  relay.cut()
  await frozen.end()
  expect(findings).toMatchObject([
    { check: 'PostgreSQL', found: `${describeDatabase(frozen)}: no response within 100 ms` },
  ])
})

test('doctor warns of a collation that changed under the indexes, with the statements that rebuild them', async () => {
  const { version } = await describeServer(database.pool)
  expect(await checkCollation(database.pool, version)).toBe(null)
  const name = new URL(database.url).pathname.slice(1)
  await onServer((server) =>
    server.query(`update pg_database set datcollversion = '1.2' where datname = $1`, [name]),
  )
  const finding = await checkCollation(database.pool, version)
  expect(finding).toMatchObject({
    check: 'collation',
    state: 'warn',
    found: expect.stringContaining('version 1.2'),
  })
  for (const statement of finding?.fix?.split('in psql: ')[1]?.split(';').filter(Boolean) ?? [])
    await database.pool.query(statement)
  expect(await checkCollation(database.pool, version)).toBe(null)
  expect(await checkCollation(database.pool, '14.9')).toBe(null)
})
