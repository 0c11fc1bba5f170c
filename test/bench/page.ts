import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Baseline } from './baseline.ts'
import { isReached, short } from './bench.ts'
import type { Figure, Table } from './bench.ts'
import { comparisons } from './comparisons/index.ts'
import { machineLine } from './machine.ts'

/** Writes docs/PERFORMANCE.md from the baseline: nothing on that page is written by hand. */
export function writePage(baseline: Baseline): void {
  writeFileSync(join(process.cwd(), 'docs/PERFORMANCE.md'), `${pageOf(baseline)}\n`)
}

const INTRODUCTION = `# How fast, how much, and why

Written by \`npm run bench -- --accept\` from what it measured; see \`test/bench/README.md\` for how to repeat it. Each figure is a
ratio of two things measured side by side in one process or on one server, because ratios travel between machines and times do
not: the median, and in brackets the lowest and the highest. PostgreSQL has durable settings (fsync, synchronous commit, full
page writes).`

function pageOf(baseline: Baseline): string {
  const measured = comparisons.filter(({ name }) => baseline[name] !== undefined)
  const all = measured.flatMap(({ name }) => baseline[name]?.figures ?? [])
  const sections = measured.map(({ name, title, explains }) => {
    const { machine, tables, figures } = baseline[name] as Baseline[string]
    const parts = [
      `## ${title}`,
      explains,
      ...tables.map(tableOf),
      figureTable(figures),
      `*${name}: ${machineLine(machine)}*`,
    ]
    return parts.join('\n\n')
  })
  return [
    INTRODUCTION,
    '## Goals',
    figureTable(all.filter(({ goal }) => goal !== null)),
    ...sections,
  ].join('\n\n')
}

function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((one) => [
    one.name,
    one.means,
    value(one),
    goal(one),
    one.goal === null ? '' : isReached(one) ? 'yes' : '**no**',
  ])
  return markdown(['figure', 'is', 'measured', 'goal', 'reached'], rows)
}

function value({ median, low, high, measurements, unit }: Figure): string {
  const middle = `${short(median)} ${unit}`.trim()
  return measurements === 1 ? middle : `${middle} (${short(low)} to ${short(high)})`
}

function goal({ goal: wanted }: Figure): string {
  if (wanted === null) return ''
  return 'atLeast' in wanted
    ? `at least ${short(wanted.atLeast)}`
    : `at most ${short(wanted.atMost)}`
}

function tableOf({ title, head, rows }: Table): string {
  return `**${title}**\n\n${markdown(head, rows)}`
}

function markdown(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
