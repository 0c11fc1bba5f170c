import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'

/**
 * Adds a command to another one.
 * @param summary for the list of commands; the description when left out
 * @param isDefault true for the command that runs where none is named
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
 * Makes the action of a command from the function that does its work and returns the exit code.
 * @param load loads that function; it is called with the command's arguments and options, when the command is called
 */
export type ActionOf = (
  load: WithArguments<WithArguments<number>>,
) => (...given: unknown[]) => Promise<void>

/** The option of commands that open the home of the demo. */
export const DEMO_OPTION = ['--demo', 'on what the demo left, which has a home of its own'] as const

/** An option that counts something. */
export function wholeFromOne(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(text)
}
