import { spawn } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import { EnvironmentError } from '../../base/errors.ts'
import { onSignals } from '../signals.ts'
import { openingOf, withStore } from '../with-store.ts'

/**
 * `collab-sync psql`: PostgreSQL's own client on our database; an embedded one is up for as long.
 * @param args for psql
 * @param options.demo on the tables of the demo
 * @returns psql's exit code
 * @throws EnvironmentError where psql is not installed
 */
export async function psql(args: string[], { demo }: { demo?: boolean }): Promise<number> {
  return withStore(openingOf({ name: 'psql', demo }), async ({ databaseUrl }) => {
    // Ctrl-C is for psql's own statement; and the password stays out of the list of processes.
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
        `psql cannot be started (${(error as NodeJS.ErrnoException).code}): install PostgreSQL's client programs. The image has none: there, run \`docker compose exec postgres psql\`, or psql on another machine.`,
        { cause: error },
      )
    } finally {
      forget()
    }
  })
}

/** What the address says besides, in the variables of libpq: it takes fewer forms of an address than `pg`. */
function othersOf(databaseUrl: string): NodeJS.ProcessEnv {
  // By hand: that of a socket has no host, and is no URL.
  const given = new URLSearchParams(databaseUrl.split('?')[1])
  const names = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'options']
  const said = Object.fromEntries(
    names.flatMap((name) => {
      const value = given.get(name)
      return value === null ? [] : [[`PG${name.toUpperCase()}`, value]]
    }),
  )
  // The modes of the settings are those of `pg`: libpq has another word for one, and for another needs the certificates named.
  if (said['PGSSLMODE'] === 'no-verify') return { ...said, PGSSLMODE: 'require' }
  const { PGSSLROOTCERT = 'system' } = process.env
  return said['PGSSLMODE'] === 'verify-full' ? { PGSSLROOTCERT, ...said } : said
}
