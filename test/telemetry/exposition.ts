/** One line of numbers. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric with its samples; of a histogram those of its buckets, sum and count. */
export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

/**
 * Reads Prometheus's text format, version 0.0.4, as strictly as it is written down: every family has one HELP and one
 * TYPE before its samples, families do not mix, no series comes twice, names and escapes are as allowed, buckets add up.
 * @throws naming the line
 */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.')
  const families = new Map<string, Family>()
  const series = new Set<string>()
  let help: [name: string, help: string] | null = null
  let open: Family | null = null
  for (const line of text.split('\n')) {
    const fault = (what: string) => new Error(`${what}: ${line}`)
    if (line === '') continue
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line)
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment
      if (families.has(name)) throw fault('comes twice')
      if (kind === 'HELP') help = [name, rest]
      else {
        if (help?.[0] !== name) throw fault('TYPE without HELP')
        if (!/^(counter|gauge|histogram|summary)$/.test(rest)) throw fault('unknown type')
        open = { name, type: rest, help: help[1], samples: [] }
        families.set(name, open)
      }
      continue
    }
    const sample = parseSample(line)
    if (sample === null) throw fault('cannot be read')
    if (open === null || !belongs(sample.name, open)) throw fault('is outside of its family')
    const { name, labels } = sample
    const key = JSON.stringify([name, Object.entries(labels).sort()])
    if (series.has(key)) throw fault('comes twice')
    series.add(key)
    open.samples.push(sample)
  }
  for (const family of families.values()) checkFamily(family)
  return families
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

const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y

function parseSample(line: string): Sample | null {
  const parts = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
  if (parts === null) return null
  const [, name = '', inside = '', number = ''] = parts
  const value = /^[+-]?Inf$/.test(number) ? Number(`${number}inity`) : Number(number)
  if (Number.isNaN(value) && number !== 'NaN') return null
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < inside.length) {
    const label = LABEL.exec(inside)
    if (label === null || (label[1] as string) in labels) return null
    labels[label[1] as string] = label[2] as string
  }
  return { name, labels, value }
}

function belongs(name: string, { name: family, type }: Family): boolean {
  if (type === 'histogram') return new RegExp(`^${family}_(bucket|sum|count)$`).test(name)
  if (type === 'summary') return new RegExp(`^${family}(_sum|_count)?$`).test(name)
  return name === family
}

function checkFamily({ name, type, samples }: Family): void {
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name} is a counter.`)
  if (type === 'gauge' && name.endsWith('_total')) throw new Error(`${name} is a gauge.`)
  if (type === 'counter' && samples.some(({ value }) => value < 0))
    throw new Error(`${name} is below zero.`)
  if (type === 'histogram') checkBuckets(name, samples)
}

function checkBuckets(name: string, samples: readonly Sample[]): void {
  const counts = samples.filter((sample) => sample.name === `${name}_count`)
  for (const count of counts) {
    const isSame = ({ labels }: Sample) =>
      Object.entries(count.labels).every(([label, is]) => labels[label] === is)
    const buckets = samples.filter((each) => each.name === `${name}_bucket` && isSame(each))
    const values = buckets.map(({ value }) => value)
    if (values.some((value, at) => value < (values[at - 1] ?? 0)))
      throw new Error(`The buckets of ${name} do not add up.`)
    if (buckets.at(-1)?.labels['le'] !== '+Inf' || values.at(-1) !== count.value)
      throw new Error(`${name} has no last bucket that holds all.`)
  }
}
