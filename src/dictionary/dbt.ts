import type { Column, Dictionary, Relation } from './dictionary.ts'

/**
 * A dbt `sources.yml`: one source a schema, with tests. A key of several columns is tested with
 * `dbt_utils.unique_combination_of_columns`; what refers to one column with dbt's own `relationships`.
 */
export function dictionaryDbt({ schemas, relations }: Dictionary): string {
  const lines = ['# Made by: collab-sync dictionary --format dbt', 'version: 2', 'sources:']
  for (const { name, comment } of schemas) {
    const own = relations.filter(({ schema, kind }) => schema === name && kind !== 'type')
    lines.push(
      `  - name: ${name}`,
      `    schema: ${name}`,
      `    description: ${quoted(comment)}`,
      '    tables:',
      ...own.flatMap(tableLines),
    )
  }
  return `${lines.join('\n')}\n`
}

/** Checks are nightly: one may be late, two may not. */
const WARN_AFTER_HOURS = 36
const ERROR_AFTER_HOURS = 60

function tableLines(relation: Relation): string[] {
  const { name, comment, columns, key } = relation
  return [
    `      - name: ${name}`,
    `        description: ${quoted(comment)}`,
    ...freshnessLines(columns),
    ...(key.length > 1
      ? [
          '        tests:',
          '          - dbt_utils.unique_combination_of_columns:',
          `              combination_of_columns: [${key.join(', ')}]`,
        ]
      : []),
    '        columns:',
    ...columns.flatMap((column) => columnLines(column, relation)),
  ]
}

function freshnessLines(columns: readonly Column[]): string[] {
  if (!columns.some(({ name }) => name === 'checked_at')) return []
  return [
    '        loaded_at_field: checked_at',
    '        freshness:',
    `          warn_after: { count: ${WARN_AFTER_HOURS}, period: hour }`,
    `          error_after: { count: ${ERROR_AFTER_HOURS}, period: hour }`,
  ]
}

function columnLines(column: Column, { key, references }: Relation): string[] {
  const { name, type, comment, notNull } = column
  const tests = [
    ...(notNull || key.includes(name) ? ['not_null'] : []),
    ...(key.length === 1 && key[0] === name ? ['unique'] : []),
    ...references
      .filter(({ columns }) => columns.length === 1 && columns[0] === name)
      .map(({ to, toColumns }) => {
        const [schema, table] = to.split('.')
        return `relationships: { to: "source('${schema}', '${table}')", field: ${toColumns[0]} }`
      }),
  ]
  return [
    `          - name: ${name}`,
    `            data_type: ${quoted(type)}`,
    `            description: ${quoted(comment)}`,
    ...(tests.length > 0
      ? ['            tests:', ...tests.map((test) => `              - ${test}`)]
      : []),
  ]
}

/** A JSON text is a YAML text. */
function quoted(text: string | null): string {
  return JSON.stringify(text ?? '')
}
