import type { Database } from '../database/pool.ts'
import * as runs from '../database/statements/runs.ts'
import { UsageError } from '../errors.ts'

/** Digits of an id that a person must give at least. */
const DIGITS_MIN = 6
const DIGITS = 32

/**
 * The run that a person names by its id or the first six or more digits of it.
 * @throws UsageError where that is no id, or names no run or several
 */
export async function findRun(database: Database, text: string): Promise<string> {
  const digits = text.toLowerCase().replaceAll('-', '')
  if (!/^[0-9a-f-]+$/i.test(text) || digits.length < DIGITS_MIN || digits.length > DIGITS) {
    throw new UsageError(
      `RUN must be a run's id, or its first ${DIGITS_MIN} or more digits, not ${JSON.stringify(text)}; see them with: collab-sync status.`,
    )
  }
  const found = await runs.findByIdRange.all(database, {
    lowest: digits.padEnd(DIGITS, '0'),
    highest: digits.padEnd(DIGITS, 'f'),
  })
  const [run] = found
  if (run === undefined) {
    throw new UsageError(
      `There is no run ${JSON.stringify(text)}; see those there are with: collab-sync status.`,
    )
  }
  if (found.length > 1) {
    throw new UsageError(`More than one run begins with ${JSON.stringify(text)}: give more digits.`)
  }
  return run.runId
}
