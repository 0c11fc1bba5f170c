import { Command, InvalidArgumentError, Option } from 'commander'
import { CHANGED_OBJECTS } from '../base/columns.ts'
import { EXPORT_FORMATS } from '../features/export/text.ts'
import { define, wholeFromOne } from './define.ts'
import type { ActionOf } from './define.ts'

/** Adds the commands that export, grant access to and delete stored data. */
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
    `Writes a snapshot of a table or view of the schemas collab and reporting, in constant memory. An output file is replaced only when the export is complete: an interrupted export leaves the previous file, or none. stderr shows the number of rows and the value of --since or --after for the next export. Use --state to maintain a copy elsewhere: the first export contains all rows, later ones the changed rows, including deletions.`,
    { summary: 'write a table or view to a file' },
  )
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
    .addHelpText(
      'after',
      `
In CSV, null is an empty cell and an empty text is "". Without --formulas, --after and --state, a text gets a leading apostrophe
if it begins with = + - @ (also after blanks), a tab or a line end. IDs (user_id, ...), numbers and JSON never change.
Spreadsheets change IDs when they open a CSV file: 007 becomes 7, digits after the 15th become 0, and an ID that begins with
= + - @ runs as a formula. Import these columns as text.
Only its owner can read a new file. A killed process can leave FILE.partial-..., which you can delete. A FIFO or device is
written in place. Times are UTC. In Parquet, times are microseconds, numeric is double, jsonb is JSON.

With --after and --state, each row occurs once, in its current version, without checked_at, is_stale, removal_held_since and
removal_refused_at. If is_gone is true, delete the row: only its key is set. person identifies people instead of user_id,
because an erasure replaces user_id.
The state file advances when the output file is complete and on disk: load the file, delete it, and export again.

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
    `Prints changes of the tables of schema collab, one JSON document per line: cursor, object, change, key, row, at, run_id; for people also person, a keyed hash of their ID. change is added, edited, deleted, restored, removed or erased. The row is the current one, or null if it no longer exists. No change is missing, and the changes of a row are in order. A change can be repeated.`,
    { summary: 'print changes after a cursor' },
  )
    .option('--after <cursor>', 'only changes after it (default: the whole feed)')
    .option('--objects <names>', `only these, with commas: ${CHANGED_OBJECTS.join(', ')}`, objects)
    .option('--limit <n>', 'maximum number of changes', wholeFromOne)
    .option('--follow', 'wait for more changes until stopped')
    .addHelpText(
      'after',
      `
To maintain a copy: export each table, start with the cursor that the first export prints, and store the cursor of the last
line that you processed. If a cursor is too old, or the database was restored, the exit code is 2: start again with an export.
An open transaction that writes to this database delays the feed; stderr names its session.

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
    `Manages tokens for serve, which accepts them in addition to HTTP_TOKEN. They have no effect while HTTP_TOKEN is not set: serve then requires no token and accepts only this machine. A token has a name and rights. It does not expire; you can revoke it without a restart. read: everything that only reads, except the queue dashboard. operate: also changes (runs, hints, the catalog, held listings, rejected records, the schedule). admin: everything, as HTTP_TOKEN.`,
    { summary: 'manage the tokens of serve' },
  )
  define(token, 'add', 'Creates a token and prints it once. PostgreSQL stores only its hash.')
    .argument('<name>', 'its user or purpose: up to 64 letters, digits and . _ -')
    .addOption(
      new Option('--rights <rights>', 'the rights of the token')
        .choices(['read', 'operate', 'admin'])
        .makeOptionMandatory(),
    )
    .action(actionOf(async () => (await import('./commands/token.ts')).tokenAdd))
  define(token, 'list', 'Lists names and rights. The tokens themselves are not stored.').action(
    actionOf(async () => (await import('./commands/token.ts')).tokenList),
  )
  define(token, 'remove', 'Revokes a token and the sessions that used it, within one second.')
    .argument('<name>', 'the name of the token')
    .action(actionOf(async () => (await import('./commands/token.ts')).tokenRemove))
}

function addErase(program: Command, actionOf: ActionOf): void {
  const erase = define(
    program,
    'erase',
    'Erases the stored data of a person, at once and permanently. It does not prompt for confirmation.',
    {
      summary: 'erase a person',
    },
  )
  const addKind = (name: string, argument: readonly [string, string], text: string) =>
    define(
      erase,
      name,
      `${text} Addresses are erased in all texts, in any letter case and spelling, plain or percent-encoded once; IDs where they are a complete value, an item of a list, a part of a URL, or follow a name such as user:. A pseudonym replaces them, so that rows and counts stay. Later syncs do not store the person again. Runs continue during an erasure. If it is interrupted, repeat the command. sync.erasures keeps the proof.

An address written with HTML references or JSON escapes stays, and so does a bare name in texts of other people; the command prints how many comments contain the name. Backups, replicas, exports and IDs in the catalog are not changed.`,
    )
      .argument(...argument)
      .requiredOption('--reason <text>', 'stored with the proof: do not name the person in it')
      .option('--organization <id>', 'only in this organization (default: all, also later ones)')
  addKind(
    'user',
    ['<id>', 'userId of the service'],
    'Permanently erases the name, e-mail addresses, texts and additional fields of a person, in current tables, history, rejected records and messages.',
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
    'Permanently erases a person without a user ID: the address, and the data received with it. Use "erase user" for a person with an ID.',
  ).action(
    actionOf(async () => (await import('./commands/erase.ts')).eraseCommand.bind(null, 'email')),
  )
}

function addPrune(program: Command, actionOf: ActionOf): void {
  define(
    program,
    'prune',
    `Deletes data that ended before a time: superseded versions of comments and people, past memberships, the feed of changes, finished runs with their items, failures, rejected records and resolved holds, and the actions of users. Current rows stay, including deleted comments. It works in small steps: syncs continue, and you can stop and repeat it.`,
    { summary: 'delete old history and runs' },
  )
    .requiredOption('--older-than <age>', 'such as 400d; d for days, w for weeks', age)
    .action(actionOf(async () => (await import('./commands/prune.ts')).pruneCommand))
}

/** Parses days or weeks. @returns milliseconds */
function age(text: string): number {
  const [, number, unit] = /^([1-9]\d{0,4})([dw])$/.exec(text) ?? []
  if (number === undefined)
    throw new InvalidArgumentError('It must be a number of days or weeks, such as 400d or 60w.')
  return Number(number) * (unit === 'w' ? 7 : 1) * 86_400_000
}

/** Parses a date, or a time with its zone: without a zone, the moment is ambiguous. */
function time(text: string): Date {
  const date = new Date(text)
  const isWhole = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d))?$/.test(text)
  if (!isWhole || Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('It must be like 2026-11-20 or 2026-11-20T02:00:00Z.')
  return date
}
