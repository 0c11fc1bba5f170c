import type { ComponentChildren } from 'preact'
import type { Fields } from './elements.tsx'

/** A column: its head, what stands in it for a row, and what kind of thing that is. */
export type Column<Row> = readonly [
  head: string,
  cell: (row: Row) => ComponentChildren,
  kind?: 'number' | 'id' | 'nowrap',
]

/** What a table shows. */
export interface TableProps<Row> {
  readonly caption: string
  /** The first one names the rows. */
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** What is said in its place where there are no rows. */
  readonly empty?: string
}

/** A table that scrolls by itself where it is wider than the window, so that the page never does; the keyboard reaches it. */
export function Table<Row>({ caption, columns, rows, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <p class="soft">{empty}</p>
  return (
    <div class="scroller" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(([head, , kind]) => (
              <th key={head} scope="col" class={kind}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {columns.map(([head, cell, kind], column) => {
                const Cell = column === 0 ? 'th' : 'td'
                return (
                  <Cell key={head} scope={column === 0 ? 'row' : undefined} class={kind}>
                    {cell(row)}
                  </Cell>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface PagerProps {
  readonly path: string
  /** What the listing is narrowed to, and where this page begins. */
  readonly query: Fields
  readonly nextCursor: string | null
  /** Where a page has two listings, each has a cursor and a place of its own. */
  readonly cursorName?: string
  readonly anchor?: string
}

/** A way to the next page of a listing, where there is one, and back to the first. */
export function Pager({ path, query, nextCursor, cursorName = 'cursor', anchor }: PagerProps) {
  const isFirst = query[cursorName] === undefined
  if (nextCursor === null && isFirst) return null
  const pathOf = (cursor: string | undefined) =>
    pathWith(path, { ...query, [cursorName]: cursor }) + (anchor === undefined ? '' : `#${anchor}`)
  return (
    <nav
      class="pager"
      aria-label={`Pages of this list${anchor === undefined ? '' : ` (${anchor})`}`}
    >
      {!isFirst && (
        <a class="button quiet" href={pathOf(undefined)}>
          First page
        </a>
      )}
      {nextCursor !== null && (
        <a class="button quiet" rel="next" href={pathOf(nextCursor)}>
          Next page
        </a>
      )}
    </nav>
  )
}

/** A path with the members of a query that have a value. */
export function pathWith(path: string, query: Fields): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value != null && value !== '') given.set(name, String(value))
  return given.size === 0 ? path : `${path}?${given}`
}
