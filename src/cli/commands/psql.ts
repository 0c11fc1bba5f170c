import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { EnvironmentError } from '../../errors.ts'
import { readSettings } from '../../settings/settings.ts'
import { onSignals } from '../signals.ts'
import { quietLog, withStore } from '../with-store.ts'

/**
 * `collab-sync psql`: PostgreSQL's own client on our database; an embedded one is up for as long.
 * @param args for psql
 * @returns psql's exit code
 * @throws EnvironmentError where psql is not installed
 */
export async function psql(args: string[]): Promise<number> {
  const settings = readSettings(process.env, { need: ['database'] })
  const opening = { settings, log: quietLog(settings), name: 'psql' }
  return withStore(opening, async ({ databaseUrl }) => {
    // Ctrl-C is for psql's own statement; and the password stays out of the list of processes.
    const forget = onSignals(() => {})
    const url = new URL(databaseUrl)
    const password = decodeURIComponent(url.password)
    url.password = ''
    const env = password === '' ? process.env : { ...process.env, PGPASSWORD: password }
    try {
      const child = spawn('psql', ['--dbname', url.href, ...args], { stdio: 'inherit', env })
      const [code] = (await once(child, 'exit')) as [number | null]
      return code ?? 1
    } catch (error) {
      throw new EnvironmentError(
        `psql cannot be started (${(error as NodeJS.ErrnoException).code}): install PostgreSQL's client programs.`,
        { cause: error },
      )
    } finally {
      forget()
    }
  })
}
