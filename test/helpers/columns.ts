import { COMMENT_COLUMN_LIST, USER_COLUMN_LIST } from '../../src/base/columns.ts'
import type { CommentColumn, NamedColumn, Texts, UserColumn } from '../../src/base/columns.ts'

/** The texts of a comment with something in just some columns. */
export function commentTexts(columns: Partial<Record<CommentColumn, string | null>>): Texts {
  return COMMENT_COLUMN_LIST.map(({ name }) => columns[name] ?? null)
}

/** The texts of a user, in the same way. */
export function userTexts(columns: Partial<Record<UserColumn, string | null>>): Texts {
  return USER_COLUMN_LIST.map(({ name }) => columns[name] ?? null)
}

/** What a comment has in its columns, by their names. */
export function commentColumns(comment: { readonly texts: Texts } | null | undefined) {
  return named(COMMENT_COLUMN_LIST, comment)
}

/** What a user has in its columns, by their names. */
export function userColumns(user: { readonly texts: Texts } | null | undefined) {
  return named(USER_COLUMN_LIST, user)
}

function named<Name extends string>(
  columns: readonly NamedColumn<Name>[],
  record: { readonly texts: Texts } | null | undefined,
): Partial<Record<Name, string | null>> {
  const entries = columns.map(({ name }, index) => [name, record?.texts[index]])
  return Object.fromEntries(entries) as Partial<Record<Name, string | null>>
}
