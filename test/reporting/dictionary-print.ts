import type {
  Column,
  Dictionary,
  Reference,
  Relation,
} from '../../src/features/export/dictionary/dictionary.ts'

/**
 * A dbt `sources.yml` with tests: one source for each schema that analysts may read. A test of the package in sql/dbt checks
 * keys of several columns; dbt's own `relationships` checks references of one column.
 * @param freshnessPromiseS age of a source's newest check from which dbt warns; twice that is an error
 */
export function dictionaryDbt(
  { schemas, relations }: Dictionary,
  freshnessPromiseS: number,
): string {
  const minutes = Math.ceil(freshnessPromiseS / 60)
  const lines = [
    '# Generated from the comments of the database of collab-sync.',
    'version: 2',
    'sources:',
  ]
  for (const { name, comment } of schemas.filter((schema) => schema.name !== 'sync')) {
    const own = relations.filter(({ schema, kind }) => schema === name && kind !== 'type')
    lines.push(
      `  - name: ${name}`,
      `    schema: ${name}`,
      `    description: ${quoted(comment)}`,
      '    tables:',
      ...own.flatMap((relation) => tableLines(relation, minutes)),
    )
  }
  return `${lines.join('\n')}\n`
}

function tableLines(relation: Relation, minutes: number): string[] {
  const { name, comment, columns, key } = relation
  return [
    `      - name: ${name}`,
    `        description: ${quoted(comment)}`,
    ...freshnessLines(columns, minutes),
    ...(key.length > 1
      ? [
          '        tests:',
          '          - collab_sync.unique_combination_of_columns:',
          `              combination_of_columns: [${key.join(', ')}]`,
        ]
      : []),
    '        columns:',
    ...columns.flatMap((column) => columnLines(column, relation)),
  ]
}

function freshnessLines(columns: readonly Column[], minutes: number): string[] {
  if (!columns.some(({ name }) => name === 'checked_at')) return []
  return [
    '        loaded_at_field: checked_at',
    '        freshness:',
    `          warn_after: { count: ${minutes}, period: minute }`,
    `          error_after: { count: ${2 * minutes}, period: minute }`,
  ]
}

function columnLines(column: Column, { key, references }: Relation): string[] {
  const { name, type, comment, notNull } = column
  // A key column of a view has no constraint; its comment says where it is null.
  const isNeverNull = notNull || (key.includes(name) && !/\bnull if\b/i.test(comment ?? ''))
  const tests = [
    ...(isNeverNull ? ['not_null'] : []),
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

/** A JSON string is a YAML string. */
function quoted(text: string | null): string {
  return JSON.stringify(text ?? '')
}

/** A page for people: every schema, view, table, column and function with its comment. */
export function dictionaryMarkdown({ schemas, relations, functions }: Dictionary): string {
  const parts = schemas.map(({ name, comment }) => {
    const own = relations.filter(({ schema }) => schema === name)
    const ownFunctions = functions.filter(({ schema }) => schema === name)
    return [
      `## Schema \`${name}\``,
      comment ?? '',
      ...(name === 'collab' ? [drawing(own)] : []),
      ...own.map(relationSection),
      ...ownFunctions.map(
        (each) =>
          `### \`${name}.${each.name}(${shortType(each.arguments)})\`\n\nReturns \`${shortType(each.result ?? 'nothing')}\`. ${each.comment ?? ''}`,
      ),
    ].join('\n\n')
  })
  return `${[INTRODUCTION, schemas.map((schema) => contents(schema, relations)).join('\n'), ...parts].join('\n\n')}\n`
}

/** A list with a link to each relation of a schema. */
function contents({ name }: Dictionary['schemas'][number], relations: readonly Relation[]): string {
  const links = relations
    .filter(({ schema }) => schema === name)
    .map((relation) => {
      const anchor = headingOf(relation)
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
      return `[${relation.name}](#${anchor.trim().replaceAll(' ', '-')})`
    })
  return `- [\`${name}\`](#schema-${name}): ${links.join(', ')}`
}

function headingOf({ schema, name, kind }: Relation): string {
  return `${kind === 'type' ? 'Type' : kind === 'view' ? 'View' : 'Table'} \`${schema}.${name}\``
}

/** The relations of a schema with their keys, and what they join by. */
function drawing(relations: readonly Relation[]): string {
  return [
    'Keys, and the columns by which the views join:',
    '```mermaid',
    'erDiagram',
    ...relations.flatMap(({ name, key, columns }) => [
      `  ${name} {`,
      ...key.map((of) => {
        const type = columns.find((column) => column.name === of)?.type ?? ''
        return `    ${shortType(type)} ${of} PK`
      }),
      '  }',
    ]),
    ...relations.flatMap((of) =>
      joinsOf(of, relations)
        .filter(isWidest)
        .map(({ to, columns }) => `  ${to} ||--o{ ${of.name} : "${columns.join(', ')}"`),
    ),
    '```',
  ]
    .join('\n')
    .replace(':\n```', ':\n\n```')
}

/** The relations whose key a relation contains: the user of `author_user_id` is a user too. */
function joinsOf(of: Relation, relations: readonly Relation[]) {
  const own = of.columns.map(({ name }) => name)
  const nameOf = (column: string, to: string) =>
    own.includes(column)
      ? column
      : own.find((name) => to === 'users' && name.endsWith(`_${column}`))
  return relations.flatMap(({ name: to, key }) => {
    const columns = key.flatMap((column) => nameOf(column, to) ?? [])
    const isParent = to !== of.name && columns.length === key.length && !isSame(key, of.key)
    return isParent ? [{ to, columns }] : []
  })
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join()
}

const INTRODUCTION = `# Dictionary

\`npm run generate\` makes this page from the comments in the database, and \`collab-sync dictionary\` prints it. \`timestamptz\` stands for \`timestamp with time zone\`. Days and weeks are in \`REPORT_TZ\`, by default UTC. [A drawing](#schema-collab) shows how the views of \`collab\` join, and \`→\` below a view names what its columns refer to. [PRIVACY.md](PRIVACY.md) lists the personal data.`

function relationSection(relation: Relation): string {
  const { comment, columns, key, references } = relation
  const facts = [
    ...(key.length > 0 ? [`Key: ${key.map(code).join(', ')}.`] : []),
    ...references
      .filter(isWidest)
      .map(
        ({ columns: own, to, toColumns }) =>
          `${own.map(code).join(', ')} → \`${to}\`${own.join() === toColumns.join() ? '' : ` (${toColumns.join(', ')})`}.`,
      ),
  ]
  return [
    `### ${headingOf(relation)}`,
    comment ?? '',
    ...(facts.length > 0 ? [facts.join(' ')] : []),
    [
      '| column | type | meaning |',
      '| --- | --- | --- |',
      ...columns.map(
        (each) => `| ${code(each.name)} | ${shortType(each.type)} | ${cell(each.comment)} |`,
      ),
    ].join('\n'),
  ].join('\n\n')
}

/** False if another reference contains all of its columns, as a reference to an annotation contains that to its document. */
function isWidest<Of extends Pick<Reference, 'columns'>>(
  { columns }: Of,
  _: number,
  all: readonly Of[],
): boolean {
  return !all.some(
    (other) =>
      other.columns.length > columns.length &&
      columns.every((column) => other.columns.includes(column)),
  )
}

function shortType(text: string): string {
  return text.replaceAll('timestamp with time zone', 'timestamptz')
}

function code(text: string): string {
  return `\`${text}\``
}

function cell(text: string | null): string {
  return (text ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')
}
