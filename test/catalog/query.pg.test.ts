import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NumberedLine } from '../../src/features/catalog/lines.ts'
import { querySource } from '../../src/features/catalog/query.ts'
import { EnvironmentError, UsageError } from '../../src/base/errors.ts'
import { createEmptyDatabase, urlWith } from '../helpers/database.ts'
import { startRelay } from '../helpers/relay.ts'
import type { Relay } from '../helpers/relay.ts'
import { until } from '../helpers/until.ts'

const database = await createEmptyDatabase()
await database.pool.query('create table app_threads (org bigint, doc text, thread uuid)')
await database.pool.query(
  `insert into app_threads values (9007199254740993, ' plan ', '6c84fb90-12c4-11e1-840d-7b25c5ee775a'), (2, null, null)`,
)

async function read(text: string): Promise<NumberedLine[]> {
  const lines: NumberedLine[] = []
  for await (const line of querySource(database.url, text).lines()) lines.push(line)
  return lines
}

test('rows are read as PostgreSQL writes them, whatever their type and however the columns are written', async () => {
  const columns = [
    `org as "organizationId", doc as "documentId", thread as "annotationId"`,
    `thread as annotation_id, org as organization_id, doc as document_id`,
    `org as organizationId, doc as documentId, thread as annotationId`,
  ]
  for (const list of columns)
    expect(await read(`select ${list} from app_threads order by org desc;`)).toEqual([
      {
        number: 1,
        line: {
          organizationId: '9007199254740993',
          documentId: ' plan ',
          annotationId: '6c84fb90-12c4-11e1-840d-7b25c5ee775a',
        },
      },
      { number: 2, line: { organizationId: '2', documentId: null, annotationId: null } },
    ])
})

test('the blanks that pad a char(n) are not part of an id; those of a text are', async () => {
  const rows = `select 'acme'::char(10) as organization_id, ' b '::char(10) as document_id, 'c '::text as annotation_id`
  expect(await read(rows)).toEqual([
    { number: 1, line: { organizationId: 'acme', documentId: ' b', annotationId: 'c ' } },
  ])
})

test('more rows than one batch of the cursor come in order', async () => {
  const lines = await read('select n as organization_id from generate_series(1, 5001) n')
  expect(lines).toHaveLength(5001)
  expect(lines.at(-1)).toEqual({ number: 5001, line: { organizationId: '5001' } })
})

/** Ends the connection on which this query runs or its cursor is open. */
async function cutOff(text: string, relay?: Relay): Promise<void> {
  await until('the query ran', async () => {
    const { rowCount } = await database.pool.query(
      `select ${relay === undefined ? 'pg_terminate_backend(pid)' : ''} from pg_stat_activity
      where application_name = 'collab-sync catalog' and datname = current_database() and query = $1`,
      [text],
    )
    return rowCount === 1
  })
  relay?.cut()
}

describe.each([
  [
    'while the query runs',
    'select n::text as organization_id from generate_series(1, 3) n, app_threads',
  ],
  ['between two reads', 'select n::text as organization_id from generate_series(1, 1000000) n'],
])('a connection that is lost %s ends the reading', (when, text) => {
  // The first query waits for it.
  let lock: PoolClient
  beforeAll(async () => {
    lock = await database.pool.connect()
    await lock.query('begin; lock table app_threads')
  })
  afterAll(async () => {
    await lock.query('rollback')
    lock.release()
  })

  const reading = async (url: string, cut: () => Promise<void>) => {
    const lines = querySource(url, text).lines()[Symbol.asyncIterator]()
    if (when === 'between two reads') await lines.next()
    const cutting = cut()
    const rest = async () => {
      for (;;) if ((await lines.next()).done) return
    }
    const ended = expect(rest()).rejects.toThrow(EnvironmentError)
    await cutting
    await ended
  }

  test('where the server ends it', () => reading(database.url, () => cutOff(text)))

  test('where the network does', async () => {
    const relay = await startRelay(database.url)
    const url = urlWith(database.url, { port: relay.port })
    await reading(url, () => cutOff(text, relay))
  })
})

test('a reader that stops early leaves no connection behind', async () => {
  const text = 'select n as organization_id from generate_series(1, 100000) n'
  for await (const line of querySource(database.url, text).lines()) if (line.number === 10) break
  await until('its connection is gone', async () => {
    const { rowCount } = await database.pool.query(
      `select from pg_stat_activity where application_name = 'collab-sync catalog' and datname = current_database()`,
    )
    return rowCount === 0
  })
})

describe('what is refused', () => {
  test('columns with other names', async () => {
    expect(await read('select org from app_threads')).toEqual([
      { number: 1, complaint: expect.stringMatching(/unknown column "org"/) },
    ])
    expect(await read('select doc as document_id from app_threads')).toEqual([
      { number: 1, complaint: 'has no column organizationId' },
    ])
  })

  test('a wrong row, with its number', async () => {
    expect(await read(`select '' as organization_id`)).toEqual([
      { number: 1, complaint: 'is wrong: organizationId must not be empty' },
    ])
  })

  test.each([
    ['selec 1', /^CATALOG_SQL failed: syntax error/],
    [
      `with gone as (delete from app_threads returning org) select org as organization_id from gone`,
      /^CATALOG_SQL failed: cannot execute .* in a read-only transaction/,
    ],
    ['select 1; drop table app_threads', /^CATALOG_SQL failed: cannot insert multiple commands/],
    ['select 1/(n-3000) as organization_id from generate_series(1, 4000) n', /division by zero/],
  ])('%s', async (text, message) => {
    const failed = read(text)
    await expect(failed).rejects.toThrow(UsageError)
    await expect(failed).rejects.toThrow(message)
    const { rowCount } = await database.pool.query('select from app_threads')
    expect(rowCount).toBe(2)
  })

  test('a database that cannot be reached, without the password', async () => {
    const url = urlWith(database.url, { port: 1, username: 'u', password: 's3cret' })
    const failed = querySource(url, 'select 1').lines()[Symbol.asyncIterator]().next()
    await expect(failed).rejects.toThrow(EnvironmentError)
    await expect(failed).rejects.toThrow(
      /^The database in CATALOG_DATABASE_URL cannot be reached: nothing listens there\. .* CATALOG_DATABASE_URL right/,
    )
    await expect(failed).rejects.not.toThrow(/s3cret/)
  })
})
