import { COMMENT_COLUMN_LIST, USER_COLUMN_LIST } from '../columns.ts'
import type { AddedColumn, ColumnRequest } from '../documents/column.ts'
import { UsageError } from '../errors.ts'
import type { Client, Database } from './pool.ts'
import type { RowOf } from './statement.ts'
import * as columns from './statements/columns.ts'
import { changing, shortly } from './view-changes.ts'

/**
 * Adds a column to the views, for the past too; nothing is rewritten. The same once more makes an index that is missing.
 * @param url of the database, by the role that owns the tables
 * @param keepsRaw false where members without a column are not stored any more (PRIVACY_RAW): one that is not there may come
 * @throws UsageError for a name that is in use, a member that is nowhere, a type that fits nothing; EnvironmentError where
 *   somebody uses a view for too long
 */
export async function addColumn(
  url: string,
  request: ColumnRequest,
  keepsRaw: boolean,
): Promise<AddedColumn> {
  const { object, name, member, type, index } = request
  const storedIn = storedInOf(object, member)
  return changing(url, async (client) => {
    const [present] = await columns.read.all(client, { object, name })
    const mends = isSame(present, request) && index && !present?.isIndexWhole
    if (!mends) await refuseName(client, object, name)
    const count = await columns.count.one(client, { object, member, type, storedIn })
    if (mends) await columns.wantIndex.run(client, { object, name })
    else {
      await refuseMember(client, request, count, keepsRaw)
      await shortly(client, object, async () => {
        await columns.add.one(client, { object, name, member, type, storedIn, isIndexed: index })
      })
    }
    await mendIndexes(client)
    const { present: values, misfits } = count
    return { object, name, member, type, index: index ? 'whole' : 'none', values, misfits }
  })
}

/** All added columns; every stored comment and user is looked at. */
export async function listColumns(database: Database): Promise<AddedColumn[]> {
  const client = await database.connect()
  try {
    await client.query('set statement_timeout = 0')
    return await describe(client)
  } finally {
    client.release(true)
  }
}

/**
 * Takes an added column away.
 * @throws UsageError where there is none, or where views use it: it names them; EnvironmentError as addColumn does
 */
export async function removeColumn(
  url: string,
  { object, name }: Pick<ColumnRequest, 'object' | 'name'>,
): Promise<void> {
  await changing(url, async (client) => {
    if ((await columns.read.first(client, { object, name })) === undefined)
      throw new UsageError(`Nobody added a column ${JSON.stringify(name)} to ${object}.`)
    await shortly(client, object, async () => {
      const users = (await columns.usedBy.all(client, { object, name })).map(({ usedBy }) => usedBy)
      if (users.length > 0)
        throw new UsageError(`Column ${name} of ${object} is used by ${users.join(', ')}.`)
      await columns.remove.one(client, { object, name })
    })
    await mendIndexes(client)
  })
}

/**
 * After an upgrade: members that got a column of their own are read from there. An index on such a column has to be made
 * again, by the same `column add`: whoever waits for migrate would be waited for by it.
 */
export async function carryColumns(client: Client): Promise<void> {
  for (const row of await columns.read.all(client, { object: null, name: null })) {
    const { object, name } = row
    const storedIn = columnOf(object, row.member)
    if (storedIn === row.storedIn) continue
    await shortly(client, object, async () => columns.move.one(client, { object, name, storedIn }))
  }
}

const NAME = /^[a-z_][a-z0-9_]{0,62}$/
const MEMBER_UNITS_MAX = 500
const KEYS: Readonly<Record<ColumnRequest['object'], string>> = {
  comments: 'commentId',
  users: 'userId',
}

function columnOf(object: ColumnRequest['object'], member: string): string | null {
  const list = object === 'comments' ? COMMENT_COLUMN_LIST : USER_COLUMN_LIST
  return list.find((each) => each.member === member)?.column ?? null
}

/** @returns the column that holds the member by itself; null where `rest` does */
function storedInOf(object: ColumnRequest['object'], member: string): string | null {
  const isPath = member.split('.').every((name) => name !== '' && !name.includes('\0'))
  // It stands in the view's text, where own_definition() looks for these words.
  if (!isPath || member.length > MEMBER_UNITS_MAX || member.includes('FROM ( SELECT '))
    throw new UsageError(
      `--member is a name, or names with dots between, such as data.severity; ${JSON.stringify(member.slice(0, 80))} is none.`,
    )
  if (member === KEYS[object] || (object === 'comments' && member === 'from'))
    throw new UsageError(`Member ${member} is in columns already.`)
  return columnOf(object, member)
}

function isSame(present: RowOf<typeof columns.read> | undefined, wanted: ColumnRequest): boolean {
  return present?.member === wanted.member && present.type === wanted.type
}

async function refuseName(
  client: Client,
  object: ColumnRequest['object'],
  name: string,
): Promise<void> {
  if (!NAME.test(name))
    throw new UsageError(
      `The name of a column is up to 63 small letters, digits and _, and begins with no digit; ${JSON.stringify(name.slice(0, 80))} does not.`,
    )
  if ((await columns.isInUse.one(client, { object, name })).isInUse)
    throw new UsageError(`The name ${name} is in use: a view of ${object} has such a column.`)
}

async function refuseMember(
  client: Client,
  { object, member, type }: ColumnRequest,
  { present, misfits }: { present: number; misfits: number },
  keepsRaw: boolean,
): Promise<void> {
  const names = member.split('.')
  if ((await columns.namesPerson.one(client, { names })).namesPerson)
    throw new UsageError('The member is called like the id of a person: that makes no column.')
  if (present === 0 && keepsRaw)
    throw new UsageError(`No stored record of ${object} has a member ${JSON.stringify(member)}.`)
  if (present > 0 && misfits === present)
    throw new UsageError(`Type ${type} fits none of the ${present} values of ${member}.`)
}

async function mendIndexes(client: Client): Promise<void> {
  for (const { statement } of await columns.indexes.all(client)) await client.query(statement)
}

async function describe(client: Client): Promise<AddedColumn[]> {
  const described: AddedColumn[] = []
  for (const row of await columns.read.all(client, { object: null, name: null })) {
    const { object, name, member, type } = row
    const { present: values, misfits } = await columns.count.one(client, row)
    const index = row.isIndexed ? (row.isIndexWhole ? 'whole' : 'broken') : 'none'
    described.push({ object, name, member, type, index, values, misfits })
  }
  return described
}
