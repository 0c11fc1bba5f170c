import { Option } from 'commander'
import type { Command } from 'commander'
import { CURSOR_OPTION, DEMO_OPTION, define, RUN_ID, wholeFromOne } from './define.ts'
import type { ActionOf } from './define.ts'
import * as help from './help.ts'
import { addScopeOptions, wholeNumber } from './scope-options.ts'

/** Adds the commands for operators. */
export function addOperatorCommands(program: Command, actionOf: ActionOf): void {
  addRunCare(program, actionOf)
  addRejected(program, actionOf)
  addInspection(program, actionOf)
}

function addRunCare(program: Command, actionOf: ActionOf): void {
  define(program, 'status', help.STATUS, {
    summary: 'show recent runs and open problems, or one run',
  })
    .argument('[run]', RUN_ID)
    .option('--failures', 'list the scopes that failed in the run')
    .option(...CURSOR_OPTION)
    .option('--limit <n>', 'maximum number of rows (default: 10 runs, 50 failures)', wholeFromOne)
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/status.ts')).status))

  define(program, 'cancel', help.CANCEL, { summary: 'cancel a run' })
    .argument('<run>', RUN_ID)
    .action(actionOf(async () => (await import('./commands/cancel.ts')).cancel))

  define(program, 'show', help.SHOW, { summary: 'show everything stored about one thing' })
    .argument('[organization]', 'ID of the organization')
    .argument('[id]', 'ID of a document, or with --user or --group of a user or user group')
    .argument('[annotation]', 'ID of an annotation of the document')
    .argument('[comment]', 'number of a comment of the annotation', wholeNumber)
    .addOption(new Option('--user', 'show a user of the organization').conflicts('group'))
    .option('--group', 'show a user group of the organization')
    .addOption(
      new Option(
        '--find <text>',
        'list things whose ID, name or address contains the text',
      ).conflicts(['user', 'group', 'life', 'beneath', 'limit']),
    )
    .option('--limit <n>', 'maximum number of events, and of contents (default: 20)', wholeFromOne)
    .option('--life <cursor>', 'older events: life.nextCursor of the previous page')
    .option('--beneath <cursor>', 'more contents: beneath.nextCursor of the previous page')
    .option(...DEMO_OPTION)
    .addHelpText('after', help.SHOW_AFTER)
    .action(actionOf(async () => (await import('./commands/show.ts')).show))

  define(program, 'history', help.HISTORY, { summary: 'list the actions of users' })
    .option('--limit <n>', 'maximum number of rows', wholeFromOne, 50)
    .option(...CURSOR_OPTION)
    .action(actionOf(async () => (await import('./commands/history.ts')).history))

  for (const [name, state, summary, description] of [
    ['accept', 'accepted', 'approve a held removal or catalog import', help.ACCEPT],
    ['refuse', 'refused', 'refuse a held removal or catalog import', help.REFUSE],
  ] as const)
    define(program, name, description, { summary })
      .argument('[run]', `the run that held them: ${RUN_ID}`)
      .option('--listing <id>', 'one held listing', wholeFromOne)
      .option('--organization <id>', 'only held listings of this organization')
      .option('--catalog <import>', 'the held catalog import', wholeFromOne)
      .option('--reason <text>', 'the reason; stored with the decision')
      .option('--dry-run', 'show what would change, write nothing')
      .action(actionOf(async () => (await import('./commands/accept.ts')).decide.bind(null, state)))

  addScopeOptions(
    define(program, 'verify', help.VERIFY, { summary: 'compare the tables with the service' }),
  )
    .option('--sample <n>', 'number of random scopes of the catalog (default: 100)', wholeFromOne)
    .addHelpText('after', help.VERIFY_AFTER)
    .action(actionOf(async () => (await import('./commands/verify.ts')).verify))
}

function addRejected(program: Command, actionOf: ActionOf): void {
  const rejected = define(program, 'rejected', help.REJECTED, {
    summary: 'list and set aside records that could not be stored',
  })
  define(rejected, 'list', 'Lists open rejected records, newest first.', {
    isDefault: true,
  })
    .option('--run <run>', 'only records that this run rejected')
    .option('--set-aside', 'list records that were set aside instead')
    .option('--limit <n>', 'maximum number of rows', wholeFromOne, 50)
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedList))
  define(rejected, 'set-aside', 'Sets rejected records aside permanently, by their content.')
    .argument('[id...]', 'IDs of the list')
    .option('--run <run>', 'all records that this run rejected, instead of IDs')
    .requiredOption('--reason <text>', 'the reason; stored with the decision')
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedResolve))
  define(rejected, 'restore', 'Reopens rejected records that were set aside.')
    .argument('[id...]', 'IDs of the list with --set-aside')
    .option('--run <run>', 'all records that this run rejected, instead of IDs')
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedResolve))
}

function addInspection(program: Command, actionOf: ActionOf): void {
  define(program, 'doctor', help.DOCTOR, {
    summary: 'check settings, connections and credentials',
  })
    .option('--notify', 'only send a test message to each receiver of NOTIFY_URL')
    .action(actionOf(async () => (await import('./commands/doctor.ts')).doctor))

  define(program, 'psql', help.PSQL, { summary: 'open psql on the collab-sync database' })
    .argument('[args...]', 'arguments of psql')
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText('after', help.PSQL_AFTER)
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/psql.ts')).psql))

  define(program, 'dictionary', help.DICTIONARY, { summary: 'document every table and view' })
    .addOption(
      new Option('--format <format>', 'Markdown, JSON, or sources.yml of dbt')
        .choices(['markdown', 'json', 'dbt'])
        .default('markdown'),
    )
    .option('--json', 'the same as --format json')
    .action(actionOf(async () => (await import('./commands/dictionary.ts')).dictionary))
}

/** Adds the commands of the nightly schedule. */
export function addScheduleCommand(program: Command, actionOf: ActionOf): void {
  const schedule = define(program, 'schedule', help.SCHEDULE, {
    summary: 'show, set or remove the nightly schedule',
  })
  define(schedule, 'show', 'Shows the schedule, who set it, and the next nightly run.', {
    isDefault: true,
  }).action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleShow))
  define(
    schedule,
    'set',
    'Sets the nightly schedule for all workers. It replaces SYNC_CRON and SYNC_TZ.',
  )
    .argument(
      '<pattern...>',
      'a cron pattern of five fields (minute, hour, day, month, weekday), or six with seconds first, in quotes',
    )
    .option('--tz <zone>', 'IANA time zone of the fields (default: the current one)')
    .addHelpText('after', help.SCHEDULE_SET_AFTER)
    .action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleSet))
  define(
    schedule,
    'remove',
    'Removes the nightly schedule. No nightly run starts until you set one again.',
  ).action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleRemove))
}
