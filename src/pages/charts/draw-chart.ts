import type { TopLevelSpec } from 'vega-lite'
import type { Picture } from './chart.tsx'

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
