import type { RecordName } from './operations.ts'

/**
 * What is stored of a record of the service: the one place that names the columns. Reading, digests, COPY, comparing,
 * redaction and erasure follow these tables, and so do the lists of columns within `sql/queries`, which `npm run generate`
 * writes. A new column goes to the end: digests take them in this order.
 */
interface Column {
  /** The member of the record, or of a person of it; null for `rest`, which holds the members without a column. */
  readonly member: string | null
  readonly type: 'text' | 'timestamptz' | 'jsonb'
  /** What an erasure makes of it: emptied as words of their author, kept as the record's state, or redacted by its value. */
  readonly personal: 'words' | 'state' | 'value'
  /** The person of the record that has the member, such as `author`. */
  readonly person?: string
  /** A change of it makes a version of the comment or user; without this it just changes the row. */
  readonly makesVersion?: true
  /** What PostgreSQL says of the column in `collab_store`. */
  readonly comment: string
}

const rest = {
  member: null,
  type: 'jsonb',
  personal: 'value',
  comment:
    'Fields of the received object that the other columns cannot reproduce exactly; null if there are none.',
} as const satisfies Column

/** Columns of `collab_store.comments` (docs/SERVICE.md, Get Comments). */
export const COMMENT_COLUMNS = {
  commentText: {
    member: 'commentText',
    type: 'text',
    personal: 'words',
    makesVersion: true,
    comment: 'Plain text; null if the service sent none (a voice comment).',
  },
  commentHtml: {
    member: 'commentHtml',
    type: 'text',
    personal: 'words',
    makesVersion: true,
    comment: 'HTML body as received. It is user input: always escape it.',
  },
  ...personColumns('author', 'from'),
  status: {
    member: 'status',
    type: 'text',
    personal: 'state',
    makesVersion: true,
    comment: 'Status as received. The service does not document the possible values.',
  },
  type: {
    member: 'type',
    type: 'text',
    personal: 'state',
    makesVersion: true,
    comment: 'Type as received. The service does not document the possible values.',
  },
  lastUpdated: {
    member: 'lastUpdated',
    type: 'timestamptz',
    personal: 'state',
    makesVersion: true,
    comment: "The service's lastUpdated (the service's clock).",
  },
  rest,
} as const satisfies Record<string, Column>

/**
 * The columns of a person of a comment. Reading, rows of users, redaction and erasure follow them.
 * @param person begins their names; `author` is the person whose words the comment has
 * @param member of the comment that holds a User summary
 */
function personColumns<Person extends string>(person: Person, member: string) {
  const column = (field: string, words: string) => ({
    member: `${member}.${field}`,
    type: 'text' as const,
    personal: 'value' as const,
    person,
    comment: `${words} of the ${person}, as received with the comment.`,
  })
  return {
    [`${person}UserId`]: column('userId', 'userId'),
    [`${person}Name`]: column('name', 'Name'),
    [`${person}Email`]: column('email', 'E-mail address'),
  } as Record<`${Person}${'UserId' | 'Name' | 'Email'}`, ReturnType<typeof column>>
}

/** Columns of `collab_store.users` (docs/SERVICE.md, Get Users). */
export const USER_COLUMNS = {
  name: {
    member: 'name',
    type: 'text',
    personal: 'value',
    makesVersion: true,
    comment: 'Name as last received; null if the service sent none.',
  },
  email: {
    member: 'email',
    type: 'text',
    personal: 'value',
    makesVersion: true,
    comment: 'E-mail address as last received; null if the service sent none.',
  },
  rest,
} as const satisfies Record<string, Column & { readonly type: 'text' | 'jsonb' }>

/** The views of `collab`, in the singular, whose rows runs add and remove, each with the key of the record in a row. */
export const RECORD_KEYS = {
  comment: 'commentId',
  user: 'userId',
  document_user: 'userId',
  user_group_member: 'userId',
} as const satisfies Readonly<Record<string, 'commentId' | 'userId'>>

export const RECORD_OBJECTS = Object.keys(RECORD_KEYS) as (keyof typeof RECORD_KEYS)[]

/** The views of `collab`, in the singular, whose rows the feed of changes has. */
export const CHANGED_OBJECTS = [
  'organization',
  'document',
  'annotation',
  'user_group',
  ...RECORD_OBJECTS,
] as const

export type CommentColumn = keyof typeof COMMENT_COLUMNS
export type UserColumn = keyof typeof USER_COLUMNS

/**
 * The values of a record's columns, in the order of its table. Null stands for a member that was left out, and for one that
 * could not be stored; times are ISO 8601 in UTC with milliseconds; `rest` is JSON text.
 */
export type Texts = readonly (string | null)[]

/** A comment in columns. */
export interface CommentColumns {
  readonly commentId: number
  readonly texts: Texts
}

/** A user in columns. */
export interface UserColumns {
  readonly userId: string
  readonly texts: Texts
}

/** A column with its name in a record; `column` is its name in PostgreSQL. */
export interface NamedColumn<Name extends string = string> extends Column {
  readonly name: Name
  readonly column: string
}

export const COMMENT_COLUMN_LIST = listOf<CommentColumn>(COMMENT_COLUMNS)
export const USER_COLUMN_LIST = listOf<UserColumn>(USER_COLUMNS)

/** The people of a comment, each with the member that holds its User summary. */
export const COMMENT_PEOPLE = COMMENT_COLUMN_LIST.flatMap(({ person, member }) =>
  person !== undefined && member?.endsWith('.userId')
    ? [{ person, member: member.slice(0, -'.userId'.length) }]
    : [],
)

/** Each record, as `OPERATIONS` calls it, with the member that is its key. */
export const RECORDS: Readonly<Record<RecordName, ReturnType<typeof recordOf>>> = {
  user: recordOf('userId', USER_COLUMN_LIST, 'person'),
  comment: recordOf('commentId', COMMENT_COLUMN_LIST, 'authored'),
}

/** UTF-16 units of all texts of a record; UTF-8 needs at most three bytes for each. */
export function unitsOf(texts: Texts): number {
  let units = 0
  for (const text of texts) units += text?.length ?? 0
  return units
}

/** The columns of a stored row. */
export function textsOf<Name extends string>(
  columns: readonly NamedColumn<Name>[],
  row: Readonly<Record<Name, string | Date | null>>,
): Texts {
  return columns.map(({ name }) => {
    const value: string | Date | null = row[name]
    return value instanceof Date ? value.toISOString() : value
  })
}

/** Records as one array for each column, as statements take them. */
export function arraysOf<Name extends string>(
  columns: readonly NamedColumn<Name>[],
  records: readonly { readonly texts: Texts }[],
): Record<Name, (string | null)[]> {
  const arrays = columns.map(({ name }, index) => [
    name,
    records.map(({ texts }) => texts[index] ?? null),
  ])
  return Object.fromEntries(arrays) as Record<Name, (string | null)[]>
}

function listOf<Name extends string>(
  columns: Readonly<Record<Name, Column>>,
): readonly NamedColumn<Name>[] {
  return (Object.keys(columns) as Name[]).map((name) => ({
    ...columns[name],
    name,
    column: columnOf(name),
  }))
}

/** The name of a column in PostgreSQL. */
export function columnOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** @param redacted as a person, as words of an author, or by the value of each field alone */
function recordOf(
  key: string,
  columns: readonly NamedColumn[],
  redacted: 'person' | 'authored' | 'by value',
) {
  const own = columns.flatMap(({ member }) => member?.split('.')[0] ?? [])
  /** The members that have columns; all others go to `rest`. */
  const members: ReadonlySet<string> = new Set([key, ...own])
  return { key, columns, redacted, members }
}

const PEOPLE = new Set(
  'user users uid author authors assignee assignees assigned owner owners member members by reader readers viewer viewers watcher watchers follower followers reviewer reviewers participant participants recipient recipients mention mentions mentioned tagged contact contacts person people profile profiles creator editor editors approver approvers resolver subscriber subscribers sender account accounts'.split(
    ' ',
  ),
)

/** Results of namesPeople: the same names occur in every record. */
const knownNames = new Map<string, boolean>()
const KNOWN_NAMES_MAX = 10_000

/** Whether a member's name, or the word before a value, says that people are meant. */
export function namesPeople(name: string): boolean {
  let known = knownNames.get(name)
  if (known === undefined) {
    const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
    known = words.split(/[^a-z]/).some((word) => PEOPLE.has(word))
    if (knownNames.size >= KNOWN_NAMES_MAX) knownNames.clear()
    knownNames.set(name, known)
  }
  return known
}
