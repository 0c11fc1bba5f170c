import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withColumnLists } from './column-lists.ts'

export const QUERIES = resolve(import.meta.dirname, '../../sql/queries')

/** One file of `sql/queries`. */
export interface StatementFile {
  readonly noun: string
  readonly verb: string
  readonly text: string
}

/** Every file of `sql/queries`, with its lists of columns as they have to be. */
export function readStatements(): StatementFile[] {
  return readdirSync(QUERIES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .sort()
    .map((path) => {
      const [noun = '', verb = ''] = path.slice(0, -'.sql'.length).split('/')
      return { noun, verb, text: withColumnLists(readFileSync(join(QUERIES, path), 'utf8')) }
    })
}
