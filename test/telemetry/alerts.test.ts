import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serviceRegistry } from '../../src/worker/telemetry/service-registry.ts'
import { createWorkerMetrics } from '../../src/worker/telemetry/worker-metrics.ts'

const FOLDER = resolve(import.meta.dirname, '../../docs/alerts')
const rules = readFileSync(`${FOLDER}/collab-sync.rules.yml`, 'utf8')
const tests = readFileSync(`${FOLDER}/collab-sync.rules.test.yml`, 'utf8')

describe('the alert rules', () => {
  test('use only metrics that collab-sync has, and no metric is without a sentence', async () => {
    const known = await exportedMetrics()
    for (const { name, help } of known) expect(help, name).toMatch(/^[A-Z].*\.$/)
    const names = new Set(known.map(({ name }) => name))
    for (const text of [rules, tests]) {
      const used = [...text.matchAll(/\bcollab_sync_[a-z_]+/g)].map(([name]) => name)
      expect(used.length).toBeGreaterThan(10)
      expect(used.filter((name) => !names.has(name))).toEqual([])
    }
  })

  test('each say how urgent they are, what is wrong and what to do, and have a test', () => {
    const alerts = rules.split(/^ {6}- alert: /m).slice(1)
    expect(alerts.length).toBeGreaterThanOrEqual(9)
    for (const alert of alerts) {
      const name = alert.split('\n')[0] as string
      expect(alert, name).toMatch(/severity: (page|ticket)\n/)
      expect(alert, name).toMatch(/summary: .+/)
      expect(alert, name).toMatch(/action: .+/)
      expect(tests, name).toContain(name)
    }
  })
})

/** Every metric of a worker and of serve, with its help. */
async function exportedMetrics(): Promise<{ name: string; help: string }[]> {
  const worker = createWorkerMetrics()
  worker.readConcurrency(() => ({ inFlight: 0, limit: 1, waiting: 0, latencyMsEwma: null }))
  const counts = { calls: 1, retries: 1, rejected: 1 }
  const scopes = { scopesSucceeded: 1, scopesFailed: 1, scopesHeld: 1, scopesSkipped: 1 }
  const records = {
    recordsInserted: 1,
    recordsUpdated: 1,
    recordsUnchanged: 1,
    recordsRejected: 1,
    recordsNull: 1,
    usersWritten: 1,
    commentsWritten: 1,
    commentsDeleted: 1,
  }
  const kind = { trigger: 'schedule', status: 'succeeded' } as const
  const times = { requestedS: 1, finishedS: 1, durationS: 1 }
  const serve = serviceRegistry({
    stored: {
      totals: [{ ...kind, runs: 1, ...counts, ...scopes, ...records }],
      lastRuns: [{ ...kind, ...counts, ...scopes, ...times }],
      state: {
        workers: 1,
        callsInFlight: 1,
        callsLimit: 1,
        openRunAgeS: null,
      },
      freshness: {
        scopes: 1,
        annotations: 1,
        neverChecked: 0,
        notTried: 0,
        failing: 0,
        stale: 0,
        overdue: 0,
        oldestCheck: new Date(0),
        newestCheck: new Date(0),
        promiseS: 1,
      },
      attention: [],
    },
    queue: { jobs: { waiting: 0 }, nextNightly: new Date(0) },
  })
  const all = [
    ...(await worker.registry.getMetricsAsJSON()),
    ...(await serve.getMetricsAsJSON()),
  ].filter(({ name }) => name.startsWith('collab_sync_'))
  return all.map(({ name, help }) => ({ name, help }))
}
