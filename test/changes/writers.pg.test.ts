import { describe, expect, test } from 'vitest'
import { listSource } from '../../src/features/catalog/lines.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import type { CatalogLine } from '../../src/schemas/catalog-line.ts'
import type { StoredChange } from '../../src/features/export/changes.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { rolledBack } from '../../src/core/database/pool.ts'
import type { Client } from '../../src/core/database/pool.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import { addComment, edit } from '../../src/demo/changes.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { CHANGED_OBJECTS, columnOf } from '../../src/base/columns.ts'
import { DELETED_COUNTS, REMOVED_COUNTS } from '../../src/schemas/counts.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { decideHeld } from '../../src/core/sync/held.ts'
import { openLive } from '../helpers/live.ts'
import { firstPlace } from '../helpers/places.ts'
import { Copy, differences, NO_DIFFERENCES, lineOf, loadExports } from './copy.ts'
import { readAll, tableTexts } from './copy.ts'

/** Views of collab that the feed leaves out: what was before, which the rows of now do not show. */
const HISTORY = ['comment_versions', 'user_versions']
/** Tables of collab_store of which no view of collab shows anything but history and times of check. */
const NOT_LOGGED = [
  'batches',
  'changes',
  'changes_pruned',
  'comment_versions',
  'definitions',
  'observed_members',
  'observed_records',
  'past_memberships',
  'recent_threads',
  'user_versions',
]

const PERSON = { userId: 'zzyzx-17', name: 'Wilhelmine Zzyzx', email: 'w@zzyzx.example' }

let cursor: string | null = null
let exportedTo: string | null = null
const live = await openLive('none')
const [copy, exported] = [new Copy(), new Copy()]
const place = firstPlace(live.world)
const { organizationId: here } = place

const sourceOf = (lines: readonly CatalogLine[]) => listSource('world', lines)

/** Expects that the copies by the feed and by exports equal the tables. @returns what changed, as `object change` */
async function follow(): Promise<{ said: Set<string>; changes: StoredChange[] }> {
  const { changes, cursor: last } = await readAll(live.database.pool, cursor)
  cursor = last
  for (const change of changes) copy.apply(lineOf(change))
  exportedTo = await loadExports(exported, live.database.pool, exportedTo)
  for (const each of [copy, exported])
    expect(await differences(each, live.database.pool)).toEqual(NO_DIFFERENCES)
  return { said: new Set(changes.map(({ object, change }) => `${object} ${change}`)), changes }
}

describe('whatever writes to what the views of collab show, a copy by the feed alone is equal to them:', () => {
  test('an import', async () => {
    await live.importCatalog()
    const { said } = await follow()
    expect([...said].toSorted()).toEqual([
      'annotation added',
      'document added',
      'organization added',
      'user_group added',
    ])
  })

  test('a first run, and one that finds nothing changed, which says nothing', async () => {
    live.world.putUser(here, PERSON)
    live.world.putDocumentUsers(here, place.documentId, [PERSON.userId])
    addComment(live.world, place, { text: 'mine', from: PERSON })
    const { run_id: runId } = await live.run()
    const { said, changes } = await follow()
    expect(said).toContain('comment added')
    expect(said).toContain('annotation edited')
    expect(said).toContain('user_group_member added')
    expect(new Set(changes.map((change) => change.runId))).toEqual(new Set([runId]))
    await live.run()
    expect((await follow()).changes).toEqual([])
  })

  test('runs that find all kinds of changes, and failures', async () => {
    const said = new Set<string>()
    const [commentId = 0] = (live.world.thread(place)?.live ?? []).map((each) => each.commentId)
    edit(live.world, place, commentId, { text: 'edited' })
    // The first commit that removes a member fails, as one that met another transaction.
    await live.database.pool.query(`
      create sequence tries;
      create function fail_first() returns trigger language plpgsql as $$
      begin
        if nextval('tries') = 1 then raise exception using errcode = 'serialization_failure'; end if;
        return new;
      end $$;
      create trigger fail_first before update on sync.run_items for each row
      when (new.members_removed > old.members_removed) execute function fail_first()`)
    for (let round = 0; round < 4; round++) {
      randomChanges(live.world, { count: 60, seed: round })
      live.standIn.setFaults(
        round < 3 ? [{ kind: 'forbidden', match: { operation: 'comments' }, times: 5 }] : [],
      )
      await live.run({ settings: { SYNC_RETRIES: '0' } })
      for (const each of (await follow()).said) said.add(each)
    }
    for (const each of [
      'comment added',
      'comment edited',
      'comment deleted',
      'comment restored',
      'user added',
      'user edited',
      'user removed',
      'document_user removed',
      'user_group_member added',
    ])
      expect(said).toContain(each)
    const tries = await live.database.pool.query('select last_value::int as n from tries')
    expect(tries.rows[0].n).toBeGreaterThan(1)
    await live.database.pool.query(
      'drop trigger fail_first on sync.run_items; drop function fail_first; drop sequence tries',
    )
  })

  test('the counts of each run are the removals of the feed', async () => {
    const { changes } = await readAll(live.database.pool, null)
    const removed = changes.filter(({ change }) => change === 'removed' || change === 'deleted')
    const counts = [...REMOVED_COUNTS, ...DELETED_COUNTS].map(columnOf)
    const { rows } = await live.database.pool.query(
      `select run_id as "runId", users_removed as users, members_removed as members, ${counts.join(' + ')} as all from sync.runs`,
    )
    const members = /^(document_user|user_group_member)$/
    const counted = rows.map(({ runId }) => {
      const objects = removed.filter((each) => each.runId === runId).map(({ object }) => object)
      return {
        runId,
        users: objects.filter((object) => object === 'user').length,
        members: objects.filter((object) => members.test(object)).length,
        all: objects.length,
      }
    })
    expect(rows).toEqual(counted)
  })

  test('an import that prunes, and one that brings back', async () => {
    const lines = [...catalogLines(live.world)]
    const left = lines.filter(
      (line) => !('documentId' in line) || line.documentId !== place.documentId,
    )
    expect(left.length).toBeLessThan(lines.length)
    await importCatalog(live.database.pool, sourceOf(left), { prune: true, acceptsAll: true })
    expect((await follow()).said).toEqual(new Set(['annotation removed', 'document removed']))
    await importCatalog(live.database.pool, sourceOf(lines), { prune: true, acceptsAll: true })
    expect((await follow()).said).toEqual(new Set(['annotation restored', 'document restored']))
  })

  test('an import that gives names, and one that gives the same again', async () => {
    const [groupId = ''] = live.world.groupIds(here)
    const lines = [
      { ...place, organizationName: 'Customer', documentName: `Plan of ${PERSON.email}` },
      { organizationId: here, organizationUserGroupId: groupId, organizationUserGroupName: 'Team' },
    ]
    const options = { prune: false, redaction: readNameRedaction }
    await importCatalog(live.database.pool, sourceOf(lines), options)
    expect([...(await follow()).said].toSorted()).toEqual([
      'document edited',
      'organization edited',
      'user_group edited',
    ])
    await importCatalog(live.database.pool, sourceOf(lines), options)
    expect((await follow()).changes).toEqual([])
  })

  test('what a person accepts', async () => {
    live.standIn.setFaults([
      { kind: 'empty-list', match: { operation: 'users', organizationId: here } },
    ])
    const { run_id: runId } = await live.run()
    live.standIn.setFaults([])
    await follow()
    const decision = { resolution: 'accepted', by: 'ann', reason: null } as const
    const accepted = await decideHeld({ database: live.database.pool }, { runId }, decision)
    expect(accepted.people).toBeGreaterThan(0)
    const { said, changes } = await follow()
    expect(said).toContain('user removed')
    expect(said).toContain('document_user removed')
    expect(new Set(changes.map((change) => change.runId))).toEqual(new Set([null]))
    await live.run()
    expect((await follow()).said).toContain('user restored')
  })

  test('an erasure, which leaves no id of the person in the feed', async () => {
    const { pool } = live.database
    const { rows } = await pool.query('select person from collab.users where user_id = $1', [
      PERSON.userId,
    ])
    await eraseUser(pool, { userId: PERSON.userId, organizationId: null, reason: 'asked' })
    const { said, changes } = await follow()
    expect(said).toContain('user erased')
    expect(said).toContain('document_user erased')
    expect(said).toContain('document erased')
    expect(said).toContain('comment erased')
    const erased = changes.find(({ object, row }) => object === 'user' && row === null)
    expect(erased).toMatchObject({ change: 'erased', person: rows[0].person })
    expect(JSON.parse(erased?.key ?? '')).toEqual({ organization_id: here, user_id: null })
    const all = await readAll(pool, null)
    expect(JSON.stringify(all.changes).toLowerCase()).not.toContain('zzyzx')
    expect(exported.texts().join().toLowerCase()).not.toContain('zzyzx')
    const log = await pool.query('select c::text as row from collab_store.changes c')
    expect(
      log.rows
        .map(({ row }) => row)
        .join()
        .toLowerCase(),
    ).not.toContain('zzyzx')
    live.world.putUser(here, { ...PERSON })
    await live.run()
    await follow()
  })

  test('and prune says nothing, as it touches none of it', async () => {
    await live.run()
    await follow()
    await prune(live.database.pool, new Date())
    expect((await follow()).changes).toEqual([])
  })
})

test('every view of collab is an object of the feed, and every table of collab_store is logged or is none of theirs', async () => {
  const { rows: views } = await live.database.pool.query(
    `select regexp_replace(viewname, 's$', '') as name, viewname from pg_views where schemaname = 'collab'`,
  )
  expect(
    views
      .filter(({ viewname }) => !HISTORY.includes(viewname))
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([...CHANGED_OBJECTS].toSorted())
  const { rows: tables } = await live.database.pool.query(`
    select c.relname as name, array(select (case when t.tgtype & 4 > 0 then 'insert' when t.tgtype & 8 > 0 then 'delete' else 'update' end)
      from pg_trigger t where t.tgrelid = c.oid and t.tgname like 'log\\_%' and t.tgenabled = 'O' order by 1) as logged
    from pg_class c where c.relnamespace = 'collab_store'::regnamespace and c.relkind in ('r', 'p') order by 1`)
  for (const { name, logged } of tables) {
    if (NOT_LOGGED.includes(name)) expect([name, logged]).toEqual([name, []])
    else if (name === 'listings') expect([name, logged]).toEqual([name, ['update']])
    else expect([name, logged]).toEqual([name, ['delete', 'insert', 'update']])
  }
})

/** A value other than the one that is there, by the type of its column. */
const OTHER: Readonly<Record<string, string>> = {
  integer: '{} + 1',
  smallint: '{} + 1',
  bigint: '{} + 1',
  text: `coalesce({}, '') || 'x'`,
  boolean: 'not {}',
  'timestamp with time zone': `coalesce({}, now()) + interval '1 day'`,
  jsonb: `'{"other": 1}'`,
  bytea: `'\\x0102'`,
  'text[]': `'{x}'`,
}

test('a change of any column is logged where a view of collab shows it, and costs nothing where none does', async () => {
  const { rows: columns } = await live.database.pool.query(
    `
    select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'collab_store'::regnamespace and c.relkind = 'r' and c.relname <> all($1)
      and a.attname !~ '_key$'`,
    [NOT_LOGGED],
  )
  const tried = new Map<string, boolean>()
  for (const { table, column, type } of columns) {
    const other = OTHER[type]?.replaceAll('{}', column)
    if (other === undefined) continue
    await rolledBack(live.database.pool, async (client) => {
      const before = await shown(client)
      const set = `update collab_store.${table} set ${column} = ${other}
        where ctid = (select ctid from collab_store.${table} order by ctid limit 1)`
      // A check or a key may not allow it.
      const failed = await client.query(set).catch((error: Error) => error)
      if (failed instanceof Error) return
      const isShown = (await shown(client)) !== before
      const { rows } = await client.query(
        'select count(*)::int as lines from collab_store.changes where xid = pg_current_xact_id()',
      )
      tried.set(`${table}.${column}`, isShown)
      // A comment is written where something of it changed.
      if (table !== 'comments' || isShown)
        expect([table, column, rows[0].lines > 0]).toEqual([table, column, isShown])
    })
  }
  expect([...tried.values()].filter(Boolean).length).toBeGreaterThan(25)
  expect(tried.get('users.source')).toBe(false)
  expect(tried.get('annotations.own_checked_at')).toBe(false)
  expect(tried.get('listings.failing_since')).toBe(true)
})

/** All that a follower has, as one text. */
async function shown(client: Client): Promise<string> {
  return (await tableTexts(client as never)).join('\n')
}
