import lockfile from 'proper-lockfile'
import { EnvironmentError } from '../../base/errors.ts'
import { homeError, OWN_DATABASE, type Home } from './home.ts'

/** A lock whose holder was killed is taken over after this; the library allows no less. */
const STALE_MS = 5_000
/** Longer than a start with crash recovery takes. */
const WAIT_MS = 660_000
const POLL_MS = 50

/**
 * Does `work` while no other process decides about the server of this home. What runs in it must
 * not block the event loop: the lock is kept fresh by a timer.
 */
export async function withLock<T>(home: Home, work: () => Promise<T>): Promise<T> {
  const release = await acquire(home)
  try {
    return await work()
  } finally {
    // A lock lost to a suspended machine is no error: PostgreSQL's own interlock still holds.
    await release().catch(() => {})
  }
}

async function acquire(home: Home): Promise<() => Promise<void>> {
  try {
    return await lockfile.lock(home.directory, {
      lockfilePath: home.lockFile,
      stale: STALE_MS,
      retries: { retries: WAIT_MS / POLL_MS, factor: 1, minTimeout: POLL_MS, maxTimeout: POLL_MS },
      onCompromised: () => {},
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw homeError(home.directory, error)
    throw new EnvironmentError(
      `Another process has been starting or stopping the PostgreSQL in ${home.directory} for ${WAIT_MS / 60_000} minutes: see ${home.logFile}, or ${OWN_DATABASE}.`,
      { cause: error },
    )
  }
}
