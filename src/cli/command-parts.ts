/** Hears the exit code of the command that was run. */
export type OnExitCode = (code: number) => void

/** The option of every command that prints data (contract.md, Commands). */
export const JSON_OPTION = ['--json', 'print one JSON document on stdout instead'] as const
