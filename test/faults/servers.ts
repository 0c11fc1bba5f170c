import { dirname, join } from 'node:path'
import { openEmbeddedPostgres } from '../../src/worker/embedded/open-embedded-postgres.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { removeHome } from '../helpers/remove-home.ts'
import { until } from '../helpers/until.ts'
import { ask, copyHome, serverPid, temporaryDirectory } from '../embedded/machine.ts'

/** A PostgreSQL of the test's own, which it may kill; closed at the latest when the test or its file ends. */
export interface OwnPostgres {
  readonly url: string
  /** Starts it on the port it had, with the data it had. */
  start(): Promise<void>
  /** kill -9 of the server. */
  kill(): Promise<void>
  close(): Promise<void>
}

export async function openOwnPostgres(): Promise<OwnPostgres> {
  const home = join(temporaryDirectory(), 'home')
  await copyHome(home)
  const opened = [await openEmbeddedPostgres({ home })]
  const url = opened[0]?.url as string
  const dataDirectory = await ask(url, 'show data_directory')
  return {
    url,
    async start() {
      opened.push(await openEmbeddedPostgres({ home }))
    },
    async kill() {
      process.kill(serverPid(dirname(dataDirectory)), 'SIGKILL')
      await until('PostgreSQL is gone', () =>
        ask(url, 'select 1').then(
          () => null,
          () => true,
        ),
      )
    },
    close: closedAtEnd(async () => {
      for (const each of opened) await each.close()
      removeHome(home)
    }),
  }
}
