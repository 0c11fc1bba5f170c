import { expect, test } from 'vitest'
import { createWorkerMetrics } from '../../src/worker/telemetry/worker-metrics.ts'
import { MISSING } from '../soak/needs.ts'
import { promtool } from './promtool.ts'

const isMissing = MISSING.includes('promtool')

test.skipIf(isMissing)('the alert rules are well-formed, and fire when they should', () => {
  const folder = { cwd: 'docs/alerts' }
  expect(promtool(['check', 'rules', 'collab-sync.rules.yml'], folder)).toMatchObject({ code: 0 })
  expect(promtool(['test', 'rules', 'collab-sync.rules.test.yml'], folder)).toMatchObject({
    code: 0,
  })
})

test.skipIf(isMissing)('the configuration of Prometheus is well-formed', () => {
  const file = 'docs/prometheus/prometheus.yml'
  expect(promtool(['check', 'config', '--syntax-only', file])).toMatchObject({ code: 0 })
})

test.skipIf(isMissing)('the metrics of a worker follow the conventions', async () => {
  const { registry } = createWorkerMetrics()
  const input = await registry.metrics()
  expect(promtool(['check', 'metrics'], { input })).toEqual({ code: 0, told: '' })
})
