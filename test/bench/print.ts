import Table from 'cli-table3'
import { isReached, short } from './bench.ts'
import type { Comparison, Figure, Result } from './bench.ts'

/** Prints the tables, the figures with their goals, and one JSON line for programs. */
export function printResult({ name, title }: Comparison, { tables, figures }: Result): void {
  console.log(`\n== ${name}: ${title}`)
  for (const { title: heading, head, rows } of tables) {
    const table = new Table({ head: [...head], style: { head: [], border: [] } })
    for (const row of rows) table.push([...row])
    console.log(`${heading}\n${table.toString()}`)
  }
  for (const one of figures)
    console.log(`  ${mark(one)} ${one.name}: ${spread(one)}, ${one.means}${goalOf(one)}`)
  const ratios = figures.map(({ name: of, median, low, high, measurements }) => [
    of,
    { median, low, high, measurements },
  ])
  console.log(JSON.stringify({ bench: name, figures: Object.fromEntries(ratios) }))
}

/** The median with the spread beside it. */
export function spread({ median, low, high, measurements, unit }: Figure): string {
  const value = `${short(median)}${unit === '' ? '' : ` ${unit}`}`
  return measurements === 1
    ? value
    : `${value} (${short(low)} to ${short(high)}, ${measurements} times)`
}

export function goalOf({ goal }: Figure): string {
  if (goal === null) return ''
  return 'atLeast' in goal
    ? `; goal: at least ${short(goal.atLeast)}`
    : `; goal: at most ${short(goal.atMost)}`
}

function mark(one: Figure): string {
  return one.goal === null ? ' ' : isReached(one) ? '+' : '-'
}
