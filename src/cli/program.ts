import { Command, Help } from 'commander'
import type { Option } from 'commander'
import { addCatalogCommands } from './catalog-commands.ts'
import { addDataCommands } from './data-commands.ts'
import { DEMO_OPTION, define } from './define.ts'
import type { ActionOf } from './define.ts'
import { PROGRAM, PROGRAM_AFTER } from './help.ts'
import { addOperatorCommands } from './operator-commands.ts'
import { UsageError } from '../base/errors.ts'
import { describeBuild } from '../base/version.ts'
import { ADD_OPTION, addRequestOptions, collect } from './scope-options.ts'

/**
 * Creates the command line. The code of a command is loaded only when the command is called, so that `--help` responds quickly and
 * `run` makes its first call soon.
 */
export function createProgram(onExitCode: (code: number) => void): Command {
  const program = new Command('collab-sync')
    .description(PROGRAM)
    .version(describeBuild(), '-V, --version', 'print the version and the commit')
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ showGlobalOptions: false, optionDescription })
    // reportError reports wrong usage.
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .enablePositionalOptions()
    .addHelpText('after', PROGRAM_AFTER)
  const actionOf: ActionOf =
    (load) =>
    async (...given) => {
      // The last one is the command itself.
      const args = given.slice(0, -1) as never[]
      const run = await load(...args)
      onExitCode(await run(...args).catch(inOptionsOf(given.at(-1) as Command)))
    }
  addRunCommands(program, actionOf)
  addOperatorCommands(program, actionOf)
  addDataCommands(program, actionOf)
  define(program, 'demo').action(actionOf(async () => (await import('./commands/demo.ts')).demo))
  define(program, 'migrate').action(
    actionOf(async () => (await import('./commands/migrate.ts')).migrate),
  )
  addCatalogCommands(program, actionOf)
  addJsonOption(program)
  return program
}

/** They print no document, or one per line. */
const WITHOUT_JSON = ['worker', 'serve', 'psql', 'changes']

/** Adds `--json` to each command that prints data and does not define its own. */
function addJsonOption(command: Command): void {
  for (const each of command.commands) addJsonOption(each)
  const isDefined = command.options.some(({ long }) => long === '--json')
  if (command.commands.length > 0 || isDefined || WITHOUT_JSON.includes(command.name())) return
  command.option('--json', 'print one JSON document on stdout')
}

function optionDescription(this: Help, option: Option): string {
  const description = Help.prototype.optionDescription.call(this, option)
  return option.mandatory ? `${description} (required)` : description
}

/** Puts the option in front of a UsageError that names a member of a request with the same name, such as `limit`. */
function inOptionsOf({ options }: Command) {
  return (error: unknown): never => {
    const [member] = error instanceof UsageError ? (/^[a-z]\w*(?= )/.exec(error.message) ?? []) : []
    const option = options.find((each) => each.attributeName() === member)
    if (option === undefined) throw error
    throw new UsageError(`${option.long}${(error as UsageError).message.slice(member?.length)}`)
  }
}

function addRunCommands(program: Command, actionOf: ActionOf): void {
  addRequestOptions(define(program, 'run'))
    .option('--dry-run', 'call the service, show what would change, write nothing')
    .action(
      actionOf(async ({ dryRun }: { dryRun?: boolean }) =>
        dryRun
          ? (await import('./commands/plan.ts')).plan
          : (await import('./commands/run.ts')).run,
      ),
    )

  addRequestOptions(define(program, 'enqueue'))
    .option('--wait', 'wait for the end of the run')
    .action(actionOf(async () => (await import('./commands/enqueue.ts')).enqueue))

  define(program, 'hint')
    .option('--organization <id>', 'the organization', collect)
    .option('--document <id>', 'a document: all its annotations')
    .option('--annotation <id>', 'only this annotation')
    .option(...ADD_OPTION)
    .action(actionOf(async () => (await import('./commands/hint.ts')).hintCommand))

  define(program, 'worker').action(
    actionOf(async () => (await import('./commands/worker.ts')).worker),
  )

  define(program, 'serve')
    .option(...DEMO_OPTION)
    .action(actionOf(async () => (await import('./commands/serve.ts')).serve))
}
