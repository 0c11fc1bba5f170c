import { Command, InvalidArgumentError, Option } from 'commander'
import { CHANGED_OBJECTS } from '../base/columns.ts'
import { EXPORT_FORMATS } from '../features/export/text.ts'
import { define, wholeFromOne } from './define.ts'
import type { ActionOf } from './define.ts'

/** The commands for what is stored: handing it out, who may see it, and taking it away. */
export function addDataCommands(program: Command, actionOf: ActionOf): void {
  addExport(program, actionOf)
  addChanges(program, actionOf)
  addToken(program, actionOf)
  addErase(program, actionOf)
  addPrune(program, actionOf)
}

function addExport(program: Command, actionOf: ActionOf): void {
  define(
    program,
    'export',
    `Writes a table or view of the schemas collab and reporting, all of one moment, in constant memory. A file is there when all of it is written, or not at all. What else there is to say goes to stderr: the number of rows, and what to give as --since or --after next time. With --state it loads a copy elsewhere: first all rows, later those that changed, deletions too.`,
    { summary: 'write a table or view to a file' },
  )
    .argument('<table>', 'a table or view, with its schema or without')
    .option('--organization <id>', 'only this organization')
    .option('--since <time>', 'only what changed since then (changed_at), in ISO 8601', time)
    .option(
      '--after <cursor>',
      'a table of collab: only the rows that changed behind this cursor of the feed of changes',
    )
    .option('--state <file>', 'as --after, with the cursor in this file: at first all rows')
    .addOption(
      new Option('--format <format>', 'what to write').choices(EXPORT_FORMATS).default('csv'),
    )
    .option('--out <file>', 'where to, or - for standard output', '-')
    .option(
      '--formulas',
      'CSV: do not change texts that a spreadsheet would run as a formula (always so with --after and --state)',
    )
    .option('--no-bom', 'CSV: leave out the byte order mark, by which spreadsheets know UTF-8')
    .option('--json', 'with --out FILE: print one JSON document on stdout instead')
    .addHelpText(
      'after',
      `
In CSV a null is an empty cell and an empty text is "". Without --formulas, --after and --state, a text that begins with
= + - @ (also behind blanks), a tab or a line end gets an apostrophe before it; IDs (user_id, ...), numbers and JSON are never
changed. Spreadsheets change IDs when they open a CSV file: 007 becomes 7, the 16th and later digits become 0, and an ID that
begins with = + - @ runs as a formula. Import these columns as text.
A new file is its owner's alone; a FIFO or a device is written to as it is. Times are UTC. In Parquet times are microseconds, numeric is double, jsonb is JSON.

With --after and --state each row comes once, as it is now, without checked_at, is_stale, removal_held_since and
removal_refused_at; is_gone is true where it is to be removed, and then only its key is there. People are known by person in
place of user_id, which goes when they are erased.
The state file goes on when the file is whole and on the disk: load it and remove it, then export again.

Examples:
  collab-sync export reporting.comments --format parquet --out comments.parquet
  collab-sync export collab.users --organization acme > users.csv
  collab-sync export collab.comments --format ndjson --since 2026-11-20T02:00:00Z --out changed.ndjson
  collab-sync export collab.comments --format parquet --state comments.state --out comments.parquet`,
    )
    .action(actionOf(async () => (await import('./commands/export.ts')).exportTable))
}

function addChanges(program: Command, actionOf: ActionOf): void {
  define(
    program,
    'changes',
    `Prints what changed in the tables of schema collab, one JSON document a line: cursor, object, change, key, row, at, run_id; of people also person, a keyed hash of their id. The row is as it is when it is read, null where it is gone. None is left out, and the changes of each row come in their order, but one may come again.`,
    { summary: 'what changed since a cursor' },
  )
    .option('--after <cursor>', 'only what comes behind it (default: as far back as the feed goes)')
    .option('--objects <names>', `only these, with commas: ${CHANGED_OBJECTS.join(', ')}`, objects)
    .option('--limit <n>', 'at most so many', wholeFromOne)
    .option('--follow', 'wait for more, until it is stopped')
    .addHelpText(
      'after',
      `
Keep a copy: export each table, with the first cursor that an export says go on here, and keep the cursor of the last line
that you have stored. A cursor that is too old, or of a database that was restored since, ends with exit code 2: start over.
A transaction that writes in this database and stays open holds the feed back; it says whose it is.

Examples:
  collab-sync export collab.comments --out comments.csv
  collab-sync changes --after 5d0c2e7b91aa-1042-1042-0-0
  collab-sync changes --follow --objects comment | your-program`,
    )
    .action(actionOf(async () => (await import('./commands/changes.ts')).changesCommand))
}

function objects(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !(CHANGED_OBJECTS as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no object ${JSON.stringify(unknown)}.`)
  return names
}

function addToken(program: Command, actionOf: ActionOf): void {
  const token = define(
    program,
    'token',
    `Tokens that serve takes beside HTTP_TOKEN, once that is set: named, with rights, withdrawn one by one and without a restart. read: everything that only reads, but the queue's dashboard. operate: also what changes something (runs, held listings, rejected records, the schedule). admin: everything, as HTTP_TOKEN.`,
    { summary: 'tokens of serve, each for one person or program' },
  )
  define(token, 'add', 'Adds a token, and prints it this once: PostgreSQL keeps a hash of it.')
    .argument('<name>', 'whose it is or what for: up to 64 letters, digits and . _ -')
    .addOption(
      new Option('--rights <rights>', 'what it allows')
        .choices(['read', 'operate', 'admin'])
        .makeOptionMandatory(),
    )
    .action(actionOf(async () => (await import('./commands/token.ts')).tokenAdd))
  define(token, 'list', 'Lists names and rights; nobody can read a token again.').action(
    actionOf(async () => (await import('./commands/token.ts')).tokenList),
  )
  define(token, 'remove', 'Withdraws a token and the sessions that began with it, within a second.')
    .argument('<name>', 'the name that it was added with')
    .action(actionOf(async () => (await import('./commands/token.ts')).tokenRemove))
}

function addErase(program: Command, actionOf: ActionOf): void {
  const erase = define(program, 'erase', 'Erases what is stored of somebody.', {
    summary: 'erase a person',
  })
  const addKind = (name: string, argument: readonly [string, string], text: string) =>
    define(
      erase,
      name,
      `${text} Addresses go wherever they stand, in any letter case and however they are encoded; ids where a whole value or a part of a URL is one. A pseudonym takes their place, so that rows and counts stay, and the next syncs store nothing of the person either. Runs go on beside it. Where it was interrupted, repeat it: it goes on. sync.erasures keeps the proof.

A name alone in what others wrote stays; the command says how many comments hold it. Backups, replicas, exports and ids in the catalog are not in its reach.`,
    )
      .argument(...argument)
      .requiredOption('--reason <text>', 'why; kept with the proof, so name nobody in it')
      .option('--organization <id>', 'only in this organization (default: in all, also later ones)')
  addKind(
    'user',
    ['<id>', 'userId of the service'],
    'Erases a person for good: name, e-mail addresses, words and further members, in current tables, history, rejected records and messages.',
  )
    .addHelpText(
      'after',
      `
Example:
  collab-sync erase user user-17 --reason "request of 2026-11-20, ticket 4711"`,
    )
    .action(
      actionOf(async () => (await import('./commands/erase.ts')).eraseCommand.bind(null, 'userId')),
    )
  addKind(
    'email',
    ['<address>', 'e-mail address'],
    'Erases a person who has no user id: the address, and what came with it and no id. Somebody with an id is erased by it.',
  ).action(
    actionOf(async () => (await import('./commands/erase.ts')).eraseCommand.bind(null, 'email')),
  )
}

function addPrune(program: Command, actionOf: ActionOf): void {
  define(
    program,
    'prune',
    `Deletes what ended before a time: superseded versions of comments and of people, past memberships, the feed of changes, and settled runs with their items, failures, rejected records and resolved holds, and what users did. What is current stays, deleted comments too. In small steps: syncs go on beside it, and it may be stopped and repeated.`,
    { summary: 'delete old history and runs' },
  )
    .requiredOption('--older-than <age>', 'such as 400d; d for days, w for weeks', age)
    .action(actionOf(async () => (await import('./commands/prune.ts')).pruneCommand))
}

const DAY_MS = 86_400_000

/** Days, as milliseconds. */
function age(text: string): number {
  const [, number, unit] = /^([1-9]\d{0,4})([dw])$/.exec(text) ?? []
  if (number === undefined)
    throw new InvalidArgumentError('It must be a number of days or weeks, such as 400d or 60w.')
  return Number(number) * (unit === 'w' ? 7 : 1) * DAY_MS
}

/** A day, or a time with its zone: without one nobody knows which moment is meant. */
function time(text: string): Date {
  const date = new Date(text)
  const isWhole = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d))?$/.test(text)
  if (!isWhole || Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('It must be like 2026-11-20 or 2026-11-20T02:00:00Z.')
  return date
}
