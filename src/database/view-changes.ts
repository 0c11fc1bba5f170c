import pRetry from 'p-retry'
import type { ColumnRequest } from '../documents/column.ts'
import { EnvironmentError, UsageError } from '../errors.ts'
import { guardViews } from './grants.ts'
import { codeOf, openDatabase, transactionOn } from './pool.ts'
import type { Client } from './pool.ts'
import * as columns from './statements/columns.ts'

/** Runs `work` on a connection of its own, one at a time. @throws UsageError where another one goes on; what `work` throws */
export async function changing<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const database = openDatabase(url, { max: 1, applicationName: 'column' })
  try {
    const client = await database.connect()
    try {
      // Counting and an index over millions take minutes; closing the connection gives the lock back.
      await client.query('set statement_timeout = 0')
      await pRetry(() => takeTurn(client), {
        retries: 10,
        minTimeout: 200,
        factor: 1.1,
        shouldRetry: ({ error }) => error instanceof UsageError,
      })
      return await work(client)
    } finally {
      client.release(true)
    }
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new EnvironmentError(
      `The role in DATABASE_URL may not change the views (${(error as Error).message}): it must own them.`,
      { cause: error },
    )
  } finally {
    await database.end()
  }
}

/** The server may need a moment to notice that the last holder is gone. */
async function takeTurn(client: Client): Promise<void> {
  if (!(await columns.lock.one(client)).taken)
    throw new UsageError('Columns are being changed by another process.')
}

/**
 * A transaction that changes views. It waits a second for whoever reads them, tries again some times, and then says who is
 * in the way: while it waits, new readers wait too.
 */
export async function shortly(
  client: Client,
  object: ColumnRequest['object'],
  work: () => Promise<unknown>,
): Promise<void> {
  const attempt = () =>
    transactionOn(client, async () => {
      await columns.shortWait.run(client)
      await work()
      await guardViews(client)
    })
  try {
    await pRetry(attempt, {
      retries: 4,
      minTimeout: 500,
      factor: 1.5,
      shouldRetry: ({ error }) => codeOf(error) === LOCK_NOT_AVAILABLE,
    })
  } catch (error) {
    const code = codeOf(error)
    if (code === DEPENDENTS)
      throw new UsageError(`In the way: ${(error as { detail?: string }).detail}.`, {
        cause: error,
      })
    if (code !== LOCK_NOT_AVAILABLE) throw error
    const blocker = await columns.blockers.first(client, { object })
    const who =
      blocker === undefined
        ? 'somebody'
        : `process ${blocker.pid} (role ${blocker.roleName}, ${blocker.applicationName || 'no application name'}), in a transaction since ${blocker.since?.toISOString()}`
    throw new EnvironmentError(
      `The views of ${object} are in use by ${who}: nothing was changed. Try again when that has ended.`,
      { cause: error },
    )
  }
}

const LOCK_NOT_AVAILABLE = '55P03'
const INSUFFICIENT_PRIVILEGE = '42501'
const DEPENDENTS = '2BP01'
