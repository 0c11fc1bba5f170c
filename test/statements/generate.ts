import type pg from 'pg'
import { format } from 'prettier'
import { camelCase } from '../../src/core/database/statement.ts'
import { describeStatement } from './describe.ts'
import type { Described } from './describe.ts'
import { readHead } from './head.ts'
import type { Head } from './head.ts'
import type { StatementFile } from './statement-files.ts'
import { readTypes } from './types.ts'
import type { Types } from './types.ts'

const SYNTAX_ERROR = '42601'
const UNDEFINED_TABLE = '42P01'
const RESERVED = new Set(['delete', 'default', 'export', 'import', 'in', 'new'])

/**
 * Writes the modules of `src/core/database/statements`: each statement with the types of its parameters and rows, from what
 * PostgreSQL says of the prepared statement, and from its head if PostgreSQL does not know.
 * @param client a connection to a migrated database; what is created for it is rolled back
 * @returns the text of each module by its noun
 * @throws Error naming the statement that is wrong and why
 */
export async function generateStatements(
  client: pg.ClientBase,
  files: readonly StatementFile[],
): Promise<Map<string, string>> {
  const described = await describeAll(client, files)
  const types = await readTypes(client, [...described.values()])
  const modules = new Map<string, string>()
  for (const noun of new Set(files.map((file) => file.noun))) {
    const statements = files
      .filter((file) => file.noun === noun)
      .map((file) => writeStatement(file, described.get(file) as Described, types))
    modules.set(noun, await writeModule(noun, statements))
  }
  return modules
}

/** Describes each statement; those over temporary tables after the statements that create these. */
async function describeAll(
  client: pg.ClientBase,
  files: readonly StatementFile[],
): Promise<Map<StatementFile, Described>> {
  const described = new Map<StatementFile, Described>()
  await client.query('begin')
  try {
    let waiting = [...files]
    while (waiting.length > 0) {
      const later: StatementFile[] = []
      const reasons: string[] = []
      for (const file of waiting) {
        const found = await tryToDescribe(client, file.text)
        if ('refused' in found) {
          later.push(file)
          reasons.push(`sql/queries/${file.noun}/${file.verb}.sql: ${found.refused}`)
        } else {
          described.set(file, found)
          const nothing = found.parameterTypes.map(() => null)
          if (/^create temp table/m.test(file.text)) await client.query(file.text, nothing)
        }
      }
      if (later.length === waiting.length) throw new Error(reasons.join('\n'))
      waiting = later
    }
  } finally {
    await client.query('rollback')
  }
  return described
}

/** @returns what is said of it, or why it cannot be said yet */
async function tryToDescribe(
  client: pg.ClientBase,
  text: string,
): Promise<Described | { refused: string }> {
  await client.query('savepoint described')
  try {
    return await describeStatement(client, text)
  } catch (error) {
    const { code, message } = error as pg.DatabaseError
    // Several statements in one file: they have neither parameters nor rows.
    if (code === SYNTAX_ERROR && message.includes('multiple commands'))
      return { parameterTypes: [], columns: [] }
    return {
      refused: code === UNDEFINED_TABLE ? `${message}, and no statement creates it` : message,
    }
  } finally {
    await client.query('rollback to savepoint described')
  }
}

function writeStatement(file: StatementFile, said: Described, types: Types): string {
  const name = `${file.noun}/${file.verb}`
  try {
    const head = readHead(file.text)
    const parameters = writeParameters(head, said, types)
    const columns = writeColumns(head, said, types, mayAddNulls(file.text))
    // Elements of arrays are not checked when a row is read.
    const neverNull = [...head.neverNull].filter((each) => !each.endsWith('[]')).map(camelCase)
    const description = [
      parameters.length > 0 && `parameters: '${namesOf(parameters)}'`,
      neverNull.length > 0 && `neverNull: '${neverNull.join(' ')}'`,
      head.isPrepared && 'isPrepared: true',
    ].filter((part) => part !== false)
    const described = description.length === 0 ? '' : `, { ${description.join(', ')} }`
    return `/** ${head.says} */
      export const ${exportName(file.verb)} = new Statement<${writeType(parameters)}, ${writeType(columns)}>(
        '${name}'${described})`
  } catch (error) {
    throw new Error(`sql/queries/${name}.sql: ${(error as Error).message}`, { cause: error })
  }
}

interface Member {
  readonly name: string
  readonly type: string
}

function writeParameters(head: Head, { parameterTypes }: Described, types: Types): Member[] {
  if (head.parameters.length !== parameterTypes.length)
    throw new Error(`names ${head.parameters.length} parameters, and has ${parameterTypes.length}.`)
  return head.parameters.map(({ name, mayBeNull, mayHoldNulls }, index) => {
    const type = types.ofParameter(parameterTypes[index] as number, mayHoldNulls)
    return { name, type: mayBeNull ? `${type} | null` : type }
  })
}

function writeColumns(
  head: Head,
  { columns }: Described,
  types: Types,
  addsNulls: boolean,
): Member[] {
  const marked = [...head.neverNull]
    .map((name) => name.replace('[]', ''))
    .concat([...head.typedAs.keys()])
  const unknown = marked.find((name) => columns.every((column) => column.name !== name))
  if (unknown !== undefined) throw new Error(`marks ${unknown}, which is none of its columns.`)
  return columns.map((column) => {
    const type = types.ofColumn(column, {
      like: head.typedAs.get(column.name),
      elementsNeverNull: head.neverNull.has(`${column.name}[]`),
    })
    const isNeverNull =
      head.neverNull.has(column.name) ||
      (!addsNulls && types.isNotNull(column.table, column.attribute))
    return { name: camelCase(column.name), type: isNeverNull ? type : `${type} | null` }
  })
}

/** Whether a row may hold nulls where its table has none: PostgreSQL does not say so of a column. */
function mayAddNulls(text: string): boolean {
  const body = text.replaceAll(/^\s*--.*$/gm, '')
  return /\b(left|right|full)\s+(outer\s+)?join\b|\b(rollup|cube|grouping sets)\b/i.test(body)
}

function writeType(members: readonly Member[]): string {
  if (members.length === 0) return 'null'
  return `{ ${members.map(({ name, type }) => `${name}: ${type}`).join('; ')} }`
}

function namesOf(members: readonly Member[]): string {
  return members.map(({ name }) => name).join(' ')
}

/** A word that JavaScript keeps for itself cannot be the name of a constant. */
function exportName(verb: string): string {
  const name = camelCase(verb)
  return RESERVED.has(name) ? `${name}Statement` : name
}

async function writeModule(noun: string, statements: readonly string[]): Promise<string> {
  const text = `// Generated by \`npm run generate\` from sql/queries/${noun}; not to be edited.
    import { Statement } from '../statement.ts'

    ${statements.join('\n\n')}
  `
  return format(text, { parser: 'typescript', semi: false, singleQuote: true, printWidth: 100 })
}
