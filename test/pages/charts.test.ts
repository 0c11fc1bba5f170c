import { expect, test } from 'vitest'
import { drawChart, histogram, smallMultiples } from '../../src/pages/charts/chart.tsx'

const DAYS = Array.from({ length: 30 }, (_, place) => `11-${place + 1}`)

test('a chart needs no more of a policy than the page does, and takes its colours from the stylesheet', async () => {
  const series = [
    { name: 'Comments', values: DAYS.map((_, place) => place * 7), colour: 1 },
    { name: 'Edits', values: DAYS.map(() => 0), colour: 2 },
  ] as const
  const rows = smallMultiples(DAYS, series, () => 5)
  const bars = histogram([{ name: 'under 1 hour', value: 12_345 }])
  for (const { wide, narrow } of [await drawChart(rows), await drawChart(bars)]) {
    for (const svg of [wide, narrow]) {
      expect(svg).not.toMatch(/ style="|<style|<script|<image|url\(|href=/)
      expect(svg.match(/(?:fill|stroke)="(?!none|transparent|var\(--)[^"]*"/g)).toBeNull()
    }
    expect(narrow.length).toBeLessThan(10_000)
  }
  expect((await drawChart(bars)).wide).toContain('>12,345<')
})

test('each place has its bar, and the labels count back from the newest', async () => {
  const values = DAYS.map((_, place) => place + 1)
  const { wide } = await drawChart(
    smallMultiples(DAYS, [{ name: 'Comments', values, colour: 3 }], () => 10),
  )
  expect(wide.match(/fill="var\(--chart-3\)"/g)).toHaveLength(DAYS.length)
  for (const label of ['11-10', '11-20', '11-30']) expect(wide).toContain(`>${label}<`)
  expect(wide).not.toContain('>11-29<')
})
