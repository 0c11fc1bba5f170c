import type { Column } from '../../schemas/columns.ts'
import { capitalized, pathWith } from './elements.tsx'
import type { Fields } from './elements.tsx'
import { Shown } from './values.tsx'
import type { Content } from './values.tsx'

interface TableProps<Row> {
  readonly caption: string
  /** True if the heading above the table says the same. */
  readonly isTitled?: boolean
  /** The first one names the rows. */
  readonly columns: readonly Column<Row, Content>[]
  readonly rows: readonly Row[]
  /** Shown instead of a table without rows. */
  readonly empty?: string
}

/**
 * A table. If it is wider than the window, it scrolls in its own region, which the keyboard reaches. On narrow screens, each row
 * is a card with the heads as labels.
 */
export function Table<Row>({ caption, isTitled, columns, rows, empty }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <p class="soft">{empty}</p>
  return (
    <div class="scroller" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class={isTitled ? 'unseen' : undefined}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(([head, , kind]) => (
              <th key={head} scope="col" class={kind}>
                {capitalized(head)}
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
                  <Cell
                    key={head}
                    scope={column === 0 ? 'row' : undefined}
                    class={kind}
                    data-head={capitalized(head)}
                  >
                    <Shown of={cell(row)} />
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

export interface PagerProps {
  readonly path: string
  /** The filter of the listing, and the cursor of this page. */
  readonly query: Fields
  readonly nextCursor: string | null
  /** Two listings of one page need different cursors and anchors. */
  readonly cursorName?: string
  readonly anchor?: string
}

/** Links to the next page of a listing and to the first. */
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
