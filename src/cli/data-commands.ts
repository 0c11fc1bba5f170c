import { Command, InvalidArgumentError, Option } from 'commander'
import { readAge } from '../base/timestamp.ts'
import { CHANGED_OBJECTS } from '../base/columns.ts'
import { EXPORT_FORMATS } from '../features/export/text.ts'
import { define, wholeFromOne } from './define.ts'
import type { ActionOf } from './define.ts'

/** Adds the commands that export, grant access to and delete stored data. */
export function addDataCommands(program: Command, actionOf: ActionOf): void {
  define(program, 'export')
    .argument('<table>', 'a table or view, with or without its schema')
    .option('--organization <id>', 'only this organization')
    .option(
      '--since <time>',
      'only rows changed since then (changed_at), in ISO 8601; without rows that no longer exist',
      time,
    )
    .option(
      '--after <cursor>',
      'of a table of collab: only rows changed after this cursor of the feed of changes',
    )
    .option('--state <file>', 'as --after, with the cursor in this file; the first time all rows')
    .addOption(
      new Option('--format <format>', 'the output format').choices(EXPORT_FORMATS).default('csv'),
    )
    .option('--out <file>', 'the output file, or - for standard output', '-')
    .option(
      '--formulas',
      'CSV: do not change text that a spreadsheet would run as a formula (implied by --after and --state)',
    )
    .option('--no-bom', 'CSV: omit the byte order mark, by which spreadsheets recognize UTF-8')
    .option('--json', 'with --out FILE: print one JSON document on stdout')
    .action(actionOf(async () => (await import('./commands/export.ts')).exportTable))

  define(program, 'changes')
    .option('--after <cursor>', 'only changes after it (default: the whole feed)')
    .option('--objects <names>', `only these, with commas: ${CHANGED_OBJECTS.join(', ')}`, objects)
    .option('--limit <n>', 'maximum number of changes', wholeFromOne)
    .option('--follow', 'wait for more changes until stopped')
    .action(actionOf(async () => (await import('./commands/changes.ts')).changesCommand))

  const token = define(program, 'token')
  define(token, 'add')
    .argument('<name>', 'its user or purpose: up to 64 letters, digits and . _ -')
    .addOption(
      new Option('--rights <rights>', 'the rights of the token')
        .choices(['read', 'operate', 'admin'])
        .makeOptionMandatory(),
    )
    .action(actionOf(async () => (await import('./commands/token.ts')).tokenAdd))
  define(token, 'list').action(
    actionOf(async () => (await import('./commands/token.ts')).tokenList),
  )
  define(token, 'remove')
    .argument('<name>', 'the name of the token')
    .action(actionOf(async () => (await import('./commands/token.ts')).tokenRemove))

  const erase = define(program, 'erase')
  for (const [name, argument, what, kind] of [
    ['user', '<id>', 'userId of the service', 'userId'],
    ['email', '<address>', 'e-mail address', 'email'],
  ] as const)
    define(erase, name)
      .argument(argument, what)
      .requiredOption('--reason <text>', 'stored with the proof: do not name the person in it')
      .option('--organization <id>', 'only in this organization (default: all, also later ones)')
      .action(
        actionOf(async () => (await import('./commands/erase.ts')).eraseCommand.bind(null, kind)),
      )

  define(program, 'prune')
    .requiredOption('--older-than <age>', 'such as 400d; d for days, w for weeks', age)
    .option('--dry-run', 'only count what would be deleted')
    .action(actionOf(async () => (await import('./commands/prune.ts')).pruneCommand))
}

function objects(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !(CHANGED_OBJECTS as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no object ${JSON.stringify(unknown)}.`)
  return names
}

/** Parses days or weeks. @returns milliseconds */
function age(text: string): number {
  const ms = readAge(text)
  if (ms === undefined)
    throw new InvalidArgumentError('It must be a number of days or weeks, such as 400d or 60w.')
  return ms
}

/** Parses a date, or a time with its zone: without a zone, the moment is ambiguous. */
function time(text: string): Date {
  const date = new Date(text)
  const isWhole = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d))?$/.test(text)
  if (!isWhole || Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('It must be like 2026-11-20 or 2026-11-20T02:00:00Z.')
  return date
}
