import type { TopLevelSpec } from 'vega-lite'
import { Scroller } from '../elements.tsx'

/** A picture drawn for wide and for narrow windows, with what it shows in a sentence and as a table. */
export interface ChartProps {
  /** What it shows, in a sentence. */
  readonly caption: string
  readonly picture: Picture
  readonly table: {
    readonly heads: readonly string[]
    readonly rows: readonly (readonly string[])[]
  }
}

/** SVG texts from `drawChart`. */
export interface Picture {
  readonly wide: string
  readonly narrow: string
}

/** The picture is for the eyes alone; the sentence and the table say the same to everybody. */
export function Chart({ caption, picture, table }: ChartProps) {
  return (
    <figure class="chart">
      {/* Drawn by vega out of our own numbers and words: nothing that the service sent is in it. */}
      <div class="wide" aria-hidden="true" dangerouslySetInnerHTML={{ __html: picture.wide }} />
      <div class="narrow" aria-hidden="true" dangerouslySetInnerHTML={{ __html: picture.narrow }} />
      <figcaption>{caption}</figcaption>
      <details>
        <summary>The numbers</summary>
        <Scroller label={caption}>
          <table>
            <caption class="unseen">{caption}</caption>
            <thead>
              <tr>
                {table.heads.map((head, place) => (
                  <th key={head} scope="col" class={place === 0 ? undefined : 'number'}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.rows.map(([first, ...others]) => (
                <tr key={first}>
                  <th scope="row">{first}</th>
                  {others.map((cell, place) => (
                    <td key={table.heads[place + 1]} class="number">
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
      </details>
    </figure>
  )
}

/** Sizes at which text is as large as the page's small print, on a phone and beside another chart. */
const WIDTHS_PX = { wide: 480, narrow: 270 }

/**
 * Draws a chart as SVG, without a style attribute or a script: a strict Content-Security-Policy lets it through. Colours
 * are the stylesheet's variables, so that they follow light and dark.
 * @param specOf the chart for a width in pixels, of the plotted part
 */
export async function drawChart(specOf: (widthPx: number) => TopLevelSpec): Promise<Picture> {
  return {
    wide: await draw(specOf(WIDTHS_PX.wide)),
    narrow: await draw(specOf(WIDTHS_PX.narrow)),
  }
}

async function draw(spec: TopLevelSpec): Promise<string> {
  // Loaded by the first chart: the program's other commands need none.
  const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')])
  const compiled = vegaLite.compile({ ...spec, background: 'transparent', config: CONFIG })
  const view = new vega.View(vega.parse(compiled.spec), { renderer: 'none' })
  try {
    return lighter(await view.toSVG())
  } finally {
    view.finalize()
  }
}

/** The same picture in half the bytes: without what is not seen, and without hundredths of a pixel. */
function lighter(svg: string): string {
  return svg
    .replaceAll(/<path class="(?:back|fore)ground"[^>]*\/>/g, '')
    .replaceAll(/ (?:role|class|aria-[a-z]+|pointer-events)="[^"]*"| opacity="1"/g, '')
    .replaceAll(/\d+\.\d{2,}/g, (number) => String(Math.round(Number(number) * 10) / 10))
}

const TEXT = { font: 'inherit', fontSize: 11, color: 'var(--soft)' } as const

const CONFIG = {
  // The picture is hidden from screen readers, which get the table.
  aria: false,
  font: TEXT.font,
  view: { stroke: null },
  bar: { color: 'var(--chart-1)' },
  axis: {
    labelFontSize: TEXT.fontSize,
    labelColor: TEXT.color,
    title: null,
    domainColor: 'var(--field)',
    tickColor: 'var(--field)',
    gridColor: 'var(--line)',
  },
  axisX: { grid: false },
  axisY: { domain: false, ticks: false, tickCount: 2 },
  title: { anchor: 'start', fontSize: 12, fontWeight: 600, color: 'var(--ink)', offset: 6 },
} as const

/** Bars beneath one another, one a group, with their names in full: names beneath upright bars would not fit a phone. */
export function histogram(
  groups: readonly { readonly name: string; readonly value: number }[],
): (widthPx: number) => TopLevelSpec {
  const most = Math.max(1, ...groups.map(({ value }) => value))
  return (widthPx) => ({
    width: widthPx - 60,
    height: { step: 26 },
    data: { values: groups.map(({ name, value }) => ({ name, value })) },
    encoding: {
      y: {
        field: 'name',
        type: 'ordinal',
        sort: groups.map(({ name }) => name),
        axis: { domain: false, ticks: false, minExtent: 90, maxExtent: 90 },
      },
      x: {
        field: 'value',
        type: 'quantitative',
        scale: { domain: [0, most] },
        axis: null,
      },
    },
    layer: [
      { mark: { type: 'bar', height: 16 } },
      {
        mark: { type: 'text', align: 'left', dx: 6, color: 'var(--ink)', fontSize: 11 },
        encoding: { text: { field: 'value', type: 'quantitative', format: ',' } },
      },
    ],
  })
}

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
