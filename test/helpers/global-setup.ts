import pg from 'pg'
import type { TestProject } from 'vitest/node'
import {
  deleteKeys,
  dropDatabases,
  folderParents,
  makeFolder,
  newRunId,
  ownDatabases,
  ownKeys,
  removeFolder,
  removeFolders,
} from './leftovers.ts'
import { openRedis } from './own-redis.ts'
import { openPostgres } from './servers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Part of the name of whatever this run makes; see leftovers.ts. */
    runId: string
    /** `postgres://` URL of a database on the test server, by a superuser. */
    postgresUrl: string
    /** Empty where there is no Redis. */
    redisUrl: string
    /** Holds every temporary file of this run; `tmpdir()` of its workers. */
    runFolder: string
  }
}

/**
 * Finds the servers that the tests use, or starts them (servers.ts), removes what killed runs left, and afterwards what this
 * run made.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const parents = folderParents()
  for (const parent of parents) await removeFolders(parent)
  const folder = await makeFolder(parents[0] as string)
  const temporary = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  const runId = newRunId()
  // Redis first: its absence may end the run, and then nothing may be left running.
  const redis = await openRedis()
  const postgres = await openPostgres().catch(async (error: unknown) => {
    await redis.close()
    throw error
  })
  const server = new pg.Client({ connectionString: postgres.url, keepAlive: true })
  await server.connect()
  await ownDatabases(server, runId)
  await dropDatabases(server)
  const keys = redis.url === '' ? null : await ownKeys(redis.url, runId)
  if (keys !== null) await deleteKeys(keys)
  project.provide('runId', runId)
  project.provide('postgresUrl', postgres.url)
  project.provide('redisUrl', redis.url)
  project.provide('runFolder', folder)
  return async () => {
    await dropDatabases(server, runId)
    await server.end()
    if (keys !== null) await deleteKeys(keys, runId)
    keys?.disconnect()
    await Promise.all([postgres.close(), redis.close()])
    if (temporary === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = temporary
    await removeFolder(folder)
  }
}
