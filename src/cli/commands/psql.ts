import { spawn } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import { EnvironmentError } from '../../base/errors.ts'
import { onSignals } from '../signals.ts'
import { openingOf, withStore } from '../with-store.ts'

/**
 * `collab-sync psql`: runs psql on the database. An embedded PostgreSQL runs until psql ends.
 * @returns the exit code of psql
 * @throws EnvironmentError if psql is not installed
 */
export async function psql(args: string[], { demo }: { demo?: boolean }): Promise<number> {
  return withStore(openingOf({ name: 'psql', demo }), async ({ databaseUrl }) => {
    // Ctrl-C cancels a statement of psql. Arguments are visible to other users, so the password is in the environment.
    const forget = onSignals()
    const { host, port, database, user, password } = new pg.Client(databaseUrl)
    const env = {
      ...process.env,
      PGHOST: host,
      PGPORT: String(port),
      ...(database && { PGDATABASE: database }),
      ...(user && { PGUSER: user }),
      ...(password && { PGPASSWORD: password }),
      ...othersOf(databaseUrl),
    }
    try {
      const child = spawn('psql', args, { stdio: 'inherit', env })
      const [code] = (await once(child, 'exit')) as [number | null]
      return code ?? 1
    } catch (error) {
      throw new EnvironmentError(
        `psql cannot be started (${(error as NodeJS.ErrnoException).code}): install the client programs of PostgreSQL. The image does not contain them: use \`docker compose exec postgres psql\`, or psql on another machine.`,
        { cause: error },
      )
    } finally {
      forget()
    }
  })
}

/** Other options of the address as variables of libpq, which supports fewer forms of an address than `pg`. */
function othersOf(databaseUrl: string): NodeJS.ProcessEnv {
  // Not by URL: the address of a socket has no host.
  const given = new URLSearchParams(databaseUrl.split('?')[1])
  const names = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'options']
  const said = Object.fromEntries(
    names.flatMap((name) => {
      const value = given.get(name)
      return value === null ? [] : [[`PG${name.toUpperCase()}`, value]]
    }),
  )
  // libpq has another name for one mode of `pg`, and needs certificates for another.
  if (said['PGSSLMODE'] === 'no-verify') return { ...said, PGSSLMODE: 'require' }
  const { PGSSLROOTCERT = 'system' } = process.env
  return said['PGSSLMODE'] === 'verify-full' ? { PGSSLROOTCERT, ...said } : said
}
