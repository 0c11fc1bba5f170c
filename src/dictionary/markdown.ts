import type { Dictionary, Relation } from './dictionary.ts'

/** A page for people: every schema, view, table, column and function with its comment. */
export function dictionaryMarkdown({ schemas, relations, functions }: Dictionary): string {
  const parts = schemas.map(({ name, comment }) => {
    const own = relations.filter(({ schema }) => schema === name)
    const ownFunctions = functions.filter(({ schema }) => schema === name)
    return [
      `## Schema \`${name}\``,
      comment ?? '',
      ...own.map(relationSection),
      ...ownFunctions.map(
        (each) =>
          `### \`${name}.${each.name}(${each.arguments})\`\n\nReturns \`${each.result ?? 'nothing'}\`. ${each.comment ?? ''}`,
      ),
    ].join('\n\n')
  })
  return `${[INTRODUCTION, ...parts].join('\n\n')}\n`
}

const INTRODUCTION = `# Dictionary

What \`collab-sync dictionary\` reads from the database itself. "Our clock" is that of the machine that checked; "the service's clock" is what \`lastUpdated\` says. Times are \`timestamp with time zone\`; days and weeks are UTC.`

function relationSection(relation: Relation): string {
  const { schema, name, kind, comment, columns, key, references } = relation
  const facts = [
    ...(key.length > 0 ? [`Key: ${key.map(code).join(', ')}.`] : []),
    ...references.map(
      ({ columns: own, to, toColumns }) =>
        `${own.map(code).join(', ')} → \`${to}\`${own.join() === toColumns.join() ? '' : ` (${toColumns.join(', ')})`}.`,
    ),
  ]
  return [
    `### ${kind === 'type' ? 'Type' : kind === 'view' ? 'View' : 'Table'} \`${schema}.${name}\``,
    comment ?? '',
    ...(facts.length > 0 ? [facts.join(' ')] : []),
    [
      '| column | type | meaning |',
      '| --- | --- | --- |',
      ...columns.map((each) => `| ${code(each.name)} | ${each.type} | ${cell(each.comment)} |`),
    ].join('\n'),
  ].join('\n\n')
}

function code(text: string): string {
  return `\`${text}\``
}

function cell(text: string | null): string {
  return (text ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')
}
