import { Readable } from 'node:stream'
import type { QueryResult } from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { readChanges, readHeldBack } from '../../src/features/export/changes.ts'
import type { StoredChange } from '../../src/features/export/changes.ts'
import type { Client, Database } from '../../src/core/database/pool.ts'
import {
  copyOf,
  readExportObjects,
  streamRows,
  withSnapshot,
} from '../../src/features/export/rows.ts'
import * as refresh from '../../src/core/database/statements/refresh.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { createEmptyDatabase, createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { fillComments } from '../export/fill-comments.ts'
import { until } from '../helpers/until.ts'
import { readAll } from './copy.ts'

/**
 * The feed waits for transactions of its own database, and for no other. Each order is forced by the test. A transaction of
 * another test that ends just while the horizon is read counts as one of this database for that look: then `until` looks
 * again.
 */

const own = await createTestDatabase()
const other = await createEmptyDatabase()
await fillComments(own, 50)
await other.pool.query('create table notes (text text)')

let cursor: string
beforeEach(async () => {
  cursor = (await readAll(own.pool, null, 1000)).cursor
})

async function connect({ pool }: TestDatabase): Promise<Client> {
  const client = await pool.connect()
  closedAtEnd(async () => client.release(true))
  return client
}

/** A transaction that has written in the other database and goes on. */
async function beginElsewhere(): Promise<Client> {
  const client = await connect(other)
  await client.query(`begin; insert into notes values ('begun')`)
  return client
}

const EDIT = `update collab_store.comments set comment_text = $1, version = version + 1, change = 'edited' where comment_id = 1`

const edit = (on: Client | Database, text: string) => on.query(EDIT, [text])

/** The texts of what changed behind a cursor, and the cursor to go on from. */
async function read(after = cursor): Promise<{ texts: string[]; cursor: string }> {
  const page = await readAll(own.pool, after)
  return { texts: textsOf(page), cursor: page.cursor }
}

function textsOf({ changes }: { readonly changes: readonly StoredChange[] }): string[] {
  return changes.map(({ row }) => JSON.parse(row ?? '{}').comment_text)
}

describe('a transaction of another database holds nothing back', () => {
  test('where it has written', async () => {
    await beginElsewhere()
    await edit(own.pool, 'beside a writer')
    expect((await read()).texts).toEqual(['beside a writer'])
    await until('nothing is held back', async () => (await readHeldBack(own.pool)).lines === 0)
    expect(await readHeldBack(own.pool)).toMatchObject({ pid: null })
  })

  test('where it has written within savepoints', async () => {
    const client = await connect(other)
    await client.query(`begin; savepoint a; insert into notes values ('a'); savepoint b;
      insert into notes values ('b'); release b`)
    await edit(own.pool, 'beside savepoints')
    expect((await read()).texts).toEqual(['beside savepoints'])
  })

  test('where it is prepared', async () => {
    const client = await connect(other)
    await client.query(
      `begin; insert into notes values ('prepared'); prepare transaction 'elsewhere'`,
    )
    try {
      await edit(own.pool, 'beside a prepared one')
      expect((await read()).texts).toEqual(['beside a prepared one'])
      await until('nothing is held back', async () => (await readHeldBack(own.pool)).lines === 0)
      expect(await readHeldBack(own.pool)).toMatchObject({ roleName: null })
    } finally {
      await client.query(`rollback prepared 'elsewhere'`)
    }
  })

  test('where it began after the reader looked at the activity of the server', async () => {
    const reader = await connect(own)
    await reader.query('begin; select count(*) from pg_stat_activity')
    await beginElsewhere()
    await edit(own.pool, 'after the look')
    const filter = { after: cursor, max: 10, objects: null }
    await until('the change is given', async () => {
      const { changes } = await readChanges(reader, filter)
      return changes.length === 1
    })
  })

  test('where it ends between the cursor of an export and its rows', async () => {
    const elsewhere = await beginElsewhere()
    await edit(own.pool, 'exported')
    const copies = (await readExportObjects(own.pool)).flatMap((each) => copyOf(each) ?? [])
    const comments = copies.find(({ name }) => name === 'comments')!
    const text = comments.columns.findIndex(({ name }) => name === 'comment_text')
    const exported = await withSnapshot(own.pool, async (snapshot) => {
      await elsewhere.query('commit')
      const where = { organizationId: null, since: null, after: cursor }
      const rows = await Readable.from(streamRows(snapshot, comments, where)).toArray()
      return { texts: rows.map((row) => row[text]), cursor: snapshot.cursor }
    })
    expect([...exported.texts, ...(await read(exported.cursor)).texts]).toEqual(['exported'])
  })

  test('nor does it end what a pass of refresh counts', async () => {
    const elsewhere = await beginElsewhere()
    await edit(own.pool, 'looked at by a pass')
    const { rows } = await elsewhere.query('select pg_current_xact_id()::text as xid')
    await until('the horizon is beyond it', async () => {
      const { snapshot } = await refresh.state.one(own.pool)
      return BigInt(snapshot) > BigInt(rows[0].xid)
    })
  })

  test('as a role without special rights sees it', async () => {
    const elsewhere = await beginElsewhere()
    const { rows } = await elsewhere.query('select pg_current_xact_id()::xid as xid')
    const reader = await connect(own)
    await reader.query('set role collab_reader')
    const shown = await reader.query(
      `select a.datid <> d.oid as is_elsewhere from pg_stat_get_activity(null) a, pg_database d
      where a.backend_xid = $1 and d.datname = current_database()`,
      [rows[0].xid],
    )
    expect(shown.rows).toEqual([{ is_elsewhere: true }])
  })
})

describe('a transaction of its own database', () => {
  test('holds back what is written beside it, until it ends, and is the one that is named', async () => {
    await beginElsewhere()
    const writer = await connect(own)
    const begun = await writer.query(
      `begin; select pg_current_xact_id()::text as xid, pg_backend_pid() as pid`,
    )
    const [{ xid, pid }] = (begun as unknown as QueryResult[])[1]!.rows
    await edit(own.pool, 'beside the own writer')
    const before = await readChanges(own.pool, { after: cursor, max: 10, objects: null })
    expect(before.changes).toEqual([])
    await until('one line waits', async () => (await readHeldBack(own.pool)).lines === 1)
    expect(await readHeldBack(own.pool)).toMatchObject({ pid })
    await until('refresh waits for the writer', async () => {
      const { snapshot } = await refresh.state.one(own.pool)
      return snapshot === xid
    })
    const exported = await withSnapshot(own.pool, async (snapshot) => snapshot.cursor)
    await edit(writer, 'written last')
    await writer.query('commit')
    for (const after of [before.cursor, exported])
      expect((await read(after)).texts).toEqual(['written last', 'written last'])
    // In the order of the rows, although the transaction that wrote last has the lower ID.
    const { changes } = await readAll(own.pool, before.cursor)
    const numbers = changes.map((change) => Number(change.cursor.split('-')[3]))
    const { rows } = await own.pool.query(
      'select number::int, xid::text from collab_store.changes order by number desc limit 2',
    )
    expect(rows[0].xid).toBe(xid)
    expect(numbers).toEqual([rows[1].number, rows[0].number])
  })

  test('that ends while the page is read is not passed over, beside one of another database', async () => {
    const writer = await connect(own)
    await beginElsewhere()
    await writer.query('begin')
    await edit(writer, 'written first')
    const reader = await connect(own)
    // Its snapshot lacks the writer, who is in no list of activity when the horizon is read.
    await reader.query('begin isolation level repeatable read; select from collab_store.changes')
    await writer.query('commit')
    const page = await readChanges(reader, { after: cursor, max: 10, objects: null })
    expect(page.changes).toEqual([])
    expect((await read(page.cursor)).texts).toEqual(['written first'])
  })

  test('cannot be prepared once it wrote what the feed tells', async () => {
    const writer = await connect(own)
    await writer.query('begin')
    await edit(writer, 'to be prepared')
    await expect(writer.query(`prepare transaction 'own'`)).rejects.toThrow(/NOTIFY/)
    expect((await read()).texts).toEqual([])
  })
})
