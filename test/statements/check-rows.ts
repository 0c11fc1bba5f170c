import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { statementName } from '../../src/core/database/statement.ts'

/**
 * Holds every row that a statement returns in a test against the types that are generated of it, elements of arrays too: a
 * statement whose head promises too much fails the test that runs it. Loaded before each test file.
 */

const GENERATED = join(import.meta.dirname, '../../src/core/database/statements')
const STATEMENT = /new Statement<([^]*?)>\(\s*'([^']+)'/g
const MEMBER = /\w+:\s+([^;{}]+?)\s*(?=;|\}|\n\s+\w+:)/g

/** By the name of a statement: the types of its columns. */
const rowTypes = new Map<string, readonly string[]>()
const nounsRead = new Set<string>()

/** The types of a statement's columns, as the module of its noun has them. */
function typesOf(name: string): readonly string[] | undefined {
  const [noun = ''] = name.split('/')
  if (!nounsRead.has(noun)) {
    nounsRead.add(noun)
    const module = readFileSync(join(GENERATED, `${noun}.ts`), 'utf8')
    for (const [, types = '', statement = ''] of module.matchAll(STATEMENT)) {
      // The parameters stand before the row; a statement without rows has null in its place.
      const row = types.trimEnd().endsWith('}') ? types.slice(types.lastIndexOf('{')) : null
      if (row === null) continue
      const members = [...row.matchAll(MEMBER)].map(([, type = '']) => oneLine(type))
      rowTypes.set(statement, members)
    }
  }
  return rowTypes.get(name)
}

/** A type as it is without the lines that Prettier makes of a long one. */
function oneLine(type: string): string {
  return type.replaceAll(/\s+/g, ' ').replace(/^\| /, '')
}

/** What pg's Query has and its types do not name. */
interface Query {
  readonly text: string
  readonly _result: { readonly rows: readonly unknown[] }
  _canceledDueToError: Error | false
}

const prototype = pg.Query.prototype as unknown as {
  handleDataRow: (this: Query, message: unknown) => void
}
const { handleDataRow } = prototype

/** A process runs this once for each of its test files. */
const CHECKED = Symbol.for('collab-sync checks rows')

if (!(CHECKED in prototype)) {
  Object.assign(prototype, { [CHECKED]: true, handleDataRow: handleAndCheck })
}

function handleAndCheck(this: Query, message: unknown): void {
  handleDataRow.call(this, message)
  const row = this._result.rows.at(-1)
  const name = Array.isArray(row) ? statementName(this.text) : null
  const types = name === null ? undefined : typesOf(name)
  const wrong = types === undefined ? null : faultOf(row as unknown[], types)
  if (wrong !== null) this._canceledDueToError = new Error(`${name}: ${wrong}`)
}

function faultOf(row: readonly unknown[], types: readonly string[]): string | null {
  if (row.length !== types.length) return `${row.length} columns, not ${types.length}`
  const index = types.findIndex((type, at) => !isOf(row[at], type))
  return index === -1 ? null : `column ${index + 1} is ${String(row[index])}, no ${types[index]}`
}

/** Whether a value is of a type that the generator writes. */
function isOf(value: unknown, type: string): boolean {
  const array = /^readonly (.+)\[\]$/.exec(type)?.[1]
  if (array !== undefined) {
    const element = array.replace(/^\((.*)\)$/, '$1')
    return Array.isArray(value) && value.every((each) => isOf(each, element))
  }
  if (type.endsWith(' | null') && value === null) return true
  const parts = type.replace(/ \| null$/, '')
  if (parts !== type) return isOf(value, parts)
  if (type.startsWith("'")) return type.split(' | ').includes(`'${String(value)}'`)
  if (type === 'unknown') return true
  // -infinity, which means never.
  if (type === 'Date') return value instanceof Date || value === -Infinity
  if (type === 'Buffer') return Buffer.isBuffer(value)
  return typeof value === type
}
