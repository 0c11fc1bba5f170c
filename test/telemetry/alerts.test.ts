import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const FOLDER = resolve(import.meta.dirname, '../../docs/alerts')
const rules = readFileSync(`${FOLDER}/collab-sync.rules.yml`, 'utf8')
const tests = readFileSync(`${FOLDER}/collab-sync.rules.test.yml`, 'utf8')

describe('the alert rules', () => {
  test('each say how urgent they are, what is wrong and what to do, and have a test', () => {
    const alerts = rules.split(/^ {6}- alert: /m).slice(1)
    expect(alerts.length).toBeGreaterThanOrEqual(9)
    for (const alert of alerts) {
      const name = alert.split('\n')[0] as string
      expect(alert, name).toMatch(/severity: (page|ticket)\n/)
      expect(alert, name).toMatch(/summary: .+/)
      expect(alert, name).toMatch(/action: .+/)
      expect(tests, name).toContain(name)
    }
  })
})
