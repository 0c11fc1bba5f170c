import type { Environment } from './environment.ts'

/** What npm tells the commands that it starts. Imports nothing, because it is read before any other code is loaded. */
export function npmSettings(environment: Environment): { isStartedByNpm: boolean } {
  return { isStartedByNpm: environment['npm_command'] !== undefined }
}
