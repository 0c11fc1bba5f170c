import { COLUMN_PARAMETERS, columnParameters, columnsNamed } from './column-lists.ts'

/** What the comment at the head of a statement says of it. */
export interface Head {
  /** What it does, in one paragraph. */
  readonly says: string
  readonly parameters: readonly Parameter[]
  /** Columns that are never null although PostgreSQL does not know; `ids[]` means the elements of an array. */
  readonly neverNull: ReadonlySet<string>
  /** Columns that hold what a column of a table holds, as `schema.table.column`. */
  readonly typedAs: ReadonlyMap<string, string>
  readonly isPrepared: boolean
}

export interface Parameter {
  readonly number: number
  readonly name: string
  readonly mayBeNull: boolean
  readonly mayHoldNulls: boolean
}

const SECTIONS = /\n(Params|Never null|Typed as|Prepared)[:.]/

/**
 * Reads the head of a statement (sql/README.md says how one is written).
 * @throws Error naming what is wrong
 */
export function readHead(text: string): Head {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  const head = lines.slice(0, end).map((line) => line.slice(2).trim())
  const [says = '', ...rest] = `\n${head.join('\n')}`.split(SECTIONS)
  const sections = new Map<string, string>()
  for (let index = 0; index < rest.length; index += 2)
    sections.set(rest[index] as string, oneLine(rest[index + 1] as string))
  return {
    says: oneLine(says),
    parameters: readParameters(sections.get('Params') ?? 'none.'),
    neverNull: new Set(namesIn(sections.get('Never null')).flatMap(columnsNamed)),
    typedAs: new Map(
      namesIn(sections.get('Typed as')).map((pair) => {
        const [column, like, ...more] = pair.split(' ')
        if (!column || !like || more.length > 0) throw new Error(`"Typed as: ${pair}" is no pair.`)
        return [column, like]
      }),
    ),
    isPrepared: sections.has('Prepared'),
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function namesIn(list: string | undefined): string[] {
  return list === undefined ? [] : list.replace(/\.$/, '').split(', ')
}

/**
 * `$1 name`, with `[?]` where elements may be null, `?` where it may be null itself, then a note in parentheses; at the end
 * the columns of a list may follow.
 */
function readParameters(text: string): Parameter[] {
  if (text.startsWith('none')) return []
  const [own = '', first, list = ''] = text.split(COLUMN_PARAMETERS)
  const found = [...own.matchAll(/\$(\d+) ([a-z][A-Za-z0-9]*)(\[\?\])?(\?)?(?=[,.]? |[,.]?$)/g)]
  const parameters = found.map(([, number, name, elements, itself]) => ({
    number: Number(number),
    name: name as string,
    mayHoldNulls: elements !== undefined,
    mayBeNull: itself !== undefined,
  }))
  if (first !== undefined)
    for (const [index, name] of columnParameters(list).entries())
      parameters.push({ number: Number(first) + index, name, mayHoldNulls: true, mayBeNull: false })
  for (const [index, { number }] of parameters.entries())
    if (number !== index + 1) throw new Error(`"Params: ${text}" lacks $${index + 1}.`)
  return parameters
}
