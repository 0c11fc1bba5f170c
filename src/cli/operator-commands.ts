import { Option } from 'commander'
import type { Command } from 'commander'
import { DEMO_OPTION, define, wholeFromOne } from './define.ts'
import type { ActionOf } from './define.ts'
import * as help from './help.ts'
import { addScopeOptions, wholeNumber } from './scope-options.ts'

/** The commands for whoever is on call: what became of runs and what to do about it, and a look around. */
export function addOperatorCommands(program: Command, actionOf: ActionOf): void {
  addRunCare(program, actionOf)
  addRejected(program, actionOf)
  addLooks(program, actionOf)
}

function addRunCare(program: Command, actionOf: ActionOf): void {
  define(program, 'status', help.STATUS, { summary: 'recent runs, or one run' })
    .argument('[run]', 'id of a run, or its first six or more digits')
    .option('--failures', 'the scopes that failed in the run, a page at a time')
    .option('--cursor <cursor>', 'where the page of failures begins: nextCursor of the one before')
    .option('--limit <n>', 'how many are listed (default: 10 runs, 50 failures)', wholeFromOne)
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/status.ts')).status))

  define(program, 'cancel', help.CANCEL, { summary: 'end a run early' })
    .argument('<run>', 'id of a run, or its first six or more digits')
    .action(actionOf(async () => (await import('./commands/cancel.ts')).cancel))

  define(program, 'show', help.SHOW, { summary: 'all that is stored of one thing' })
    .argument('[organization]', 'id of the organization')
    .argument('[id]', 'id of a document of it; with --user or --group, of a user or user group')
    .argument('[annotation]', 'id of an annotation of the document')
    .argument('[comment]', 'number of a comment of the annotation', wholeNumber)
    .addOption(new Option('--user', 'show a user of the organization').conflicts('group'))
    .option('--group', 'show a user group of the organization')
    .addOption(
      new Option(
        '--find <text>',
        'list what has this id, name or address, or a part of it',
      ).conflicts(['user', 'group', 'life', 'beneath', 'limit']),
    )
    .option('--limit <n>', 'how many events, and things in it (default: 20)', wholeFromOne)
    .option('--life <cursor>', 'older events: life.nextCursor of the page before')
    .option('--beneath <cursor>', 'more of what it holds: beneath.nextCursor of the page before')
    .option(...DEMO_OPTION)
    .addHelpText('after', help.SHOW_AFTER)
    .action(actionOf(async () => (await import('./commands/show.ts')).show))

  define(program, 'history', help.HISTORY, { summary: 'who did what' })
    .option('--limit <n>', 'how many are listed', wholeFromOne, 50)
    .option('--cursor <cursor>', 'go on from there: the nextCursor of the list before')
    .action(actionOf(async () => (await import('./commands/history.ts')).history))

  for (const [name, state, summary, description] of [
    [
      'accept',
      'accepted',
      'remove the users whom a listing lacks, or what an import lacks',
      help.ACCEPT,
    ],
    [
      'refuse',
      'refused',
      'keep the users whom a listing lacks, or the catalog as it is',
      help.REFUSE,
    ],
  ] as const)
    define(program, name, description, { summary })
      .argument('[run]', 'id of a run that held listings, or its first six or more digits')
      .option('--listing <id>', 'one held listing', wholeFromOne)
      .option('--organization <id>', 'only what is held in this organization')
      .option('--catalog <import>', 'the import of the catalog that is held', wholeFromOne)
      .option('--reason <text>', 'why; kept with it')
      .option('--dry-run', 'show what would change, and change nothing')
      .action(actionOf(async () => (await import('./commands/accept.ts')).decide.bind(null, state)))

  addScopeOptions(
    define(program, 'verify', help.VERIFY, { summary: 'compare the tables with the service' }),
  )
    .option('--sample <n>', 'so many random scopes of the catalog (default: 100)', wholeFromOne)
    .addHelpText('after', help.VERIFY_AFTER)
    .action(actionOf(async () => (await import('./commands/verify.ts')).verify))
}

function addRejected(program: Command, actionOf: ActionOf): void {
  const rejected = define(program, 'rejected', help.REJECTED, {
    summary: 'what could not be stored, and what to do about it',
  })
  define(rejected, 'list', 'Lists rejected records that are open, the newest first.', {
    isDefault: true,
  })
    .option('--run <run>', 'only what that run rejected')
    .option('--set-aside', 'what was set aside in place of what is open')
    .option('--limit <n>', 'how many are listed', wholeFromOne, 50)
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedList))
  define(rejected, 'set-aside', 'Sets rejected records aside for good, by their content.')
    .argument('[id...]', 'as the list shows them')
    .option('--run <run>', 'all that this run rejected, in place of the ids')
    .requiredOption('--reason <text>', 'why; kept with it')
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedSettle))
  define(rejected, 'restore', 'Takes back that rejected records were set aside.')
    .argument('[id...]', 'as the list with --set-aside shows them')
    .option('--run <run>', 'all that this run rejected, in place of the ids')
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedSettle))
}

function addLooks(program: Command, actionOf: ActionOf): void {
  define(program, 'doctor', help.DOCTOR, { summary: 'say what is wrong and what mends it' }).action(
    actionOf(async () => (await import('./commands/doctor.ts')).doctor),
  )

  define(program, 'psql', help.PSQL, { summary: 'ask the tables in SQL' })
    .argument('[args...]', 'for psql')
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText('after', help.PSQL_AFTER)
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/psql.ts')).psql))

  define(program, 'dictionary', help.DICTIONARY, { summary: 'explain every table and view' })
    .addOption(
      new Option('--format <format>', 'a page for people, JSON, or sources.yml of dbt')
        .choices(['markdown', 'json', 'dbt'])
        .default('markdown'),
    )
    .option('--json', 'the same as --format json')
    .action(actionOf(async () => (await import('./commands/dictionary.ts')).dictionary))
}

/** The command for the nightly schedule, with what it can do. */
export function addScheduleCommand(program: Command, actionOf: ActionOf): void {
  const schedule = define(program, 'schedule', help.SCHEDULE, {
    summary: 'show, set or remove the nightly schedule',
  })
  define(schedule, 'show', 'Shows the schedule that holds, who set it, and when it is due next.', {
    isDefault: true,
  }).action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleShow))
  define(
    schedule,
    'set',
    'Sets the nightly schedule for all workers, in place of SYNC_CRON and SYNC_TZ.',
  )
    .argument('<cron...>', 'five fields (minute, hour, day, month, weekday), in quotes')
    .option(
      '--tz <zone>',
      'IANA time zone of the fields (default: the zone that is set, else SYNC_TZ)',
    )
    .addHelpText('after', help.SCHEDULE_SET_AFTER)
    .action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleSet))
  define(
    schedule,
    'remove',
    'Removes the nightly schedule: no run starts by itself until one is set again.',
  ).action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleRemove))
}
