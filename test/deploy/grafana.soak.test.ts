import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MISSING } from '../soak/needs.ts'
import { promtool } from '../telemetry/promtool.ts'
import { fileText, yamlDocuments } from './yaml-files.ts'

/** Grafana is not started here. test/deploy/dashboards.pg.test.ts has the statements for PostgreSQL. */

const dashboard = JSON.parse(fileText('docs/grafana/dashboards/collab-sync.json'))
const [provisioned] = yamlDocuments('docs/grafana/provisioning/datasources/collab-sync.yml')
const [compose] = yamlDocuments('docker-compose.yml')
const panels: any[] = dashboard.panels
/** As the panel shows it over half a minute's scrapes. */
const queries: string[] = panels
  .flatMap(({ targets }) => targets)
  .filter(({ expr }) => expr !== undefined)
  .map(({ expr }) => expr.replaceAll('$__rate_interval', '1m'))

describe('the dashboard', () => {
  test.skipIf(MISSING.includes('promtool'))(
    'asks Prometheus in its own language, says promtool',
    () => {
      const directory = mkdtempSync(join(tmpdir(), 'collab-sync-promql-'))
      const rules = queries.map((expr, n) => ({ record: `panel:${n}`, expr }))
      const path = join(directory, 'rules.yml')
      writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
      try {
        expect(promtool(['check', 'rules', path])).toMatchObject({ code: 0 })
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
  )
})

describe('what Grafana is given', () => {
  test('a role of its own that reads what analysts read, its password by the environment', () => {
    const source = provisioned.datasources.find(({ type }: any) => type.includes('postgres'))
    const role = fileText('docs/grafana/grafana-role.sql')
    expect(role).toContain(`create role ${source.user} login`)
    expect(role).toContain(`grant collab_reader to ${source.user}`)
    expect(source.secureJsonData.password).toBe('$GRAFANA_DATABASE_PASSWORD')
    expect(compose.services.grafana.environment).toContain(
      'GRAFANA_DATABASE_PASSWORD=${GRAFANA_DATABASE_PASSWORD:-}',
    )
  })

  test('the dashboard where it looks for it', () => {
    const [{ providers }] = yamlDocuments('docs/grafana/provisioning/dashboards/collab-sync.yml')
    const { path } = providers[0].options
    const mounts = compose.services.grafana.volumes
    expect(mounts).toContain(`./docs/grafana/dashboards:${path}:ro`)
    expect(mounts).toContain('./docs/grafana/provisioning:/etc/grafana/provisioning:ro')
  })
})
