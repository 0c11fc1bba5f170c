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

describe('what is refused', () => {
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
