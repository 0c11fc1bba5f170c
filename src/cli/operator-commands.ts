import { Option } from 'commander'
import type { Command } from 'commander'
import { CURSOR_OPTION, DEMO_OPTION, define, RUN_ID, wholeFromOne } from './define.ts'
import type { ActionOf } from './define.ts'
import { addScopeOptions, wholeNumber } from './scope-options.ts'

/** Adds the commands for operators. */
export function addOperatorCommands(program: Command, actionOf: ActionOf): void {
  const schedule = define(program, 'schedule')
  define(schedule, 'show', true).action(
    actionOf(async () => (await import('./commands/schedule.ts')).scheduleShow),
  )
  define(schedule, 'set')
    .argument(
      '[pattern...]',
      'a cron pattern of five fields (minute, hour, day, month, weekday), or six with seconds first, in quotes (default: the current one, or the one that was removed)',
    )
    .option('--tz <zone>', 'IANA time zone of the fields (default: the current one)')
    .action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleSet))
  define(schedule, 'remove').action(
    actionOf(async () => (await import('./commands/schedule.ts')).scheduleRemove),
  )

  define(program, 'pace')
    .argument('<calls>', 'calls a second of all processes together, or none to remove the pace')
    .action(actionOf(async () => (await import('./commands/pace.ts')).pace))
  define(program, 'pause')
    .addOption(
      new Option('--for <time>', 'length of the pause, such as 2h or 90m').conflicts('until'),
    )
    .option('--until <time>', 'end of the pause, such as 2026-01-31T10:00:00Z')
    .option('--reason <text>', 'the reason; shown and stored with the pause')
    .action(actionOf(async () => (await import('./commands/pace.ts')).pause))
  define(program, 'resume').action(
    actionOf(async () => (await import('./commands/pace.ts')).resume),
  )

  define(program, 'status')
    .argument('[run]', RUN_ID)
    .option('--failures', 'list the scopes that failed in the run')
    .addOption(new Option('--changes', 'count and list what the run changed').conflicts('failures'))
    .option('--workers', 'list the live processes and the settings with which they started')
    .option(...CURSOR_OPTION)
    .option(
      '--limit <n>',
      'maximum number of rows (default: 10 runs, 50 failures or changes)',
      wholeFromOne,
    )
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/status.ts')).status))

  define(program, 'cancel')
    .argument('<run>', RUN_ID)
    .action(actionOf(async () => (await import('./commands/cancel.ts')).cancel))

  define(program, 'show')
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
    .option('--seconds <n>', 'time limit of --find (default: 0.4)', wholeFromOne)
    .option('--limit <n>', 'maximum number of events, and of contents (default: 20)', wholeFromOne)
    .option('--life <cursor>', 'older events: life.nextCursor of the previous page')
    .option('--beneath <cursor>', 'more contents: beneath.nextCursor of the previous page')
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/show.ts')).show))

  define(program, 'history')
    .option('--limit <n>', 'maximum number of rows', wholeFromOne, 50)
    .option(...CURSOR_OPTION)
    .action(actionOf(async () => (await import('./commands/history.ts')).history))

  for (const [name, state] of [
    ['accept', 'accepted'],
    ['refuse', 'refused'],
  ] as const)
    define(program, name)
      .argument('[run]', `the run that held them: ${RUN_ID}`)
      .option('--listing <id>', 'one held listing', wholeFromOne)
      .option('--organization <id>', 'only held listings of this organization')
      .option('--catalog <import>', 'the held catalog import', wholeFromOne)
      .option('--reason <text>', 'the reason; stored with the decision')
      .option('--dry-run', 'show what would change, write nothing')
      .action(actionOf(async () => (await import('./commands/accept.ts')).decide.bind(null, state)))

  addScopeOptions(define(program, 'verify'))
    .option('--sample <n>', 'number of random scopes of the catalog (default: 100)', wholeFromOne)
    .action(actionOf(async () => (await import('./commands/verify.ts')).verify))

  const rejected = define(program, 'rejected')
  define(rejected, 'list', true)
    .option('--run <run>', 'only records that this run rejected')
    .option('--set-aside', 'list records that were set aside instead')
    .option('--limit <n>', 'maximum number of rows', wholeFromOne, 50)
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedList))
  define(rejected, 'set-aside')
    .argument('[id...]', 'IDs of the list')
    .option('--run <run>', 'all records that this run rejected, instead of IDs')
    .requiredOption('--reason <text>', 'the reason; stored with the decision')
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedResolve))
  define(rejected, 'restore')
    .argument('[id...]', 'IDs of the list with --set-aside')
    .option('--run <run>', 'all records that this run rejected, instead of IDs')
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedResolve))

  define(program, 'doctor')
    .option('--notify', 'only send a test message to each receiver of NOTIFY_URL')
    .action(actionOf(async () => (await import('./commands/doctor.ts')).doctor))

  define(program, 'psql')
    .argument('[args...]', 'arguments of psql')
    .passThroughOptions()
    .allowUnknownOption()
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/psql.ts')).psql))

  define(program, 'dictionary')
    .addOption(
      new Option('--format <format>', 'Markdown, JSON, or sources.yml of dbt')
        .choices(['markdown', 'json', 'dbt'])
        .default('markdown'),
    )
    .option('--json', 'the same as --format json')
    .action(actionOf(async () => (await import('./commands/dictionary.ts')).dictionary))
}
