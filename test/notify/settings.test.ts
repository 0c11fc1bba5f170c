import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readSettings } from '../../src/settings/settings.ts'
import type { Environment } from '../../src/settings/environment.ts'
import { faultsOf as faultsIn, SECRET, SERVICE } from '../settings/faults.ts'

const faultsOf = (environment: Environment) => faultsIn({ ...SERVICE, ...environment }, ['service'])

/** As `serve`, which does not call the service and notifies too. */
const readAsServe = (environment: Environment) =>
  readSettings(environment, { need: ['http'], directory: '/nonexistent' })

test('receivers come with spaces or line breaks between, and their shape by prefix', () => {
  const settings = readAsServe({
    NOTIFY_URL: 'https://a.example/x?y=1,2  slack+https://b.example/z\nteams+https://c.example',
    NOTIFY_SECRET: SECRET,
  })
  expect(settings.notifyUrls).toEqual([
    { shape: 'json', url: 'https://a.example/x?y=1,2' },
    { shape: 'slack', url: 'https://b.example/z' },
    { shape: 'teams', url: 'https://c.example/' },
  ])
})

test('a receiver names its types in #events=, in any order, and a heartbeat is a shape', () => {
  const settings = readAsServe({
    NOTIFY_URL:
      'https://a.example/x?y#events=run.finished,run.failed,run.finished heartbeat+https://hc.example/T0PSECRET?create=1 heartbeat+http://localhost:9/x',
    NOTIFY_SECRET: SECRET,
  })
  expect(settings.notifyUrls).toEqual([
    { shape: 'json', url: 'https://a.example/x?y', events: ['run.failed', 'run.finished'] },
    { shape: 'heartbeat', url: 'https://hc.example/T0PSECRET?create=1' },
    { shape: 'heartbeat', url: 'http://localhost:9/x' },
  ])
  expect(faultsOf({ NOTIFY_URL: 'heartbeat+https://hc.example/x' })).toEqual([])
})

test('HTTP_PUBLIC_URL is read by every command, without / at its end', () => {
  const { httpPublicUrl } = readAsServe({
    HTTP_PUBLIC_URL: 'https://sync.example/base/',
    HTTP_BASE_PATH: '/base',
  })
  expect(httpPublicUrl).toBe('https://sync.example/base')
  expect(readSettings({ HTTP_PUBLIC_URL: 'http://h:8080' }, { need: [] }).httpPublicUrl).toBe(
    'http://h:8080',
  )
})

describe('what is refused', () => {
  test.each([
    ['https://a.example/T0PSECRET#events=run.done', 'must name types of messages after #events='],
    ['https://a.example/T0PSECRET#events=', 'must name types of messages after #events='],
    ['https://a.example/T0PSECRET#events=night.ended', 'must name types of messages after'],
    ['https://a.example/T0PSECRET#event=run.finished', 'must be addresses'],
    ['heartbeat+https://a.example/T0PSECRET#events=run.finished', 'must have no #events='],
    ['heartbeat+http://10.0.0.7/T0PSECRET', 'must have heartbeat+https://'],
  ])('%s is one sentence that names NOTIFY_URL and no address', (address, problem) => {
    // One fault, whatever else is wrong.
    const url = `${address} ftp://x`
    for (const text of [address, url]) {
      const faults = faultsOf({ NOTIFY_URL: text, COLLAB_ALLOW_HTTP: '1' })
      expect(faults).toEqual([expect.stringContaining(`NOTIFY_URL ${problem}`)])
      expect(faults[0]).not.toContain('T0PSECRET')
    }
  })

  test('HTTP_PUBLIC_URL must be an address alone, with the path of HTTP_BASE_PATH', () => {
    for (const text of ['h', 'ftp://h', 'https://u@h', 'https://h?a', 'https://h/#a'])
      expect(faultsOf({ HTTP_PUBLIC_URL: text })).toEqual([
        expect.stringMatching(/^HTTP_PUBLIC_URL must /),
      ])
    const faults = (url: string, need: 'http' | 'database') =>
      faultsIn({ HTTP_PUBLIC_URL: url, HTTP_BASE_PATH: '/base' }, [need])
    expect(faults('https://h/base/', 'http')).toEqual([])
    for (const url of ['https://h', 'https://h/other'])
      expect(faults(url, 'http')).toEqual([
        'HTTP_PUBLIC_URL must have the path of HTTP_BASE_PATH, and none without it. Example: HTTP_PUBLIC_URL=https://sync.example.com/collab-sync',
      ])
    expect(faults('https://h', 'database')).toEqual([])
    expect(faultsIn({ HTTP_PUBLIC_URL: 'https://h/' }, ['http'])).toEqual([])
    expect(faultsIn({ HTTP_PUBLIC_URL: 'https://h/base' }, ['http'])).toHaveLength(1)
  })

  test.each([
    ['NOTIFY_URL', ['a.example', 'ftp://a', 'https://u:p@a.example', 'https://a, https://']],
    ['NOTIFY_SECRET', ['secret', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${'A'.repeat(100)}`]],
  ])('%s refuses what it cannot mean, and does not repeat a secret', (name, texts) => {
    for (const text of texts) {
      const faults = faultsOf({ [name]: text })
      expect(faults, text).toHaveLength(1)
      expect(faults[0]).toMatch(
        new RegExp(`^${name} must .*\\. (Example: ${name}=.|Create one with: echo whsec_)`),
      )
      expect(faults[0]).not.toContain(`"${text}"`)
    }
  })

  test('http:// beyond this machine needs COLLAB_ALLOW_HTTP=1', () => {
    const plain = { NOTIFY_URL: 'slack+http://10.0.0.7/x' }
    expect(faultsOf(plain)[0]).toMatch(/^NOTIFY_URL must start with https:.*COLLAB_ALLOW_HTTP=1/)
    expect(faultsOf({ ...plain, COLLAB_ALLOW_HTTP: '1' })).toEqual([])
    const page = readFileSync('docs/SETTINGS.md', 'utf8')
    const row = page.split('\n').find((line) => line.startsWith('| `NOTIFY_URL`'))
    for (const host of ['localhost', '127.0.0.1']) {
      expect(row).toMatch(
        new RegExp(`http:// works for a receiver on this machine .*\\b${host}\\b`),
      )
      expect(faultsOf({ NOTIFY_URL: `slack+http://${host}:9/x` })).toEqual([])
    }
    expect(() => readAsServe(plain)).toThrow(/^NOTIFY_URL must start with https:/)
    const allowed = readAsServe({ ...plain, COLLAB_ALLOW_HTTP: '1' })
    expect(allowed.notifyUrls).toEqual([{ shape: 'slack', url: 'http://10.0.0.7/x' }])
  })

  test('a receiver that checks signatures needs NOTIFY_SECRET; Slack and Teams do not', () => {
    expect(faultsOf({ NOTIFY_URL: 'https://a.example' })[0]).toMatch(/^NOTIFY_SECRET is not set/)
    expect(faultsOf({ NOTIFY_URL: 'slack+https://a.example' })).toEqual([])
  })
})
