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
import { openPostgres, openRedis } from './servers.ts'

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

/** What a run of the tests has, for all its projects, and how many of them use it. */
interface Shared {
  readonly opened: Promise<Opened>
  users: number
}

interface Opened {
  readonly runId: string
  readonly postgresUrl: string
  readonly redisUrl: string
  readonly runFolder: string
  close(): Promise<void>
}

/** Vitest loads this file once for each project. */
const shared = globalThis as { collabSyncTests?: Shared }

/**
 * Finds the servers that the tests use, or starts them (servers.ts), removes what killed runs left, and afterwards what
 * this one did: once, whichever projects run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const run = (shared.collabSyncTests ??= { opened: open(), users: 0 })
  run.users += 1
  const { close, ...values } = await run.opened
  for (const [name, value] of Object.entries(values))
    project.provide(name as keyof typeof values, value)
  return async () => {
    run.users -= 1
    if (run.users > 0) return
    delete shared.collabSyncTests
    await close()
  }
}

async function open(): Promise<Opened> {
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
  return {
    runId,
    postgresUrl: postgres.url,
    redisUrl: redis.url,
    runFolder: folder,
    async close() {
      await dropDatabases(server, runId)
      await server.end()
      if (keys !== null) await deleteKeys(keys, runId)
      keys?.disconnect()
      await Promise.all([postgres.close(), redis.close()])
      if (temporary === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = temporary
      await removeFolder(folder)
    },
  }
}
