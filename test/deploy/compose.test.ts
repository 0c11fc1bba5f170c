import { describe, expect, test } from 'vitest'
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

describe.each(services)('%s', (_name, service) => {
  test('says whether it is well, unless it ends by itself', () => {
    if (service.restart === 'no') expect(service.healthcheck).toBeUndefined()
    else {
      expect(service.restart).toBe('unless-stopped')
      expect(service.healthcheck.test.length).toBeGreaterThan(1)
    }
  })

  test('is of a version that is told', () => {
    expect(service.image).toMatch(/^(collab-sync|[\w/-]+:v?\d[\w.]*)$/)
  })

  test('is open to this machine at most', () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
  })

  test('mounts files that are there, and volumes and secrets that are declared', () => {
    for (const mount of service.volumes ?? []) {
      const [source, , mode] = mount.split(':')
      if (!source.startsWith('.')) expect(Object.keys(compose.volumes)).toContain(source)
      else {
        expect(isThere(source), source).toBe(true)
        expect(mode).toBe('ro')
      }
    }
    for (const secret of service.secrets ?? [])
      expect(Object.keys(compose.secrets)).toContain(secret)
  })

  test('waits for services that there are', () => {
    expect(Object.keys(compose.services)).toEqual(
      expect.arrayContaining(Object.keys(service.depends_on ?? {})),
    )
  })
})

test.each(ours)('%s can change neither its file system nor its rights', (_name, service) => {
  expect(service).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  })
})

test.each(ours)('%s is given only settings that there are', (_name, service) => {
  const settings = SETTING_LIST.map(({ setting }) => setting.name)
  const given = Object.entries(service.environment)
    .filter(([, value]) => value !== '')
    .map(([name]) => name)
  expect(settings).toEqual(expect.arrayContaining(given))
})

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
  expect(ours.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual([
    'migrate',
  ])
  // So that `run` and `up` of a single part find the image.
  for (const [name, service] of ours) {
    expect(service.pull_policy).toBe('never')
    if (name !== 'migrate') expect(Object.keys(service.depends_on)).toContain('migrate')
  }
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
