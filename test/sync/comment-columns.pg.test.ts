import { beforeEach, expect, test } from 'vitest'
import { COMMENT_COLUMN_LIST, USER_COLUMN_LIST } from '../../src/base/columns.ts'
import type { CommentColumn, NamedColumn } from '../../src/base/columns.ts'
import * as erase from '../../src/core/database/statements/erase.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { verify } from '../../src/features/check/verify.ts'
import type { Difference } from '../../src/features/check/verify.ts'
import { rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { scopeOf } from '../helpers/places.ts'
import { textsOf } from '../privacy/every-text.ts'

/** Every column of a comment is read, stored, changed, shown, verified and erased: none can be forgotten. */

const AUTHOR = { userId: 'one', name: 'One', email: 'one@x.example' }

/** A comment that has something in every column. */
const ONE: Comment = {
  commentId: 1,
  commentText: 'one',
  commentHtml: '<p>one</p>',
  from: AUTHOR,
  lastUpdated: '2026-01-01T00:00:00.000Z',
  status: 'one',
  type: 'one',
  undocumented: 'one',
}

/** For each column the members by which a comment differs from that one in this column alone. */
const CHANGES: Record<CommentColumn, Partial<Comment>> = {
  commentText: { commentText: 'two' },
  commentHtml: { commentHtml: 'two' },
  authorUserId: { from: { ...AUTHOR, userId: 'two' } },
  authorName: { from: { ...AUTHOR, name: 'two' } },
  authorEmail: { from: { ...AUTHOR, email: 'two@x.example' } },
  lastUpdated: { lastUpdated: '2026-02-02T00:00:00.000Z' },
  status: { status: 'two' },
  type: { type: 'two' },
  rest: { undocumented: 'two' },
}
const MEMBERS = COMMENT_COLUMN_LIST.map(({ name }) => name)
const COLUMNS = COMMENT_COLUMN_LIST.map(({ column }) => column)
const SHOWN = COLUMNS.filter((name) => name !== 'rest')

/** What is ours of a row: keys, times of checks, versions. */
const OURS =
  'annotation_key change changed_at comment_id day deleted_at digest first_seen_at first_updated not_before organization_key version version_at written_at'

const ONE_OF_EACH = {
  organizations: 1,
  documentsPerOrganization: 1,
  annotationsPerDocument: 1,
  usersPerOrganization: 2,
  groupsPerOrganization: 1,
}

let live: Live
let place: Place
beforeEach(async () => {
  live = await openLoaded('none', { world: ONE_OF_EACH })
  place = [...places(live.world)][0] as Place
})

test('the table has these columns, and collab.comments shows them', async () => {
  const { rows } = await live.database.pool.query<{ shown: boolean; name: string }>(
    `select column_name::text as name, table_schema = 'collab' as shown from information_schema.columns
    where table_name = 'comments' and table_schema in ('collab', 'collab_store')`,
  )
  const stored = rows.flatMap(({ name, shown }) => (shown ? [] : [name]))
  const shown = rows.flatMap(({ name, shown }) => (shown ? [name] : []))
  expect(stored.sort()).toEqual([...COLUMNS, ...OURS.split(' ')].sort())
  expect(shown).toEqual(expect.arrayContaining(SHOWN))
})

test('types, nullability, versions and comments of columns are those of src/base/columns.ts', async () => {
  const { rows } = await live.database.pool.query(
    `select relname::text as relation, attname::text as column, format_type(atttypid, null) as type, attnotnull as needed,
      col_description(attrelid, attnum) as comment
    from pg_attribute join pg_class c on c.oid = attrelid
    where c.oid in ('collab_store.comments'::regclass, 'collab_store.users'::regclass, 'collab_store.comment_versions'::regclass,
        'collab_store.user_versions'::regclass)
      and attnum > 0 and not attisdropped`,
  )
  const find = (relation: string, name: string) =>
    rows.find((row) => row.relation === relation && row.column === name)
  const tables = { comments: COMMENT_COLUMN_LIST, users: USER_COLUMN_LIST }
  for (const [relation, columns] of Object.entries(tables)) {
    for (const { column, type, comment } of columns) {
      const typeName = type === 'timestamptz' ? 'timestamp with time zone' : type
      const expected = { type: typeName, needed: false, comment }
      expect(find(relation, column), `${relation}.${column}`).toMatchObject(expected)
    }
  }
  const versions = { comment_versions: COMMENT_COLUMN_LIST, user_versions: USER_COLUMN_LIST }
  for (const [relation, columns] of Object.entries(versions)) {
    for (const { column, makesVersion } of columns as readonly NamedColumn[])
      expect(find(relation, column) !== undefined, `${relation}.${column}`).toBe(
        makesVersion ?? false,
      )
  }
})

test('each is stored, is put into raw, is changed by itself, and is verified', async () => {
  serve(ONE)
  await live.run()
  const row = await stored()
  expect(COLUMNS.filter((name) => row[name] === null)).toEqual([])
  expect(row['raw']).toEqual(ONE)
  serve(...MEMBERS.map((member, index) => ({ ...ONE, ...CHANGES[member], commentId: index + 1 })))
  await live.run()
  // Each column now differs from its neighbours in one comment.
  expect(await live.rows(`select ${SHOWN} from collab.comments order by comment_id`)).toEqual(
    await live.rows(`select ${SHOWN} from collab_store.comments order by comment_id`),
  )
  serve(...MEMBERS.map((_, index) => ({ ...ONE, commentId: index + 1 })))
  expect(await differences()).toEqual(COLUMNS.toSorted())
  await live.run()
  expect(await differences()).toEqual([])
})

test('all are documented, so that PRIVACY_RAW=drop keeps them', async () => {
  serve(ONE)
  const settings = { PRIVACY_RAW: 'drop' }
  await live.define(settings)
  await live.run({ settings })
  await live.define({})
  const row = await stored()
  expect(COLUMNS.filter((name) => row[name] === null)).toEqual(['rest'])
})

test('an address of an erased person goes from each, as the next run reads it', async () => {
  const person = { userId: 'qx-zzyzx-17', name: 'Wilhelmine', email: 'w@zzyzx.example' }
  live.world.putUser(place.organizationId, person)
  // The columns of people, and what is no text, have tests of their own.
  const columns: readonly NamedColumn<CommentColumn>[] = COMMENT_COLUMN_LIST
  const texts = columns.flatMap(({ name, person, type }) =>
    person === undefined && type !== 'timestamptz' ? [name] : [],
  )
  const asked = JSON.stringify(CHANGES).replaceAll('two', `ask ${person.email}`)
  const changes = JSON.parse(asked) as typeof CHANGES
  serve(...texts.map((member, index) => ({ ...ONE, ...changes[member], commentId: index + 1 })))
  await live.run()
  const done = await eraseUser(live.database.pool, {
    userId: person.userId,
    organizationId: null,
    reason: 'asked by letter',
  })
  expect(done).toMatchObject({ mentionsInRecords: texts.length })
  for (const [table, text] of await textsOf(live.database))
    expect(text.includes(person.email), table).toBe(false)
  const touched = await rowsTouched(live.database)
  await live.run()
  expect(await rowsTouched(live.database)).toBe(touched)
})

test('a record is rewritten by its own statements, not by those for any table', async () => {
  const others = await erase.textColumns.all(live.database.pool, { isOneOrganization: false })
  expect(others.map(({ relation }) => relation)).not.toContain('collab_store.comments')
})

function serve(...comments: Comment[]): void {
  live.world.putThread(place, { live: comments, deleted: [] })
}

/** The only comment, with its raw. */
async function stored(): Promise<Record<string, unknown>> {
  const [row] = await live.rows(
    `select c.*, raw from collab_store.comments c join collab_store.annotations using (annotation_key)
      join collab.comments using (annotation_id, comment_id) where annotation_id = $1`,
    place.annotationId,
  )
  return row
}

/** The columns in which comments of the tables differ from those served, once for each comment. */
async function differences(): Promise<string[]> {
  const app = await live.openApp()
  const found: Difference[] = []
  await verify(app.sync, { scope: parseScope(scopeOf(place)) }, (difference) =>
    found.push(difference),
  )
  return found.flatMap(({ columns }) => columns).sort()
}
