import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'

/**
 * Adds a subcommand.
 * @param summary for the list of commands; the description if omitted
 * @param isDefault true for the command that runs if the user names none
 */
export function define(
  parent: Command,
  name: string,
  description: string,
  { summary, isDefault = false }: { summary?: string; isDefault?: boolean } = {},
): Command {
  const command = parent.command(name, { isDefault }).description(description)
  return summary === undefined ? command : command.summary(summary)
}

type WithArguments<Result> = (...given: never[]) => Promise<Result>

/**
 * Creates the action of a command. When the command is called, `load` receives its arguments and options and loads the function
 * that executes it, which returns the exit code.
 */
export type ActionOf = (
  load: WithArguments<WithArguments<number>>,
) => (...given: unknown[]) => Promise<void>

/** Opens the data of the demo. */
export const DEMO_OPTION = ['--demo', 'use the data of the demo'] as const

/** A run as an argument. */
export const RUN_ID = 'ID of a run, or at least its first six digits'

/** The page of a listing. */
export const CURSOR_OPTION = ['--cursor <cursor>', 'nextCursor of the previous page'] as const

/** Parses a count. */
export function wholeFromOne(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(text)
}
