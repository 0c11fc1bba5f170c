import { describe, expect, test } from 'vitest'
import { fileText, yamlDocuments } from './yaml-files.ts'

const [prometheus] = yamlDocuments('docs/prometheus/prometheus.yml')
const [compose] = yamlDocuments('docker-compose.yml')
const jobs: any[] = prometheus.scrape_configs

describe('docs/prometheus/prometheus.yml', () => {
  test('scrapes what docker-compose.yml starts, under the names that the alerts go by', () => {
    const asked = fileText('docs/alerts/collab-sync.rules.yml').matchAll(/job="([\w-]+)"/g)
    const names = jobs.map(({ job_name }) => job_name)
    expect(names).toEqual(expect.arrayContaining([...asked].map(([, name]) => name)))
    const { serve, worker } = compose.services
    const [ofServe, ofWorkers] = jobs
    expect(ofServe.static_configs[0].targets).toEqual([`serve:${serve.environment.HTTP_PORT}`])
    expect(ofWorkers.dns_sd_configs[0]).toMatchObject({
      names: ['worker'],
      port: Number(worker.environment.METRICS_PORT),
    })
  })

  test('shows serve the token out of a file that docker-compose.yml mounts', () => {
    expect(jobs[0].authorization.credentials_file).toBe('/run/secrets/http_token')
    expect(compose.services.prometheus.secrets).toEqual(['http_token'])
    expect(compose.secrets.http_token).toEqual({ environment: 'HTTP_TOKEN' })
  })

  test('reads the rules where docker-compose.yml mounts them', () => {
    const mounted = compose.services.prometheus.volumes.map((mount: string) => mount.split(':')[1])
    expect(prometheus.rule_files).toEqual(['/etc/prometheus/rules/*.rules.yml'])
    expect(mounted).toContain('/etc/prometheus/rules/collab-sync.rules.yml')
  })
})
