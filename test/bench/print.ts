import Table from 'cli-table3'
import { isReached, short } from './bench.ts'
import type { Comparison, Figure, Result } from './bench.ts'

/** Prints the tables, and the figures with their goals. */
export function printResult({ name, title }: Comparison, { tables, figures }: Result): void {
  console.log(`\n== ${name}: ${title}`)
  for (const { title: heading, head, rows } of tables) {
    const table = new Table({ head: [...head], style: { head: [], border: [] } })
    for (const row of rows) table.push([...row])
    console.log(`${heading}\n${table.toString()}`)
  }
  for (const one of figures)
    console.log(
      `  ${isReached(one) ? '+' : '-'} ${one.name}: ${spread(one)}, ${one.means}; goal: ${goalOf(one)}`,
    )
}

/** The median with the spread beside it. */
export function spread({ median, low, high, measurements, unit }: Figure): string {
  const value = `${short(median)}${unit === '' ? '' : ` ${unit}`}`
  return measurements === 1
    ? value
    : `${value} (${short(low)} to ${short(high)}, ${measurements} times)`
}

function goalOf({ goal }: Figure): string {
  return 'atLeast' in goal ? `at least ${short(goal.atLeast)}` : `at most ${short(goal.atMost)}`
}
