import { createProgram } from '../../src/cli/program.ts'
import { reportError } from '../../src/cli/exit.ts'

/**
 * Runs commands one after another in one process, for tests of what a command does: to load the program costs more than
 * most commands. Each order is answered with its exit code once both streams hold its mark, the last thing written to
 * them. What only a process has (signals, input, its end) is tested with processes; see `built-command.ts`.
 */

/** One command: its words, the whole environment of its process, and what tells its end in the streams. */
export interface Order {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly mark: string
}

process.on('message', (order: Order) => void execute(order))

async function execute({ args, environment, mark }: Order): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  let code = 0
  try {
    await createProgram((given) => (code = given)).parseAsync(args, { from: 'user' })
  } catch (error) {
    code = reportError(error)
  }
  process.stdout.write(mark)
  process.stderr.write(mark)
  process.send?.(code)
}
