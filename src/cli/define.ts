import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { HELP, prose } from './help.ts'

/** Adds a command with its help. @param isDefault true for the subcommand that runs if the user names none */
export function define(parent: Command, name: string, isDefault = false): Command {
  const help = HELP[parent.parent === null ? name : `${parent.name()} ${name}`]
  if (help === undefined) throw new Error(`There is no help for ${name}.`)
  const command = parent.command(name, { isDefault }).description(prose(help.text))
  if (help.after !== undefined) command.addHelpText('after', help.after)
  return help.summary === undefined ? command : command.summary(help.summary)
}

type WithArguments<Result> = (...given: never[]) => Promise<Result>

/**
 * Creates the action of a command. When the command is called, `load` receives its arguments and options and loads the function
 * that executes it, which returns the exit code.
 */
export type ActionOf = (
  load: WithArguments<WithArguments<number>>,
) => (...given: unknown[]) => Promise<void>

export const DEMO_OPTION = ['--demo', 'use the data of the demo'] as const

export const RUN_ID = 'ID of a run, or at least its first six digits'

export const CURSOR_OPTION = ['--cursor <cursor>', 'nextCursor of the previous page'] as const

/** Parses a count. */
export function wholeFromOne(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(text)
}
