import type { Command } from 'commander'
import { JSON_OPTION } from './command-parts.ts'
import type { OnExitCode } from './command-parts.ts'
import * as help from './help.ts'

/** The command for the nightly schedule, with what it can do. */
export function addScheduleCommand(program: Command, onExitCode: OnExitCode): void {
  const schedule = program
    .command('schedule')
    .summary('show, set or remove the nightly schedule')
    .description(help.SCHEDULE)
  schedule
    .command('show', { isDefault: true })
    .description('Shows the schedule that holds, who set it, and when it is due next.')
    .option(...JSON_OPTION)
    .action(async (options) =>
      onExitCode(await (await import('./commands/schedule.ts')).scheduleShow(options)),
    )
  schedule
    .command('set')
    .description('Sets the nightly schedule for all workers, in place of SYNC_CRON and SYNC_TZ.')
    .argument('<cron...>', 'five fields (minute, hour, day, month, weekday), in quotes')
    .option('--tz <zone>', 'IANA time zone of the fields (default: SYNC_TZ)')
    .option(...JSON_OPTION)
    .addHelpText('after', help.SCHEDULE_SET_AFTER)
    .action(async (cron, options) =>
      onExitCode(await (await import('./commands/schedule.ts')).scheduleSet(cron, options)),
    )
  schedule
    .command('remove')
    .description('Removes the nightly schedule: no run starts by itself until one is set again.')
    .option(...JSON_OPTION)
    .action(async (options) =>
      onExitCode(await (await import('./commands/schedule.ts')).scheduleRemove(options)),
    )
}
