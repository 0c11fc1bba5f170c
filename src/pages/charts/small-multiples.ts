import type { TopLevelSpec } from 'vega-lite'

/** One series in a row of its own, with its own scale: what is rare is seen beside what is frequent. */
export interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** Of the stylesheet's chart colours. */
  readonly colour: 1 | 2 | 3 | 4
}

const ROW_HEIGHT_PX = 52

/**
 * Bars over the same places, a row a series.
 * @param labels one a place
 * @param labelEvery each so manyth label is written, counted from the last
 */
export function smallMultiples(
  labels: readonly string[],
  series: readonly Series[],
  labelEvery: (widthPx: number) => number,
): (widthPx: number) => TopLevelSpec {
  return (widthPx) => ({
    spacing: 14,
    vconcat: series.map(({ name, values, colour }, row) => ({
      title: name,
      width: widthPx,
      height: ROW_HEIGHT_PX,
      data: { values: labels.map((_, place) => ({ place, value: values[place] ?? 0 })) },
      mark: { type: 'bar', color: `var(--chart-${colour})` },
      encoding: {
        x: {
          field: 'place',
          type: 'ordinal',
          scale: { paddingInner: 0.2 },
          axis: {
            labelAngle: 0,
            ticks: false,
            // The last row's labels serve all.
            labels: row === series.length - 1,
            labelExpr: `${JSON.stringify(labels)}[datum.value]`,
            values: everySo(labels.length, labelEvery(widthPx)),
          },
        },
        y: {
          field: 'value',
          type: 'quantitative',
          // A row of nothing but zeros needs a scale too; and whole numbers have no ticks between them.
          scale: { domain: [0, Math.max(1, ...values.map((value) => value ?? 0))], nice: true },
          axis: { format: ',~r', tickMinStep: 1, minExtent: 36, maxExtent: 36 },
        },
      },
    })),
  })
}

/** Counted from the last one: the newest is what is looked at. */
function everySo(places: number, step: number): number[] {
  return Array.from({ length: places }, (_, place) => place).filter(
    (place) => (places - 1 - place) % step === 0,
  )
}
