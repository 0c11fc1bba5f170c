import lockfile from 'proper-lockfile'
import { EnvironmentError } from '../../base/errors.ts'
import { homeError, OWN_DATABASE, type Home } from './home.ts'

/** Age after which the lock of a killed process is taken over; the minimum of the library. */
const STALE_MS = 5_000
/** Longer than a start with crash recovery. */
const WAIT_MS = 660_000
const POLL_MS = 50

/**
 * Calls `work` while no other process starts or stops the server of this home. `work` must not block the event loop, because
 * a timer renews the lock.
 */
export async function withLock<T>(home: Home, work: () => Promise<T>): Promise<T> {
  const release = await lockfile
    .lock(home.directory, {
      lockfilePath: home.lockFile,
      stale: STALE_MS,
      retries: { retries: WAIT_MS / POLL_MS, factor: 1, minTimeout: POLL_MS, maxTimeout: POLL_MS },
      onCompromised: () => {},
    })
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ELOCKED') throw homeError(home.directory, error)
      throw new EnvironmentError(
        `Another process has been starting or stopping the PostgreSQL in ${home.directory} for ${WAIT_MS / 60_000} minutes: see ${home.logFile}, or ${OWN_DATABASE}.`,
        { cause: error },
      )
    })
  try {
    return await work()
  } finally {
    // A lock that was lost while the machine was suspended is no error: PostgreSQL has its own interlock.
    await release().catch(() => {})
  }
}
