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
