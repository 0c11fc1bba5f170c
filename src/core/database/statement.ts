import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'

/** Where a statement runs: on any connection of the pool, or on one that is inside a transaction. */
export type On = pg.Pool | pg.PoolClient

/** The parameters as the last argument; nothing where a statement has none. */
type Given<Parameters> = [Parameters] extends [null] ? [] : [parameters: Parameters]

/** What is generated of a statement besides its types; see test/statements. */
interface Description {
  /** Names of `$1`, `$2` ... in their order, with a space between them. */
  readonly parameters?: string
  /** Columns that the statement's head declares never null, which PostgreSQL cannot know; in the same form. */
  readonly neverNull?: string
  /** Prepared once for each connection: pays where it runs often. */
  readonly isPrepared?: true
}

/** A row of a statement: `RowOf<typeof tokens.read>`. */
export type RowOf<S> = S extends Statement<never, infer Row> ? Row : never

const texts = new Map<string, string>()

/** The name of a statement by its text; null where it is none of `sql/queries`. */
export function statementName(text: string): string | null {
  for (const [name, known] of texts) if (known === text) return name
  return null
}

/**
 * One statement of `sql/queries` with the types of its parameters and rows. Only the generated modules in
 * `src/core/database/statements` make one, from what PostgreSQL says of the statement and from the statement's head.
 */
export class Statement<Parameters, Row> {
  readonly #neverNull: readonly string[]
  readonly #parameters: readonly string[]
  readonly #isPrepared: boolean

  /** Noun and verb, such as `runs/finish`: the file below `sql/queries`. */
  readonly name: string

  constructor(name: string, description: Description = {}) {
    this.name = name
    this.#parameters = words(description.parameters)
    this.#neverNull = words(description.neverNull)
    this.#isPrepared = description.isPrepared ?? false
  }

  /** The statement as its file has it, read once; for COPY, whose rows come as a stream. */
  get text(): string {
    let text = texts.get(this.name)
    if (text === undefined) {
      const url = import.meta.resolve(`#sql/queries/${this.name}.sql`)
      text = readFileSync(fileURLToPath(url), 'utf8')
      texts.set(this.name, text)
    }
    return text
  }

  /** Runs it. @returns every row @throws pg.DatabaseError as PostgreSQL refuses it */
  async all(on: On, ...given: Given<Parameters>): Promise<Row[]> {
    const { rows, fields } = await this.#query(on, given[0])
    const members = fields.map(memberOf)
    return rows.map((values) => this.#row(values, members))
  }

  /** Runs it. @returns the first row, undefined where there is none */
  async first(on: On, ...given: Given<Parameters>): Promise<Row | undefined> {
    const { rows, fields } = await this.#query(on, given[0])
    return rows[0] && this.#row(rows[0], fields.map(memberOf))
  }

  /** Runs a statement that returns a row whatever the tables hold. @throws when there is none: a programmer's error */
  async one(on: On, ...given: Given<Parameters>): Promise<Row> {
    const row = await this.first(on, ...given)
    if (row === undefined) throw new Error(`${this.name} returned no row.`)
    return row
  }

  /** Runs it. @returns how many rows it changed, or found */
  async run(on: On, ...given: Given<Parameters>): Promise<number> {
    return (await this.#query(on, given[0])).rowCount ?? 0
  }

  async #query(on: On, parameters: Parameters | undefined) {
    const byName = parameters as Record<string, unknown> | undefined
    return on.query<unknown[]>({
      text: this.text,
      rowMode: 'array',
      ...(this.#isPrepared && { name: this.name }),
      // Without values the simple protocol is used, in which a file may hold several statements.
      ...(byName && { values: this.#parameters.map((name) => byName[name]) }),
    })
  }

  #row(values: readonly unknown[], members: readonly string[]): Row {
    const row: Record<string, unknown> = {}
    for (const [index, name] of members.entries()) row[name] = values[index]
    for (const name of this.#neverNull)
      if (row[name] === null) throw new Error(`${this.name} returned null as ${name}.`)
    return row as Row
  }
}

/** By the name of a column, since the same ones come with every query. */
const members = new Map<string, string>()

/** The member of a row that has a column. */
function memberOf({ name }: pg.FieldDef): string {
  let member = members.get(name)
  if (member === undefined) members.set(name, (member = camelCase(name)))
  return member
}

/** The name of a column or of a file of `sql/queries` in TypeScript. */
export function camelCase(name: string): string {
  return name.replaceAll(/[_-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function words(list: string | undefined): readonly string[] {
  return list?.split(' ') ?? []
}
