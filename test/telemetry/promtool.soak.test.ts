import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createWorkerMetrics } from '../../src/worker/telemetry/worker-metrics.ts'
import { fileText } from '../deploy/yaml-files.ts'
import { ownFolder } from '../helpers/own-folder.ts'
import { MISSING } from '../soak/needs.ts'

/** What promtool, of the Debian package `prometheus`, prints. @throws where its exit code is not 0 */
function promtool(args: string[], options: { input?: string; cwd?: string } = {}): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { ...options, encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 0 })
  return `${stdout}${stderr}`
}

describe.skipIf(MISSING.includes('promtool'))('promtool accepts', () => {
  test('the alert rules, which fire when they should', () => {
    promtool(['check', 'rules', 'docs/alerts/collab-sync.rules.yml'])
    promtool(['test', 'rules', 'collab-sync.rules.test.yml'], { cwd: 'docs/alerts' })
  })

  test('the configuration of Prometheus', () => {
    promtool(['check', 'config', '--syntax-only', 'docs/prometheus/prometheus.yml'])
  })

  test('the names and types of the metrics of a worker', async () => {
    const input = await createWorkerMetrics().registry.metrics()
    expect(promtool(['check', 'metrics'], { input })).toBe('')
  })

  test('the queries of the dashboard', () => {
    const { panels } = JSON.parse(fileText('docs/grafana/dashboards/collab-sync.json'))
    const rules = panels
      .flatMap(({ targets }: any) => targets)
      .filter(({ expr }: any) => expr !== undefined)
      .map(({ expr }: any, n: number) => {
        return { record: `panel:${n}`, expr: expr.replaceAll('$__rate_interval', '1m') }
      })
    const file = join(ownFolder(), 'rules.yml')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'p', rules }] }))
    promtool(['check', 'rules', file])
  })
})
