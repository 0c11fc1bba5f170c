import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { addToCatalog, removeFromCatalog } from '../../src/catalog/change.ts'
import { importCatalog } from '../../src/catalog/import.ts'
import type { CatalogSource } from '../../src/catalog/lines.ts'
import { refreshCatalog } from '../../src/catalog/refresh.ts'
import { renameInCatalog, showLine } from '../../src/catalog/rename.ts'
import { readChanges } from '../../src/database/changes.ts'
import { catalogLines, places } from '../../src/demo/catalog.ts'
import { edit } from '../../src/demo/changes.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { StandInRequest } from '../../src/demo/requests.ts'
import type { CatalogLine } from '../../src/documents/catalog-line.ts'
import { eraseUser } from '../../src/erase/erase-user.ts'
import { UsageError } from '../../src/errors.ts'
import { startRun } from '../../src/sync/run/start.ts'
import { startWorker } from '../../src/worker.ts'
import { Copy, differences, lineOf, NO_DIFFERENCES, readAll } from '../changes/copy.ts'
import { until } from '../helpers/until.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLive, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import type { FaultRule } from '../service/faults.ts'

let live: Live
beforeAll(async () => {
  live = await openLive('postgres')
})
afterAll(() => live?.close())
beforeEach(async () => {
  live.standIn.setFaults([])
  await live.database.pool.query(
    'truncate collab_store.organizations, sync.catalog_imports, sync.runs cascade',
  )
})

const BY = { source: 'catalog rename', requestedBy: 'somebody' }
const ACME = { organizationId: 'acme' }
const OLD = { ...ACME, documentId: 'old' }
const NEW = { ...ACME, documentId: 'new' }
const STAFF = { ...ACME, organizationUserGroupId: 'staff' }

const rename = (line: CatalogLine, newId: string) =>
  renameInCatalog(live.database.pool, { line, newId }, BY)
const add = (...lines: CatalogLine[]) =>
  addToCatalog(live.database.pool, lines, { ...BY, add: true })
const load = (lines: readonly CatalogLine[], prune = false) =>
  importCatalog(live.database.pool, sourceOf(lines), { prune, acceptsAll: true })

function sourceOf(lines: readonly CatalogLine[]): CatalogSource {
  return {
    name: 'lines',
    unit: 'line',
    async *lines() {
      for (const [index, line] of lines.entries()) yield { number: index + 1, line }
    },
  }
}

async function rowsOf(text: string): Promise<Record<string, unknown>[]> {
  return (await live.database.pool.query(text)).rows
}

/** What there is, as `d new`, `a new/x`, `g staff`; what is inactive in parentheses. */
async function catalog(): Promise<string[]> {
  const rows = await rowsOf(`
    select 'd ' || document_id as text, active from collab.documents
    union all select 'a ' || document_id || '/' || annotation_id, active from collab.annotations
    union all select 'g ' || organization_user_group_id, active from collab.user_groups`)
  return rows.map(({ text, active }) => (active ? `${text}` : `(${text})`)).toSorted()
}

describe('a service that moved a document, an annotation and a group', () => {
  let place: Place
  let groupId: string
  /** What the catalog calls them, and the service did before. */
  const before = { documentId: 'was-d', annotationId: 'was-a', groupId: 'was-g' }
  let other: Place

  function asBefore(line: CatalogLine): CatalogLine {
    if (line.organizationId !== place.organizationId) return line
    if (line.organizationUserGroupId === groupId)
      return { ...line, organizationUserGroupId: before.groupId }
    if (line.documentId === place.documentId) return { ...line, documentId: before.documentId }
    return line.annotationId === other.annotationId && line.documentId === other.documentId
      ? { ...line, annotationId: before.annotationId }
      : line
  }

  const renameAll = async () => {
    const { organizationId } = place
    await rename({ organizationId, documentId: before.documentId }, place.documentId)
    const annotation = { ...other, annotationId: before.annotationId }
    await rename(annotation, other.annotationId)
    await rename({ organizationId, organizationUserGroupId: before.groupId }, groupId)
  }

  /** Answers what is asked by the ids of before, as the service did then. */
  const servesBefore: FaultRule = {
    kind: 'custom',
    match: isBefore,
    respond: (request, response) => {
      response.end(
        JSON.stringify({ result: { status: 'success', message: 'm', data: dataOf(request) } }),
      )
    },
  }

  function isBefore({ data }: StandInRequest): boolean {
    return Object.values(before).some((id) => JSON.stringify(data).includes(`"${id}"`))
  }

  function dataOf({ operation, data }: StandInRequest): readonly unknown[] {
    const { organizationId, documentId } = data
    if (operation === 'users')
      return documentId === undefined
        ? (live.world.groupMembers(organizationId, groupId) ?? [])
        : (live.world.documentUsers(organizationId, place.documentId) ?? [])
    const real = {
      ...data,
      ...(documentId === before.documentId
        ? { documentId: place.documentId }
        : { annotationId: other.annotationId }),
    }
    const listed = live.world.comments(real as never) ?? []
    const { commentIds } = data
    return (
      commentIds?.map((id) => listed.find(({ commentId }) => commentId === id) ?? null) ?? listed
    )
  }

  const stored = async () => {
    const views = ['comments', 'comment_versions', 'document_users', 'user_group_members']
    const texts: string[] = []
    for (const view of views)
      for (const { row } of await rowsOf(
        `select to_jsonb(v) - '{checked_at,is_stale}'::text[] as row from collab.${view} v`,
      ))
        texts.push(`${view} ${JSON.stringify(row)}`)
    return texts.toSorted()
  }

  beforeEach(async () => {
    ;[place] = places(live.world) as unknown as [Place]
    const [, documentId = ''] = live.world.documentIds(place.organizationId)
    const [annotationId = ''] = live.world.annotationIds(place.organizationId, documentId)
    other = { organizationId: place.organizationId, documentId, annotationId }
    ;[groupId = ''] = live.world.groupIds(place.organizationId)
    live.standIn.setFaults([servesBefore])
    await load([...catalogLines(live.world)].map(asBefore))
    expect(await live.run()).toMatchObject({ status: 'succeeded' })
  })

  test('keeps their history under the new ids, and the next run looks at their answers', async () => {
    const [comment] = live.world.comments(place) ?? []
    edit(live.world, place, comment?.commentId ?? 0, { text: 'edited' })
    await live.run()
    const versions = await stored()
    await renameAll()
    const now = versions.map((text) =>
      text
        .replaceAll(`"${before.documentId}"`, `"${place.documentId}"`)
        .replaceAll(`"${before.annotationId}"`, `"${other.annotationId}"`)
        .replaceAll(`"${before.groupId}"`, `"${groupId}"`),
    )
    expect(await stored()).toEqual(now.toSorted())
    const digests = await rowsOf(`
      select 'documents' as of, count(*)::int as cleared from collab_store.documents where num_nulls(body_digest, content_digest) = 2 and active
      union all select 'groups', count(*)::int from collab_store.user_groups where num_nulls(body_digest, content_digest) = 2
      union all select 'annotations', count(*)::int from collab_store.annotations where num_nulls(body_digest, content_digest) = 2`)
    const ofDocument = [...live.world.annotationIds(place.organizationId, place.documentId)].length
    expect(digests).toEqual([
      { of: 'documents', cleared: 1 },
      { of: 'groups', cleared: 1 },
      { of: 'annotations', cleared: ofDocument + 1 },
    ])
    // The service knows the new ids only.
    live.standIn.setFaults([])
    expect(await live.run()).toMatchObject({ status: 'succeeded', rejected: 0 })
    await expectTablesEqual(live.database, live.world)
    expect(await stored()).toEqual(now.toSorted())
    expect(await rowsOf('select count(*)::int as aliases from collab_store.renames')).toEqual([
      { aliases: 3 },
    ])
  })

  test.each(['comments', 'users'] as const)(
    'has an answer about %s that was asked under the old id thrown away, and asked again under the new one',
    async (operation) => {
      const [asked, answered] = [latch(), latch()]
      const late: FaultRule = {
        kind: 'custom',
        match: (request) => request.operation === operation && isBefore(request),
        respond: (_, response) => {
          asked.open()
          // What the service said then is wrong now: whoever stores it deletes nothing, but brings it.
          const record =
            operation === 'comments'
              ? { commentId: 987654, commentText: 'of before' }
              : { userId: 'of-before', name: 'of before' }
          const data = [record]
          void answered.opened.then(() =>
            response.end(JSON.stringify({ result: { status: 'success', message: 'm', data } })),
          )
        },
      }
      live.standIn.setFaults([late, servesBefore])
      const app = await live.openApp()
      const worker = await startWorker(app, jobs, { keepsSchedule: false })
      const { runId, items } = await startRun(app.sync, {
        trigger: 'cli',
        scope: { organizationIds: [place.organizationId], operations: [operation] },
        requestKey: null,
      })
      await app.deliver(items)
      await asked.opened
      await renameAll()
      answered.open()
      expect(await settled(live.database, runId)).toMatchObject({ status: 'succeeded' })
      await worker.stop()
      await expectTablesEqual(live.database, live.world)
      const brought = await rowsOf(
        `select 1 from collab_store.comments where comment_id = 987654 union all select 1 from collab_store.users where user_id = 'of-before'`,
      )
      expect(brought).toEqual([])
    },
  )
})

function latch() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

describe('a rename is refused, and changes nothing,', () => {
  beforeEach(async () => {
    await add({ ...OLD, annotationId: 'x' }, { ...OLD, annotationId: 'y' }, STAFF)
    await add({ ...ACME, documentId: 'gone' }, { ...ACME, documentId: 'late' })
    await removeFromCatalog(live.database.pool, [{ ...ACME, documentId: 'gone' }], BY)
    await rename({ ...ACME, documentId: 'late' }, 'later')
  })

  const CANNOT = 'cannot be renamed to'
  test.each([
    [
      'where the new id is there',
      OLD,
      'later',
      `Document "old" ${CANNOT} "later": the catalog has "later" already.`,
    ],
    [
      'where it is inactive',
      OLD,
      'gone',
      `Document "old" ${CANNOT} "gone": the catalog has "gone" already.`,
    ],
    [
      'where another one was called so',
      OLD,
      'late',
      `Document "old" ${CANNOT} "late": "later" was called so before.`,
    ],
    [
      'of an annotation',
      { ...OLD, annotationId: 'x' },
      'y',
      `Annotation "x" ${CANNOT} "y": the catalog has "y" already.`,
    ],
    [
      'where both ids are equal',
      OLD,
      'old',
      `Document "old" ${CANNOT} "old": both ids are the same.`,
    ],
    [
      'where the catalog lacks the old id',
      NEW,
      'newer',
      'Document "new" is not in the catalog; add it',
    ],
    [
      'where it lacks the document',
      { ...NEW, annotationId: 'x' },
      'z',
      'Document "new" is not in the catalog; add it',
    ],
    [
      'where it was renamed before',
      { ...ACME, documentId: 'late' },
      'last',
      'Document "late" is not in the catalog: it was renamed to "later".',
    ],
    [
      'of an organization',
      ACME,
      'acme2',
      `Organization "acme" ${CANNOT} "acme2": readers of another`,
    ],
    [
      'of a group that is none',
      { ...ACME, organizationUserGroupId: 'x' },
      'y',
      'User group "x" is not in the catalog',
    ],
  ])('%s', async (_, line, newId, sentence) => {
    const was = await catalog()
    const refused = rename(line, newId)
    await expect(refused).rejects.toThrow(UsageError)
    await expect(refused).rejects.toThrow(sentence)
    expect(await catalog()).toEqual(was)
    expect(await rowsOf('select old_id from collab_store.renames')).toEqual([{ old_id: 'late' }])
  })

  test('but an id that only another parent has is free', async () => {
    await add({ ...ACME, documentId: 'other' }, { organizationId: 'elsewhere', documentId: 'new' })
    expect(await rename({ ...OLD, annotationId: 'x' }, 'z')).toEqual({
      line: { ...OLD, annotationId: 'z' },
      rows: 1,
    })
    await add({ ...ACME, documentId: 'other', annotationId: 'x' })
    expect(await rename(OLD, 'new')).toEqual({ line: NEW, rows: 3 })
    expect(await rename(STAFF, 'new')).toMatchObject({ rows: 1 })
  })

  test('again it is harmless', async () => {
    await rename(OLD, 'new')
    expect(await rename(OLD, 'new')).toEqual({ line: NEW, rows: 0 })
    const imports = await rowsOf(
      `select source, requested_by, state, prunes, lines::int, came, went from sync.catalog_imports where import_id = (select max(import_id) from sync.catalog_imports)`,
    )
    expect(imports).toEqual([
      {
        source: 'catalog rename',
        requested_by: 'somebody',
        state: 'applied',
        prunes: null,
        lines: 1,
        came: 0,
        went: 0,
      },
    ])
    expect(await rowsOf('select old_id from collab_store.renames order by number')).toHaveLength(2)
  })
})

describe('the old id', () => {
  const X = { ...OLD, annotationId: 'x' }
  const NOW = ['a new/y', 'd new', 'g crew']
  beforeEach(async () => {
    await add(X, STAFF)
    await rename(OLD, 'new')
    await rename({ ...NEW, annotationId: 'x' }, 'y')
    await rename(STAFF, 'crew')
    expect(await catalog()).toEqual(NOW)
  })

  test('in a file is the row of now: nothing is added, and nothing pruned', async () => {
    const nothing = { added: 0, reactivated: 0, deactivated: 0 }
    for (const lines of [
      [X, STAFF],
      [OLD, X, { ...NEW, annotationId: 'x' }, { ...OLD, annotationId: 'y' }, STAFF],
    ])
      expect(await load(lines, true)).toMatchObject({
        documents: nothing,
        annotations: nothing,
        userGroups: nothing,
      })
    expect(await catalog()).toEqual(NOW)
    await load([ACME], true)
    expect(await catalog()).toEqual(['(a new/y)', '(d new)', '(g crew)'])
    await load([X, STAFF], true)
    expect(await catalog()).toEqual(NOW)
  })

  test('from CATALOG_SQL is too, and of another organization it is not', async () => {
    const text = `select 'acme' as organization_id, 'old' as document_id, 'x' as annotation_id, null as organization_user_group_id
      union all select 'acme', null, null, 'staff' union all select 'other', 'old', 'x', null`
    await refreshCatalog(
      live.database.pool,
      { url: live.database.url, text },
      { prune: true, acceptsAll: true },
    )
    expect(await catalog()).toEqual(['a new/y', 'a old/x', 'd new', 'd old', 'g crew'])
  })

  test('is added no more, and what is new beneath it is', async () => {
    await add(X, OLD, STAFF)
    expect(await catalog()).toEqual(NOW)
    await addToCatalog(live.database.pool, [{ ...OLD, annotationId: 'z' }], BY)
    expect(await catalog()).toEqual(['a new/y', 'a new/z', 'd new', 'g crew'])
  })

  test('is refused with the new one where somebody asks for it, and shown with it', async () => {
    const app = await live.openApp()
    const sentence = 'Document "old" is not in the catalog: it was renamed to "new".'
    const start = (scope: object) => startRun(app.sync, { trigger: 'cli', scope, requestKey: null })
    await expect(start({ organizationIds: ['acme'], documentId: 'old' })).rejects.toThrow(sentence)
    await expect(
      start({ organizationIds: ['acme'], documentId: 'new', annotationId: 'x' }),
    ).rejects.toThrow('Annotation "x" is not in the catalog: it was renamed to "y".')
    await expect(start({ organizationUserGroupIds: ['staff'] })).rejects.toThrow(
      'User group "staff" is not in the catalog: it was renamed to "crew".',
    )
    await expect(removeFromCatalog(live.database.pool, [OLD], BY)).rejects.toThrow(sentence)
    const { pool } = live.database
    expect(await showLine(pool, X)).toMatchObject({
      line: { ...NEW, annotationId: 'y' },
      active: true,
    })
    await expect(showLine(pool, { ...ACME, documentId: 'none' })).rejects.toThrow('not in the cat')
  })

  test('means the row through a chain of renames', async () => {
    await rename(NEW, 'newer')
    await load([X, { ...NEW, annotationId: 'x' }, STAFF], true)
    expect(await catalog()).toEqual(['a newer/y', 'd newer', 'g crew'])
    await expect(rename(STAFF, 'other')).rejects.toThrow('it was renamed to "crew"')
  })

  test('is the id again where it is renamed back, and those of meanwhile are free', async () => {
    await rename(NEW, 'newer')
    expect(await rename({ ...ACME, documentId: 'newer' }, 'old')).toMatchObject({ line: OLD })
    await add({ ...NEW, annotationId: 'x' }, { ...ACME, documentId: 'newer' })
    expect(await catalog()).toEqual(['a new/x', 'a old/y', 'd new', 'd newer', 'd old', 'g crew'])
    await rename(OLD, 'oldest')
    await rename({ ...ACME, documentId: 'oldest' }, 'last')
    await rename({ ...ACME, documentId: 'last' }, 'oldest')
    await load([X, STAFF], true)
    expect(await catalog()).toEqual([
      '(a new/x)',
      '(d new)',
      '(d newer)',
      'a oldest/y',
      'd oldest',
      'g crew',
    ])
  })

  test('of a held listing and a held import does not come back to it', async () => {
    const { pool } = live.database
    await pool.query(`with run as (insert into sync.runs (trigger, status, scope) values ('cli', 'running', '{}') returning run_id)
      insert into sync.held (run_id, batch_key, kind, scope_key, organization_id, document_id, content_digest, users_before, missing_user_ids)
      select run_id, d.batch_key, 'document', d.document_key, 'acme', 'new', '\\x00', 1, '{u}' from run, collab_store.documents d`)
    await pool.query(`with held as (insert into sync.catalog_imports (source, requested_by, state) values ('f', 'x', 'held') returning import_id)
      insert into sync.catalog_lacking select import_id, 'document', array(select document_key from collab_store.documents) from held
      union all select import_id, 'annotation', array(select annotation_key from collab_store.annotations) from held
      union all select import_id, 'user_group', array(select user_group_key from collab_store.user_groups) from held`)
    await rename(NEW, 'newer')
    expect(await rowsOf('select held_id from sync.held')).toEqual([])
    expect(
      await rowsOf(
        'select kind, cardinality(keys) as keys from sync.catalog_lacking order by kind',
      ),
    ).toEqual([
      { kind: 'annotation', keys: 0 },
      { kind: 'document', keys: 0 },
      { kind: 'user_group', keys: 1 },
    ])
  })
})

describe('the feed of changes', () => {
  const X = { ...OLD, annotationId: 'x' }
  beforeEach(async () => {
    await add(
      X,
      { ...OLD, annotationId: 'w' },
      { ...ACME, documentId: 'other', annotationId: 'x' },
      STAFF,
    )
    await live.database.pool.query(`
      insert into collab_store.users (organization_key, source, listed, first_seen_at, changed_at, digest, user_id, name)
      select organization_key, 3, true, now(), now(), '\\x00', u, u from collab_store.organizations, unnest('{ann,bob,cid}'::text[]) u;
      insert into collab_store.document_users (document_key, first_seen_at, joined_at, user_id)
      select document_key, now(), now(), u from collab_store.documents, unnest('{ann,bob}'::text[]) u;
      insert into collab_store.user_group_members (user_group_key, first_seen_at, joined_at, user_id)
      select user_group_key, now(), now(), u from collab_store.user_groups, unnest('{ann,cid}'::text[]) u;
      insert into collab_store.comments (organization_key, annotation_key, comment_id, digest, first_seen_at, changed_at, version_at, version, change, author_user_id, comment_text)
      select d.organization_key, a.annotation_key, n, '\\x00', now(), now(), now(), 1, 'added', 'bob', 'text ' || n
      from collab_store.annotations a join collab_store.documents d using (document_key), generate_series(1, 2) n`)
  })

  test('tells old and new key of each row beneath, and of nothing else', async () => {
    const { cursor } = await readAll(live.database.pool, null)
    expect((await rename(OLD, 'new')).rows).toBe(1 + 2 + 2 + 4)
    await rename(STAFF, 'crew')
    await rename({ ...NEW, annotationId: 'x' }, 'y')
    const { changes } = await readAll(live.database.pool, cursor)
    expect(new Set(changes.map(({ change }) => change))).toEqual(new Set(['renamed']))
    const said = changes.map((change) => {
      const { object, key, old_key: oldKey } = lineOf(change)
      const ids = (of: object | null | undefined) =>
        Object.values(of ?? {})
          .slice(1)
          .join('/')
      return `${object} ${ids(oldKey)} -> ${ids(key)}`
    })
    expect(said.toSorted()).toEqual(
      [
        'document old -> new',
        'document_user old/ann -> new/ann',
        'document_user old/bob -> new/bob',
        // As they are now, of which the line behind tells.
        'annotation old/x -> new/y',
        'annotation old/w -> new/w',
        'comment old/x/1 -> new/y/1',
        'comment old/x/2 -> new/y/2',
        'comment old/w/1 -> new/w/1',
        'comment old/w/2 -> new/w/2',
        'user_group staff -> crew',
        'user_group_member staff/ann -> crew/ann',
        'user_group_member staff/cid -> crew/cid',
        'annotation new/x -> new/y',
        'comment new/x/1 -> new/y/1',
        'comment new/x/2 -> new/y/2',
      ].toSorted(),
    )
    await live.database.pool.query(
      `update collab_store.documents set active = false where document_id = 'other'`,
    )
    const { changes: later } = await readAll(live.database.pool, changes.at(-1)?.cursor ?? null)
    expect(later.map(({ change, oldKey }) => [change, oldKey])).toEqual([['removed', null]])
  })

  test('is followed from anywhere, at any pace, to what the tables are', async () => {
    const { pool } = live.database
    const sql = (text: string) => () => pool.query(text)
    const steps: (() => Promise<unknown>)[] = [
      sql(`update collab_store.comments set comment_text = 'edited' where comment_id = 1`),
      () => eraseUser(pool, { userId: 'ann', organizationId: null, reason: 'asked' }),
      () => rename(OLD, 'new'),
      () => rename(STAFF, 'crew'),
      () => rename({ ...NEW, annotationId: 'x' }, 'y'),
      sql(`update collab_store.document_users set removed_at = now() where user_id = 'bob'`),
      () => rename(NEW, 'newer'),
      // Who was erased comes again, where he cannot be told from before.
      sql(`insert into collab_store.users (organization_key, source, listed, first_seen_at, changed_at, digest, user_id, name)
        select organization_key, 3, true, now(), now(), '\\x00', 'ann', 'ann' from collab_store.organizations;
        insert into collab_store.document_users (document_key, first_seen_at, joined_at, user_id)
        select document_key, now(), now(), 'ann' from collab_store.documents where document_id = 'newer'`),
      () => eraseUser(pool, { userId: 'bob', organizationId: null, reason: 'asked' }),
      () => rename({ ...ACME, documentId: 'newer' }, 'old'),
      () => rename({ ...OLD, annotationId: 'w' }, 'v'),
      () => add({ ...NEW, annotationId: 'x' }, { ...ACME, documentId: 'newer' }),
      () => rename({ ...ACME, documentId: 'newer' }, 'newest'),
      () => eraseUser(pool, { userId: 'cid', organizationId: null, reason: 'asked' }),
    ]
    interface Follower {
      readonly copy: Copy
      cursor: string | null
      readonly pace: number
    }
    const followers: Follower[] = []
    const follow = async (follower: Follower, max: number) => {
      const page = await readChanges(pool, { after: follower.cursor, max, objects: null })
      for (const change of page.changes) follower.copy.apply(lineOf(change))
      follower.cursor = page.cursor
    }
    const begin = async () => {
      const { changes, cursor } = await readAll(pool, null)
      for (const pace of [0, 1, 3, 7, 1000]) {
        const copy = new Copy()
        for (const change of changes) copy.apply(lineOf(change))
        followers.push({ copy, cursor, pace })
      }
    }
    for (const step of steps) {
      await begin()
      await step()
      for (const follower of followers) if (follower.pace > 0) await follow(follower, follower.pace)
    }
    followers.push({ copy: new Copy(), cursor: null, pace: 0 })
    for (const { copy, cursor } of followers) {
      const { changes } = await readAll(pool, cursor, 5)
      for (const change of changes) copy.apply(lineOf(change))
      expect(await differences(copy, pool)).toEqual(NO_DIFFERENCES)
    }
  })

  test('has what is written beside a rename in its order, and a rename waits for a commit under way', async () => {
    const { cursor } = await readAll(live.database.pool, null)
    const client = await live.database.pool.connect()
    let renamed: Promise<unknown> = Promise.resolve()
    try {
      await client.query('begin')
      await client.query(
        `select from collab_store.batches where operation = 'comments' for no key update`,
      )
      renamed = rename(OLD, 'new')
      await until('the rename waits', async () => {
        const { rows } = await live.database.pool.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%claim%'`,
        )
        return rows.length > 0 || null
      })
      await client.query(`
        insert into collab_store.comments (organization_key, annotation_key, comment_id, digest, first_seen_at, changed_at, version_at, version, change)
        select organization_key, annotation_key, 77, '\\x00', now(), now(), now(), 1, 'added' from collab_store.comments where comment_id = 1`)
      await client.query('commit')
    } finally {
      client.release(true)
    }
    await renamed
    const { changes } = await readAll(live.database.pool, cursor)
    expect(
      changes
        .filter(({ object, key }) => object === 'comment' && key.includes('77'))
        .map(({ change }) => change),
    ).toEqual(['added', 'added', 'added', 'renamed', 'renamed'])
  })
})
