import { Command, Help } from 'commander'
import type { Option } from 'commander'
import { addCatalogCommands } from './catalog-commands.ts'
import { addDataCommands } from './data-commands.ts'
import * as help from './help.ts'
import {
  addOperatorCommands,
  addScheduleCommand,
  DEMO_OPTION,
  JSON_OPTION,
} from './operator-commands.ts'
import type { ActionOf } from './operator-commands.ts'
import { version } from '../base/version.ts'
import { ADD_OPTION, addScopeOptions, collect } from './scope-options.ts'

/**
 * The command line: names, options and help. What a command does is loaded only when it is called, so that `--help` is
 * quick and `run` soon makes its first call.
 */
export function createProgram(onExitCode: (code: number) => void): Command {
  const program = new Command('collab-sync')
    .description(help.PROGRAM)
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ showGlobalOptions: false, optionDescription })
    // Wrong use becomes an error like any other, reported in one place.
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .enablePositionalOptions()
    .addHelpText('after', help.PROGRAM_AFTER)
  const actionOf = actionsOn(onExitCode)
  addRunCommands(program, actionOf)
  addOperatorCommands(program, actionOf)
  addDataCommands(program, actionOf)
  addSetUpCommands(program, actionOf)
  addCatalogCommands(program, actionOf)
  return program
}

/** Makes the actions of commands. @param onExitCode is called with what a command returned */
function actionsOn(onExitCode: (code: number) => void): ActionOf {
  return (load) =>
    async (...given) => {
      // The last one is the command itself.
      const args = given.slice(0, -1) as never[]
      const run = await load(...args)
      onExitCode(await run(...args))
    }
}

/** The description of an option in the help, which says where a command does not work without it. */
function optionDescription(this: Help, option: Option): string {
  const description = Help.prototype.optionDescription.call(this, option)
  return option.mandatory ? `${description} (required)` : description
}

function addRunCommands(program: Command, actionOf: ActionOf): void {
  addScopeOptions(program.command('run').summary('sync now, in this process').description(help.RUN))
    .option('--failed-of <run>', 'only what failed in that run')
    .option('--failing', 'only what fails now')
    .option(...ADD_OPTION)
    .option('--dry-run', 'ask the service, print what the run would change, and change nothing')
    .option(...JSON_OPTION)
    .addHelpText('after', help.RUN_AFTER)
    .action(
      actionOf(async ({ dryRun }: { dryRun?: boolean }) =>
        dryRun
          ? (await import('./commands/plan.ts')).plan
          : (await import('./commands/run.ts')).run,
      ),
    )

  addScopeOptions(
    program
      .command('enqueue')
      .summary('ask the workers for a run, print its id')
      .description(help.ENQUEUE),
  )
    .option('--failed-of <run>', 'only what failed in that run')
    .option('--failing', 'only what fails now')
    .option(...ADD_OPTION)
    .option('--wait', 'follow the run to its end')
    .option(...JSON_OPTION)
    .addHelpText('after', help.ENQUEUE_AFTER)
    .action(actionOf(async () => (await import('./commands/enqueue.ts')).enqueue))

  program
    .command('hint')
    .summary('say that comments changed')
    .description(help.HINT)
    .option('--organization <id>', 'the organization', collect)
    .option('--document <id>', 'a document of it: all its annotations')
    .option('--annotation <id>', 'only this annotation of the document')
    .option(...ADD_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', help.HINT_AFTER)
    .action(actionOf(async () => (await import('./commands/hint.ts')).hintCommand))

  program
    .command('worker')
    .summary('work jobs until asked to stop')
    .description(help.WORKER)
    .action(actionOf(async () => (await import('./commands/worker.ts')).worker))

  program
    .command('serve')
    .summary('pages, API, probes and metrics over HTTP')
    .description(help.SERVE)
    .addHelpText('after', help.SERVE_AFTER)
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/serve.ts')).serve))

  addScheduleCommand(program, actionOf)
}

function addSetUpCommands(program: Command, actionOf: ActionOf): void {
  program
    .command('demo')
    .summary('the whole job on this machine alone')
    .description(help.DEMO)
    .option('--keep', 'afterwards keep PostgreSQL up until Ctrl-C, to look around')
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/demo.ts')).demo))

  program
    .command('migrate')
    .summary('create or upgrade the tables')
    .description(help.MIGRATE)
    .option(...JSON_OPTION)
    .action(actionOf(async () => (await import('./commands/migrate.ts')).migrate))
}
