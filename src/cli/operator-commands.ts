import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import * as help from './help.ts'
import { addScopeOptions, wholeNumber } from './scope-options.ts'

/** The commands for whoever is on call: what became of runs and what to do about it, and a look around. */
export function addOperatorCommands(program: Command, actionOf: ActionOf): void {
  addRunCare(program, actionOf)
  addRejected(program, actionOf)
  addLooks(program, actionOf)
}

function addRunCare(program: Command, actionOf: ActionOf): void {
  program
    .command('status')
    .summary('recent runs, or one run')
    .description(help.STATUS)
    .argument('[run]', 'id of a run, or its first six or more digits')
    .option('--failures', 'the scopes that failed in the run, a page at a time')
    .option('--cursor <cursor>', 'where the page of failures begins: nextCursor of the one before')
    .option('--limit <n>', 'how many are listed (default: 10 runs, 50 failures)', wholeFromOne)
    .option(...DEMO_OPTION)
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/status.ts')).status))

  program
    .command('cancel')
    .summary('end a run early')
    .description(help.CANCEL)
    .argument('<run>', 'id of a run, or its first six or more digits')
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/cancel.ts')).cancel))

  program
    .command('show')
    .summary('all that is stored of one thing')
    .description(help.SHOW)
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
    .option(...JSON_OPTION)
    .addHelpText('after', help.SHOW_AFTER)
    .action(actionOf(async () => (await import('./commands/show.ts')).show))

  program
    .command('history')
    .summary('who did what')
    .description(help.HISTORY)
    .option('--limit <n>', 'how many are listed', wholeFromOne, 50)
    .option('--cursor <cursor>', 'go on from there: the nextCursor of the list before')
    .option(...JSON_OPTION)
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
    program
      .command(name)
      .summary(summary)
      .description(description)
      .argument('[run]', 'id of a run that held listings, or its first six or more digits')
      .option('--listing <id>', 'one held listing', wholeFromOne)
      .option('--organization <id>', 'only what is held in this organization')
      .option('--catalog <import>', 'the import of the catalog that is held', wholeFromOne)
      .option('--reason <text>', 'why; kept with it')
      .option('--dry-run', 'show what would change, and change nothing')
      .option(...JSON_OPTION)
      .action(actionOf(async () => (await import('./commands/accept.ts')).decide.bind(null, state)))

  addScopeOptions(
    program
      .command('verify')
      .summary('compare the tables with the service')
      .description(help.VERIFY),
  )
    .option('--sample <n>', 'so many random scopes of the catalog (default: 100)', wholeFromOne)
    .option(...JSON_OPTION)
    .addHelpText('after', help.VERIFY_AFTER)
    .action(actionOf(async () => (await import('./commands/verify.ts')).verify))
}

function addRejected(program: Command, actionOf: ActionOf): void {
  const rejected = program
    .command('rejected')
    .summary('what could not be stored, and what to do about it')
    .description(help.REJECTED)
  rejected
    .command('list', { isDefault: true })
    .description('Lists rejected records that are open, the newest first.')
    .option('--run <run>', 'only what that run rejected')
    .option('--set-aside', 'what was set aside in place of what is open')
    .option('--limit <n>', 'how many are listed', wholeFromOne, 50)
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedList))
  rejected
    .command('set-aside')
    .description('Sets rejected records aside for good, by their content.')
    .argument('[id...]', 'as the list shows them')
    .option('--run <run>', 'all that this run rejected, in place of the ids')
    .requiredOption('--reason <text>', 'why; kept with it')
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedSettle))
  rejected
    .command('restore')
    .description('Takes back that rejected records were set aside.')
    .argument('[id...]', 'as the list with --set-aside shows them')
    .option('--run <run>', 'all that this run rejected, in place of the ids')
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/rejected.ts')).rejectedSettle))
}

function addLooks(program: Command, actionOf: ActionOf): void {
  program
    .command('doctor')
    .summary('say what is wrong and what mends it')
    .description(help.DOCTOR)
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/doctor.ts')).doctor))

  program
    .command('psql')
    .summary('ask the tables in SQL')
    .description(help.PSQL)
    .argument('[args...]', 'for psql')
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText('after', help.PSQL_AFTER)
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/psql.ts')).psql))

  program
    .command('dictionary')
    .summary('explain every table and view')
    .description(help.DICTIONARY)
    .addOption(
      new Option('--format <format>', 'a page for people, JSON, or sources.yml of dbt')
        .choices(['markdown', 'json', 'dbt'])
        .default('markdown'),
    )
    .option('--json', 'the same as --format json')
    .action(actionOf(async () => (await import('./commands/dictionary.ts')).dictionary))
}

export function wholeFromOne(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(text)
}

/** The command for the nightly schedule, with what it can do. */
export function addScheduleCommand(program: Command, actionOf: ActionOf): void {
  const schedule = program
    .command('schedule')
    .summary('show, set or remove the nightly schedule')
    .description(help.SCHEDULE)
  schedule
    .command('show', { isDefault: true })
    .description('Shows the schedule that holds, who set it, and when it is due next.')
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleShow))
  schedule
    .command('set')
    .description('Sets the nightly schedule for all workers, in place of SYNC_CRON and SYNC_TZ.')
    .argument('<cron...>', 'five fields (minute, hour, day, month, weekday), in quotes')
    .option(
      '--tz <zone>',
      'IANA time zone of the fields (default: the zone that is set, else SYNC_TZ)',
    )
    .option(...JSON_OPTION)
    .addHelpText('after', help.SCHEDULE_SET_AFTER)
    .action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleSet))
  schedule
    .command('remove')
    .description('Removes the nightly schedule: no run starts by itself until one is set again.')
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/schedule.ts')).scheduleRemove))
}

type WithArguments<Result> = (...given: never[]) => Promise<Result>

/**
 * Makes the action of a command from the function that does its work and returns the exit code.
 * @param load loads that function; it is called with the command's arguments and options, when the command is called
 */
export type ActionOf = (
  load: WithArguments<WithArguments<number>>,
) => (...given: unknown[]) => Promise<void>

/** The option of every command that prints data (contract.md, Commands). */
export const DEMO_OPTION = ['--demo', 'on what the demo left, which has a home of its own'] as const
export const JSON_OPTION = ['--json', 'print one JSON document on stdout instead'] as const
