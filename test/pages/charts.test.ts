import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { expect, test } from 'vitest'
import { BarChart } from '../../src/http/pages/charts.tsx'

const DAYS = Array.from({ length: 30 }, (_, place) => ({
  name: `2025-11-${place + 1}`,
  axisLabel: place % 10 === 9 ? `${place + 1} Nov` : null,
}))
const SERIES = [
  { name: 'Comments', values: DAYS.map((_, place) => place * 40), colour: 1 },
  { name: 'Edits', values: DAYS.map(() => 0), colour: 2 },
  {
    name: 'A call took',
    values: DAYS.map((_, place) => (place === 3 ? null : 7)),
    colour: 4,
    format: (ms: number) => `${ms} ms`,
  },
] as const

test('a chart needs no more of a policy than the page does, and takes its colours from the stylesheet', () => {
  const html = chart()
  expect(html).not.toMatch(/ style="|<style|<script|<image|url\(|href=/)
  expect(html.match(/(?:fill|stroke)="(?!var\(--chart-\d\))[^"]*"/g)).toBeNull()
  expect(html.length).toBeLessThan(20_000)
})

test('each place has its bar, labels stand where they were asked for, and every number is in the table', () => {
  const html = chart()
  expect(html.match(/<rect /g)).toHaveLength(DAYS.length * SERIES.length)
  expect(html.match(/class="place"/g)).toHaveLength(3)
  for (const label of ['10 Nov', '20 Nov', '30 Nov']) expect(html).toContain(`>${label}<`)
  expect(html).toContain('aria-label="Comments: at most 1,160"')
  expect(html).toContain('<title>2025-11-30: 1,160</title>')
  expect(html).toContain(
    '<th scope="row" class="nowrap">2025-11-4</th><td class="number">120</td><td class="number">0</td><td class="number">–</td>',
  )
})

test('a bar is as high as its value on the scale, and lies on the line of zero', () => {
  const values = [0, 5, 10]
  const places = values.map((value) => ({ name: String(value), axisLabel: null }))
  const html = render(
    h(BarChart, {
      caption: '',
      label: '',
      placeHead: '',
      places,
      series: [{ name: 'Calls', values, colour: 1 }],
    }),
  )
  const bars = [
    ...html.matchAll(/<rect x="([\d.]+)%" y="([\d.]+)" width="[\d.]+%" height="([\d.]+)"/g),
  ]
  expect(bars.map(([, , y, height]) => Number(y) + Number(height))).toEqual([82, 82, 82])
  expect(bars.map(([, , , height]) => Number(height))).toEqual([0, 30, 60])
  expect(bars.map(([, x]) => Number(x))).toEqual([3.33, 36.67, 70])
})

function chart(): string {
  return render(
    h(BarChart, {
      caption: 'In 30 days much was written.',
      label: 'Comments by day',
      placeHead: 'Day',
      places: DAYS,
      series: SERIES,
    }),
  )
}
