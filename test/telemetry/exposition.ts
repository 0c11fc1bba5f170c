/** One line of numbers. */
interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric with its samples; of a histogram those of its buckets, sum and count. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly samples: Sample[]
}

/**
 * Reads Prometheus's text format. Whether it is well-formed is promtool's to say, in the other lane.
 * @throws naming what cannot be read, comes twice, or is named against the conventions
 */
export function parseExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  const series = new Set<string>()
  for (const [head = '', type = '', ...lines] of text
    .split(/^# HELP /m)
    .slice(1)
    .map(byLine)) {
    const [, name = '', help = ''] = /^(\S+) (.+)$/.exec(head) ?? []
    if (type.endsWith('counter') !== name.endsWith('_total')) throw new Error(`${type}: misnamed`)
    const samples = lines.map(parseSample)
    for (const sample of samples) {
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
      if (!sample.name.startsWith(name) || series.has(key)) throw new Error(`${key} is misplaced`)
      series.add(key)
    }
    families.set(name, { name, help, samples })
  }
  return families
}

function byLine(block: string): string[] {
  return block.split('\n').filter((line) => line !== '')
}

function parseSample(line: string): Sample {
  const [, name = '', inside = '', number = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  const value = /^[+-]?Inf$/.test(number) ? Number(`${number}inity`) : Number(number)
  if (name === '' || (Number.isNaN(value) && number !== 'NaN'))
    throw new Error(`cannot be read: ${line}`)
  const labels = [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [
    key,
    text,
  ])
  return { name, labels: Object.fromEntries(labels), value }
}

/** The value of one series. @throws where there is none, or labels match several */
export function valueOf(
  families: Map<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const found = samplesOf(families, name, labels)
  if (found.length !== 1) throw new Error(`${found.length} series of ${name}`)
  return found[0]?.value as number
}

/** The sum of all series with these labels; 0 for none. */
export function sumOf(
  families: Map<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return samplesOf(families, name, labels).reduce((sum, { value }) => sum + value, 0)
}

function samplesOf(
  families: Map<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>>,
): Sample[] {
  return [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, is]) => sample.labels[label] === is))
}
