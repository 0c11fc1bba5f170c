/** Characters that are rewritten at a time, but for a longer row: PostgreSQL and V8 both have a limit of one value. */
const UNITS_A_PIECE = 16_000_000

/**
 * Rows in pieces, each for a transaction of its own: of one group, of at most so many rows, and of so many characters.
 * @param rows those of one group one after the other
 * @param unitsOf the characters of a row; left out where they are few
 */
export function piecesOf<T>(
  rows: readonly T[],
  rowsMax: number,
  groupOf: (row: T) => unknown,
  unitsOf: (row: T) => number = () => 0,
): [T, ...T[]][] {
  const pieces: [T, ...T[]][] = []
  let units = 0
  for (const row of rows) {
    const last = pieces.at(-1)
    const own = unitsOf(row)
    const isFull = last === undefined || last.length === rowsMax || units + own > UNITS_A_PIECE
    if (isFull || groupOf(last[0]) !== groupOf(row)) {
      pieces.push([row])
      units = 0
    } else last.push(row)
    units += own
  }
  return pieces
}
