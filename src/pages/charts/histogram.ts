import type { TopLevelSpec } from 'vega-lite'

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
