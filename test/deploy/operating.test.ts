import { expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { fileText } from './yaml-files.ts'

test('docs/OPERATING.md names commands and options that exist', () => {
  const program = createProgram(() => {})
  const named = fileText('docs/OPERATING.md').matchAll(
    /`collab-sync ([^`]+)`|^collab-sync (.+?)(?:\s+#.*)?$/gm,
  )
  const lines = [...named].map(([, inText, inBlock]) => inText ?? inBlock ?? '')
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) {
    const [name, ...words] = line.trim().split(' ')
    const command = program.commands.find((each) => each.name() === name)
    expect(command, line).toBeDefined()
    const { options } = command?.commands.find((each) => each.name() === words[0]) ?? command!
    const known = options.map(({ long }) => long)
    for (const word of words) if (word.startsWith('--')) expect(known, line).toContain(word)
  }
})

test('each alert says how urgent it is, what is wrong and what to do, and has a test', () => {
  const rules = fileText('docs/alerts/collab-sync.rules.yml')
  const alerts = rules.split(/^ {6}- alert: /m).slice(1)
  expect(alerts.length).toBeGreaterThanOrEqual(9)
  for (const alert of alerts) {
    expect(alert).toMatch(/severity: (page|ticket)\n[^]*summary: .+[^]*action: .+/)
    expect(fileText('docs/alerts/collab-sync.rules.test.yml')).toContain(alert.split('\n')[0])
  }
})
