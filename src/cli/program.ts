import { Command, Help } from 'commander'
import type { Option } from 'commander'
import { addCatalogCommands } from './catalog-commands.ts'
import { addDataCommands } from './data-commands.ts'
import { DEMO_OPTION, define } from './define.ts'
import type { ActionOf } from './define.ts'
import * as help from './help.ts'
import { addOperatorCommands, addScheduleCommand } from './operator-commands.ts'
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
  addJsonOption(program)
  return program
}

/** They print no document: nothing, or one for each line. */
const WITHOUT_JSON = ['worker', 'serve', 'psql', 'changes']

/** Gives each command that prints data the option `--json` (contract.md, Commands), if it does not define its own. */
function addJsonOption(command: Command): void {
  for (const each of command.commands) addJsonOption(each)
  const isDefined = command.options.some(({ long }) => long === '--json')
  if (command.commands.length > 0 || isDefined || WITHOUT_JSON.includes(command.name())) return
  command.option('--json', 'print one JSON document on stdout instead')
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
  addScopeOptions(define(program, 'run', help.RUN, { summary: 'sync now, in this process' }))
    .option('--failed-of <run>', 'only what failed in that run')
    .option('--failing', 'only what fails now')
    .option(...ADD_OPTION)
    .option('--dry-run', 'ask the service, print what the run would change, and change nothing')
    .addHelpText('after', help.RUN_AFTER)
    .action(
      actionOf(async ({ dryRun }: { dryRun?: boolean }) =>
        dryRun
          ? (await import('./commands/plan.ts')).plan
          : (await import('./commands/run.ts')).run,
      ),
    )

  addScopeOptions(
    define(program, 'enqueue', help.ENQUEUE, {
      summary: 'ask the workers for a run, print its id',
    }),
  )
    .option('--failed-of <run>', 'only what failed in that run')
    .option('--failing', 'only what fails now')
    .option(...ADD_OPTION)
    .option('--wait', 'follow the run to its end')
    .addHelpText('after', help.ENQUEUE_AFTER)
    .action(actionOf(async () => (await import('./commands/enqueue.ts')).enqueue))

  define(program, 'hint', help.HINT, { summary: 'say that comments changed' })
    .option('--organization <id>', 'the organization', collect)
    .option('--document <id>', 'a document of it: all its annotations')
    .option('--annotation <id>', 'only this annotation of the document')
    .option(...ADD_OPTION)
    .addHelpText('after', help.HINT_AFTER)
    .action(actionOf(async () => (await import('./commands/hint.ts')).hintCommand))

  define(program, 'worker', help.WORKER, { summary: 'work jobs until asked to stop' }).action(
    actionOf(async () => (await import('./commands/worker.ts')).worker),
  )

  define(program, 'serve', help.SERVE, { summary: 'pages, API, probes and metrics over HTTP' })
    .addHelpText('after', help.SERVE_AFTER)
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/serve.ts')).serve))

  addScheduleCommand(program, actionOf)
}

function addSetUpCommands(program: Command, actionOf: ActionOf): void {
  define(program, 'demo', help.DEMO, { summary: 'the whole job on this machine alone' }).action(
    actionOf(async () => (await import('./commands/demo.ts')).demo),
  )

  define(program, 'migrate', help.MIGRATE, { summary: 'create or upgrade the tables' }).action(
    actionOf(async () => (await import('./commands/migrate.ts')).migrate),
  )
}
