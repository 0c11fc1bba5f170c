import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { SETTING_LIST } from '../../src/settings/table.ts'
import { yamlDocuments } from './yaml-files.ts'

/** What the manifests promise. There is no cluster here, so nothing is applied. */

const FOLDER = 'docs/deploy/kubernetes'
const files = readdirSync(resolve(import.meta.dirname, '../..', FOLDER), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.yaml'))
  .sort()
const objects = files.flatMap((name) =>
  yamlDocuments(`${FOLDER}/${name}`).map((object) => ({ ...object, file: name })),
)
const [kustomization] = objects.filter(({ kind }) => kind === 'Kustomization')
const named = (kind: string) => objects.filter((object) => object.kind === kind)

/** Pods, by what makes them. */
const pods: [string, any][] = objects.flatMap(({ kind, metadata, spec }) => {
  const template = kind === 'CronJob' ? spec.jobTemplate.spec.template : spec?.template
  return template === undefined ? [] : [[metadata.name, template]]
})
const settings = SETTING_LIST.map(({ setting }) => setting.name)

test('kustomization.yaml lists every manifest but the template of secrets and what is optional', () => {
  const base = files.filter(
    (name) =>
      !name.startsWith('optional/') &&
      !['kustomization.yaml', 'secrets.example.yaml'].includes(name),
  )
  expect([...kustomization.resources].sort()).toEqual(base)
})

test('there is a migration, workers, serve, and one run a night instead', () => {
  expect(pods.map(([name, { spec }]) => [name, spec.containers[0].args])).toEqual(
    expect.arrayContaining([
      ['collab-sync-migrate', ['migrate']],
      ['collab-sync-worker', ['worker']],
      ['collab-sync-serve', ['serve']],
      ['collab-sync-nightly', ['run']],
    ]),
  )
})

test.each(pods)(
  '%s has no rights, limits, a version, known settings and secrets, and labels',
  (_, { metadata, spec }) => {
    expect(spec.containers).toHaveLength(1)
    const [container] = spec.containers
    expect(spec.automountServiceAccountToken).toBe(false)
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(spec.securityContext.runAsUser).toBeGreaterThan(0)
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    for (const { cpu, memory } of [container.resources.requests, container.resources.limits]) {
      expect(cpu).toMatch(/^\d+m?$/)
      expect(memory).toMatch(/^\d+Mi$/)
    }
    const [{ name, newName, newTag }] = kustomization.images
    expect(container.image).toBe(name)
    expect(`${newName}:${newTag}`).toMatch(/^[\w./-]+:\d[\w.]*$/)
    const known = [...named('ConfigMap'), ...named('Secret')].map((each) => each.metadata.name)
    for (const { configMapRef, secretRef } of container.envFrom ?? [])
      expect(known).toContain((configMapRef ?? secretRef).name)
    for (const { name: setting } of container.env ?? []) expect(settings).toContain(setting)
    for (const { secret } of spec.volumes ?? []) expect(known).toContain(secret.secretName)
    // The network policies select pods by these labels.
    expect(metadata.labels['app.kubernetes.io/name']).toBe('collab-sync')
    expect(['migrate', 'worker', 'serve']).toContain(metadata.labels['app.kubernetes.io/component'])
  },
)

test('every setting that is named is one, and no secret is among what is not secret', () => {
  const publicNames = SETTING_LIST.flatMap(({ setting }) =>
    'secret' in setting ? [] : [setting.name],
  )
  const plain = named('ConfigMap').flatMap(({ data }) => Object.keys(data))
  expect(publicNames).toEqual(expect.arrayContaining(plain))
  const secret = named('Secret').flatMap(({ stringData }) => Object.keys(stringData))
  expect([...settings, 'auth-token']).toEqual(expect.arrayContaining(secret))
  for (const { stringData } of named('Secret'))
    for (const value of Object.values(stringData)) expect(value).toMatch(/FILL_IN/)
})

test('each part gets only the secrets that it uses', () => {
  const secretsOf = (name: string) =>
    pods
      .find(([each]) => each === name)?.[1]
      .spec.containers[0].envFrom.flatMap(({ secretRef }: any) => secretRef?.name ?? [])
  expect(secretsOf('collab-sync-migrate')).toEqual(['collab-sync-stores'])
  const ofServe = ['collab-sync-stores', 'collab-sync-http', 'collab-sync-notify']
  expect(secretsOf('collab-sync-serve')).toEqual(ofServe)
  expect(secretsOf('collab-sync-worker')).not.toContain('collab-sync-http')
})

test('each probe asks its question: unreachable servers restart nothing, and keep requests away from serve', () => {
  const probes = named('Deployment').map(({ metadata, spec }) => {
    const [container] = spec.template.spec.containers
    const ports = container.ports.map(({ name }: any) => name)
    const asked = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => {
      if (container[probe] === undefined) return null
      expect(ports).toContain(container[probe].httpGet.port)
      return container[probe].httpGet.path
    })
    return [metadata.name, ...asked]
  })
  expect(probes.sort()).toEqual([
    ['collab-sync-serve', '/healthz', '/healthz', '/readyz'],
    ['collab-sync-worker', '/metrics', '/metrics', null],
  ])
})

test('a run that hangs ends before the next night', () => {
  const [{ spec }] = named('CronJob')
  expect(spec.schedule).toMatch(/^\d+ \d+ \* \* \*$/)
  expect(spec.jobTemplate.spec.activeDeadlineSeconds).toBeLessThan(24 * 3600)
})

test('a node is drained while one serve stays, also if serve is not ready', () => {
  const [{ spec }] = named('PodDisruptionBudget')
  const serve = named('Deployment').find(({ metadata }) => metadata.name === 'collab-sync-serve')
  expect(spec.selector).toEqual(serve.spec.selector)
  expect(spec.maxUnavailable).toBeLessThan(serve.spec.replicas)
  expect(spec.unhealthyPodEvictionPolicy).toBe('AlwaysAllow')
})

test('selectors select the pods that they are for', () => {
  for (const { spec } of named('Deployment'))
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels)
  const [service] = named('Service')
  const serve = pods.find(([name]) => name === 'collab-sync-serve')?.[1]
  expect(serve.metadata.labels).toMatchObject(service.spec.selector)
})

test('nothing goes in or out but what a policy names, and only workers and serve go out to the world', () => {
  const policies = named('NetworkPolicy')
  const all = policies.find(({ spec }) => Object.keys(spec.podSelector).length === 0)
  expect(all.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })
  const toWorld = policies.filter(({ spec }) => JSON.stringify(spec).includes('0.0.0.0/0'))
  expect(
    toWorld.map(({ spec }) => spec.podSelector.matchLabels['app.kubernetes.io/component']),
  ).toEqual(['worker', 'serve'])
})

test('autoscaling goes by a metric of serve and keeps a worker for the nightly run', () => {
  const [{ spec }] = named('ScaledObject')
  expect(spec.minReplicaCount).toBeGreaterThan(0)
  expect(spec.triggers[0].metadata.query).toContain('collab_sync_queue_jobs{')
  expect(named('Deployment').map(({ metadata }) => metadata.name)).toContain(
    spec.scaleTargetRef.name,
  )
})
