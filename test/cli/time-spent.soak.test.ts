import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { buildCommand } from './built-command.ts'
import type { BuiltCommand, Environment } from './built-command.ts'

const LATENCY_MS = 20
const CALLS_A_SECOND = 60

let command: BuiltCommand
let database: TestDatabase
let settings: Environment
let oneDocument: string[]

beforeAll(async () => {
  command = await buildCommand()
  database = await createTestDatabase()
  const catalog = join(command.directory, 'catalog.ndjson')
  const world = ['--organizations', '1', '--documents', '40', '--annotations', '20', '--no-skew']
  const standIn = await command.startStandIn(
    ...world,
    '--latency',
    String(LATENCY_MS),
    '--catalog',
    catalog,
  )
  settings = { ...standIn.environment, DATABASE_URL: database.url }
  expect(await command.runProcess(['catalog', 'import', catalog], settings)).toMatchObject({
    code: 0,
  })
  oneDocument = await documentOptions(catalog)
})

afterAll(async () => {
  await command?.remove()
  await database?.drop()
})

describe('where the time of a run went', () => {
  test('is in its row: the service, the limit of the rate, PostgreSQL and the CPU', async () => {
    const environment = { ...settings, SYNC_RATE_LIMIT: String(CALLS_A_SECOND) }
    const { code, stdout } = await command.runProcess(
      ['run', '--json', ...oneDocument],
      environment,
    )
    expect(code).toBe(0)
    const run = JSON.parse(stdout)
    // Whatever else the machine does, no answer comes before the stand-in sends it.
    expect(run.serviceMs).toBeGreaterThanOrEqual(run.calls * (LATENCY_MS - 1))
    // The calls are spaced, so that together they wait for more than one of them would.
    expect(run.waitedMs).toBeGreaterThan(1000 / CALLS_A_SECOND)
    expect(run.databaseMs).toBeGreaterThan(0)
    expect(run.cpuMs).toBeGreaterThan(0)

    const { rows } = await database.pool.query(
      'select service_ms, waited_ms, database_ms, cpu_ms from sync.runs where run_id = $1',
      [run.runId],
    )
    const { serviceMs, waitedMs, databaseMs, cpuMs } = run
    expect(rows).toEqual([
      { service_ms: serviceMs, waited_ms: waitedMs, database_ms: databaseMs, cpu_ms: cpuMs },
    ])
    const status = await command.runProcess(['status', run.runId], settings)
    for (const part of ['the service', 'the rate limit', 'PostgreSQL', 'ms CPU'])
      expect(status.stdout).toContain(part)
  })
})

/** The options that narrow a run to the first document of a catalog. */
async function documentOptions(catalog: string): Promise<string[]> {
  const lines = (await readFile(catalog, 'utf8')).trim().split('\n')
  for (const line of lines) {
    const { organizationId, documentId } = JSON.parse(line)
    if (documentId !== undefined)
      return ['--organization', organizationId, '--document', documentId]
  }
  throw new Error(`No document in ${catalog}.`)
}
