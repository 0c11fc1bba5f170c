import {
  columnOf,
  COMMENT_COLUMN_LIST,
  COMMENT_PEOPLE,
  USER_COLUMN_LIST,
} from '../../src/base/columns.ts'
import type { NamedColumn } from '../../src/base/columns.ts'
import { COMMIT_COUNTS, ITEM_COUNTS, SHOWN_COUNTS } from '../../src/schemas/counts.ts'

type Listed = Readonly<Record<'name' | 'column' | 'type', string>> &
  Readonly<Partial<Pick<NamedColumn, 'person' | 'member'>>>

const COMMENT: readonly NamedColumn[] = COMMENT_COLUMN_LIST
const USER: readonly NamedColumn[] = USER_COLUMN_LIST

const countsOf = (names: readonly string[]): Listed[] =>
  names.map((name) => ({ name, column: columnOf(name), type: 'bigint' }))

/** The lists that a mark in a statement can ask for. Of a person, the column is the one of the ID. */
const LISTS: Readonly<Record<string, readonly Listed[]>> = {
  'comment columns': COMMENT,
  'comment columns of a version': COMMENT.filter(({ makesVersion }) => makesVersion === true),
  'comment columns but times': COMMENT.filter(({ type }) => type !== 'timestamptz'),
  'comment columns of the author': COMMENT.filter(
    ({ personal, person }) => personal === 'words' || person === 'author',
  ),
  'comment columns but times and addresses': COMMENT.filter(
    ({ type, member }) => type !== 'timestamptz' && member?.endsWith('.email') !== true,
  ),
  'comment words': COMMENT.filter(({ personal }) => personal === 'words'),
  'people of a comment': COMMENT_PEOPLE.map((each) => {
    const name = `${each.person}UserId`
    return { ...each, name, column: columnOf(name), type: 'text' }
  }),
  'user columns': USER,
  'user columns of a version': USER.filter(({ makesVersion }) => makesVersion === true),
  'user columns of a version but addresses': USER.filter(
    ({ makesVersion, member }) => makesVersion === true && member !== 'email',
  ),
  'counts of a commit': countsOf(COMMIT_COUNTS),
  'counts of items': countsOf(ITEM_COUNTS),
  'counts of a report': countsOf(ITEM_COUNTS.filter((name) => name in SHOWN_COUNTS)),
}

const MARK = /\/\* ([a-z ]+): (.+?) \*\/[^]*?\/\* end \*\//g
/** In a head: the parameters from this one on are the columns of a list, one array each. */
export const COLUMN_PARAMETERS = /\$(\d+) and on ([a-z ]+)/
const LINE_CHARACTERS = 124

/**
 * Writes the lists of columns in a statement: between `/* comment columns: {column} *\/` and the end mark there is one item
 * for each of these columns, made from the item of the mark. `{type}` is the column's type, `{stored}` the column as its
 * text where it is jsonb, `{person}` and `{member}` the person of a record and the member, `{parameter}` the next of the parameters that the head gives to the columns (`$5 and on comment
 * columns`).
 * @throws Error naming a list that does not exist
 */
export function withColumnLists(text: string): string {
  const first = Number(COLUMN_PARAMETERS.exec(text)?.[1] ?? 0)
  return text.replaceAll(MARK, (_, list: string, item: string, at: number) => {
    const items = columnsOf(list).map(({ column, type, person, member }, index) =>
      item
        .replaceAll('{person}', person ?? '')
        .replaceAll('{member}', member ?? '')
        .replaceAll('{column}', column)
        .replaceAll('{type}', type)
        .replaceAll('{stored}', type === 'jsonb' ? `${column}::text as ${column}` : column)
        .replaceAll('{parameter}', `$${first + index}`),
    )
    const start = text.lastIndexOf('\n', at) + 1
    const indent = ' '.repeat(text.slice(start).search(/[^ ]/) + 2)
    const parts = [
      `/* ${list}: ${item} */ `,
      ...items.map((each, index) => (index < items.length - 1 ? `${each}, ` : `${each} /* end */`)),
    ]
    return inLines(parts, at - start, indent)
  })
}

/** The names of the parameters that a head gives to the columns of a list; each takes an array that may hold nulls. */
export function columnParameters(list: string): string[] {
  return columnsOf(list).map(({ name }) => name)
}

/** The columns of a list, or the one with that name. */
export function columnsNamed(name: string): string[] {
  return LISTS[name]?.map(({ column }) => column) ?? [name]
}

function columnsOf(list: string): readonly Listed[] {
  const columns = LISTS[list]
  if (columns === undefined)
    throw new Error(`asks for "${list}": there are ${Object.keys(LISTS).join(', ')}.`)
  return columns
}

/** Joins parts, and breaks the line before one for which it has no room. @param used characters before them in their line */
function inLines(parts: readonly string[], used: number, indent: string): string {
  let text = ''
  let length = used
  for (const part of parts) {
    if (text !== '' && length + part.trimEnd().length > LINE_CHARACTERS) {
      text = `${text.trimEnd()}\n${indent}`
      length = indent.length
    }
    text += part
    length += part.length
  }
  return text
}
