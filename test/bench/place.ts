import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBenchDatabase } from './database.ts'
import type { BenchDatabase } from './database.ts'
import type { Servers } from './servers.ts'
import { startStandInProcess } from './stand-in.ts'
import type { StandInProcess, WorldSize } from './stand-in.ts'

/** A stand-in with a world, and what is needed to make databases that hold its catalog. */
export interface Place {
  readonly servers: Servers
  readonly standIn: StandInProcess
  readonly catalogFile: string
  /** A fresh database with the catalog in it. */
  createDatabase(): Promise<BenchDatabase>
  close(): Promise<void>
}

let places = 0

export async function openPlace(
  servers: Servers,
  world: WorldSize,
  flags: readonly string[] = [],
): Promise<Place> {
  const catalogFile = join(tmpdir(), `collab-sync-bench-${process.pid}-${places++}.ndjson`)
  const standIn = await startStandInProcess(world, [...flags, '--catalog', catalogFile])
  return {
    servers,
    standIn,
    catalogFile,
    createDatabase: () => createBenchDatabase(servers, catalogFile),
    async close() {
      await standIn.close()
      await rm(catalogFile, { force: true })
    },
  }
}
