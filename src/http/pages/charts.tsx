import { count } from '../../documents/format.ts'
import { Table } from './tables.tsx'

/** One series in a row of its own, with its own scale: what is rare is seen beside what is frequent. */
export interface Series {
  readonly name: string
  /** One a place; null where there is nothing to measure. */
  readonly values: readonly (number | null)[]
  /** Of the stylesheet's chart colours. */
  readonly colour: 1 | 2 | 3 | 4
  /** How a value is written. */
  readonly format?: (value: number) => string
}

/** A day, or a part of a run. */
export interface Place {
  readonly name: string
  /** What is written beneath its bars; null where that would be too close to the next. */
  readonly axisLabel: string | null
}

interface BarChartProps {
  /** What it shows, in a sentence. */
  readonly caption: string
  /** The name of its table. */
  readonly label: string
  /** What a place is. */
  readonly placeHead: string
  readonly places: readonly Place[]
  readonly series: readonly Series[]
}

/** Bars over the same places, a row a series, with what they show in a sentence and as a table. */
export function BarChart({ caption, label, placeHead, places, series }: BarChartProps) {
  return (
    <figure>
      {series.map((one, row) => (
        <BarRow key={one.name} places={places} series={one} isLast={row === series.length - 1} />
      ))}
      <figcaption>{caption}</figcaption>
      <details>
        <summary>The numbers</summary>
        <Table
          caption={label}
          rows={places.map(({ name }, place) => ({ name, place }))}
          columns={[
            [placeHead, ({ name }) => name, 'nowrap'],
            ...series.map(
              (one) =>
                [one.name, (row: { place: number }) => written(one, row.place), 'number'] as const,
            ),
          ]}
        />
      </details>
    </figure>
  )
}

/** Of the name. */
const TOP_PX = 22
const BARS_PX = 60
/** Of a place's width; the rest keeps bars apart. */
const BAR_SHARE = 0.8

interface BarRowProps {
  readonly places: readonly Place[]
  readonly series: Series
  readonly isLast: boolean
}

/**
 * Across in percent and down in pixels, so that one drawing fits every width and its text keeps its size. Colours are the
 * stylesheet's variables, which follow light and dark; it has no style attribute, which the policy of the page forbids.
 */
function BarRow({ places, series, isLast }: BarRowProps) {
  const { name, values, colour, format = count } = series
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const heightOf = (value: number) => rounded((value / Math.max(most, 1)) * BARS_PX)
  const words = `${name}: at most ${format(most)}`
  const widthPercent = 100 / places.length
  return (
    <svg class={isLast ? 'bars dated' : 'bars'} role="img" aria-label={words}>
      <text class="name" y="12">
        {words}
      </text>
      <line x2="100%" y1={TOP_PX + BARS_PX} y2={TOP_PX + BARS_PX} />
      <g fill={`var(--chart-${colour})`}>
        {values.map((value, place) => (
          <rect
            key={place}
            x={`${rounded((place + (1 - BAR_SHARE) / 2) * widthPercent)}%`}
            y={TOP_PX + BARS_PX - heightOf(value ?? 0)}
            width={`${rounded(BAR_SHARE * widthPercent)}%`}
            height={heightOf(value ?? 0)}
          >
            <title>{`${places[place]?.name}: ${written(series, place)}`}</title>
          </rect>
        ))}
      </g>
      {isLast &&
        places.map(
          ({ axisLabel }, place) =>
            axisLabel !== null && (
              <text
                key={place}
                class="place"
                x={`${rounded((place + 0.5) * widthPercent)}%`}
                y={TOP_PX + BARS_PX + 18}
              >
                {axisLabel}
              </text>
            ),
        )}
    </svg>
  )
}

function written({ values, format = count }: Series, place: number): string {
  const value = values[place] ?? null
  return value === null ? '–' : format(value)
}

/** To hundredths: more would be bytes that nobody sees. */
function rounded(n: number): number {
  return Math.round(n * 100) / 100
}
