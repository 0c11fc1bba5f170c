import { writeFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogLines } from '../../src/demo/catalog.ts'
import type { World } from '../../src/demo/world.ts'
import { createBenchDatabase } from './database.ts'
import type { BenchDatabase } from './database.ts'
import type { Servers } from './servers.ts'

/** A database with the catalog of a world, for runs that answer from memory. */
export async function createDatabaseOf(servers: Servers, world: World): Promise<BenchDatabase> {
  const file = join(tmpdir(), `collab-sync-bench-${process.pid}-memory.ndjson`)
  await writeFile(file, [...catalogLines(world)].map((line) => JSON.stringify(line)).join('\n'))
  try {
    return await createBenchDatabase(servers, file)
  } finally {
    await rm(file, { force: true })
  }
}
