import type { RunStatus } from '../database/run-reports.ts'

/** Exit codes of contract.md, "Commands". */
export const EXIT = { done: 0, failed: 1, usage: 2, partial: 3 } as const

/** What a run's status means to the program that waited for it. */
export function exitCodeOf(status: RunStatus): number {
  if (status === 'succeeded') return EXIT.done
  return status === 'partial' ? EXIT.partial : EXIT.failed
}
