import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenAPIV3_1 } from 'openapi-types'
import { expect, test } from 'vitest'
import { createWorkerMetrics } from '../src/worker/telemetry/worker-metrics.ts'
import {
  readQueue,
  readSignals,
  serviceRegistry,
} from '../src/worker/telemetry/service-registry.ts'
import { onDatabase } from './client/on-app.ts'
import { addRun } from './database/run-rows.ts'
import { createTestDatabase } from './helpers/database.ts'
import { BEARER, latePartsOf, unlistenedOn } from './http/served.ts'
import {
  commandNames,
  databaseNames,
  httpNames,
  jobNames,
  metricNames,
  notificationNames,
  packageNames,
  settingNames,
} from './public-names.ts'

/**
 * Compares the names that docs/VERSIONS.md covers with test/public-names.json, one a line. With `--update` the test adds names,
 * and never drops one.
 */

const FILE = join(import.meta.dirname, 'public-names.json')

const database = await createTestDatabase()
const parts = latePartsOf(database.pool, database.url, { kind: 'postgres', url: database.url })
const { app } = await unlistenedOn(parts)
const document: OpenAPIV3_1.Document = (
  await app.inject({ url: '/openapi.json', headers: BEARER })
).json()

const now = new Date()
await addRun(database.pool, { status: 'succeeded', started_at: now, finished_at: now })
const worker = createWorkerMetrics()
worker.readConcurrency(() => ({
  inFlight: 0,
  limit: 1,
  waiting: 0,
  isPaused: false,
  permits: 1,
  latencyMsEwma: null,
}))
const stored = await readSignals(database.pool)
const queue = await readQueue(parts.queue)
const serve = serviceRegistry({
  stored: { ...stored, freshness: filled(stored.freshness), state: filled(stored.state) },
  queue: filled(queue),
})

/** What an empty database does not know is left out of the metrics. */
function filled<Row extends object>(row: Row): Row {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value ?? (name.endsWith('S') ? 0 : now),
  ])
  return Object.fromEntries(entries) as Row
}

const names = [
  ...(await databaseNames(database.pool)),
  ...httpNames(document),
  ...commandNames(),
  ...settingNames(),
  ...metricNames([worker.registry, serve]),
  ...jobNames(),
  ...notificationNames(),
  ...packageNames(onDatabase(database.pool)),
]
const kept: string[] = JSON.parse(readFileSync(FILE, 'utf8'))

test('no public name was removed or renamed', () => {
  const present = new Set(names)
  const complaints = kept
    .filter((name) => !present.has(name))
    .map(
      (name) =>
        `${name} is covered by docs/VERSIONS.md: restore it, or remove it as that page says (delete its line in test/public-names.json with an entry under Removed in CHANGELOG.md)`,
    )
  expect(complaints).toEqual([])
})

test('every public name is in test/public-names.json: npm run generate', async () => {
  const all = [...new Set([...kept, ...names])].toSorted()
  await expect(`${JSON.stringify(all, null, 2)}\n`).toMatchFileSnapshot(FILE)
})
