type Labels = Readonly<Record<string, string>>

interface Sample {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/** The samples of Prometheus's text format. */
export function samplesIn(text: string): Sample[] {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', inside, value]) => {
    const labels = [...(inside ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    return {
      name,
      labels: Object.fromEntries(labels.map(([, label, is]) => [label, is])),
      value: Number(value),
    }
  })
}

/** The values of all series with these labels. */
function valuesOf(text: string, name: string, labels: Labels): number[] {
  const isMeant = (sample: Sample) =>
    sample.name === name &&
    Object.entries(labels).every(([label, is]) => sample.labels[label] === is)
  return samplesIn(text)
    .filter(isMeant)
    .map(({ value }) => value)
}

/** The value of one series. @throws where there is none, or labels match several */
export function valueOf(text: string, name: string, labels: Labels = {}): number {
  const [value, ...others] = valuesOf(text, name, labels)
  if (value === undefined || others.length > 0) throw new Error(`not one series of ${name}`)
  return value
}

/** The sum of all series with these labels; 0 for none. */
export function sumOf(text: string, name: string, labels: Labels = {}): number {
  return valuesOf(text, name, labels).reduce((sum, value) => sum + value, 0)
}
