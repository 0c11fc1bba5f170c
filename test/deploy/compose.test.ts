import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { SETTING_LIST } from '../../src/settings/table.ts'
import { fileText, isThere, yamlDocuments } from './yaml-files.ts'

/** What docker-compose.yml promises. There is no container engine here, so nothing of it is started. */

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
  expect(settings).toEqual(expect.arrayContaining(Object.keys(service.environment)))
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
  expect(secrets.filter((line) => !line.includes('${'))).toEqual([])
  // What must be set is asked for whatever profile is started.
  const required = [...fileText('docker-compose.yml').matchAll(/[^$]\$\{(\w+):\?/g)]
  expect(new Set(required.map(([, name]) => name))).toEqual(
    new Set(['POSTGRES_PASSWORD', 'HTTP_TOKEN']),
  )
})

test('the health check of serve tells an answer from none', async () => {
  const [, , flag, code] = compose.services.serve.healthcheck.test
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/healthz' ? 200 : 404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const check = async (address: string) => {
    const child = spawn(process.execPath, [flag, code.replace('127.0.0.1:8080', address)])
    return (await once(child, 'exit'))[0]
  }
  expect(code).toContain('127.0.0.1:8080/healthz')
  expect(await check(`127.0.0.1:${port}`)).toBe(0)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  expect(await check(`127.0.0.1:${port}`)).toBe(1)
})
