export const COLUMN_OBJECTS = ['comments', 'users'] as const
export const COLUMN_TYPES = [
  'text',
  'integer',
  'numeric',
  'boolean',
  'timestamptz',
  'date',
] as const

/** A column to be added to the views of comments or users. */
export interface ColumnRequest {
  readonly object: (typeof COLUMN_OBJECTS)[number]
  readonly name: string
  /** Names with dots between. */
  readonly member: string
  readonly type: (typeof COLUMN_TYPES)[number]
  /** Whether an index on it is wanted. */
  readonly index: boolean
}

/** A column that was added, and how what is stored fits it. */
export interface AddedColumn extends Omit<ColumnRequest, 'index'> {
  /** Broken: its making was broken off, and the same `column add` once more mends it. */
  readonly index: 'none' | 'whole' | 'broken'
  /** How many stored comments or users have a value there. */
  readonly values: number
  /** Of how many of these it does not fit the type: null in the column. */
  readonly misfits: number
}
