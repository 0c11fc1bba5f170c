import { expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { SETTING_LIST } from '../../src/settings/table.ts'
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

test('each unit of systemd runs a command, with the secrets that it uses, and not again after exit code 2', () => {
  const folder = 'docs/deploy/systemd'
  const shared = fileText(`${folder}/collab-sync-.service.d/common.conf`)
  const secrets = SETTING_LIST.flatMap(({ setting }) => ('secret' in setting ? [setting.name] : []))
  const service = ['COLLAB_API_KEY', 'COLLAB_AUTH_TOKEN', 'DATABASE_URL']
  const uses = { worker: service, serve: ['DATABASE_URL', 'HTTP_TOKEN'], run: service }
  const commands = createProgram(() => {}).commands.map((command) => command.name())
  for (const [command, used] of Object.entries(uses)) {
    const unit = shared + fileText(`${folder}/collab-sync-${command}.service`)
    expect(commands).toContain(command)
    expect(unit).toContain(`\nExecStart=collab-sync ${command}\n`)
    const files = [...unit.matchAll(/(\w+)_FILE=%d\/([\w-]+)/g)]
    expect(files.map(([, name]) => name).sort()).toEqual(used)
    expect(secrets).toEqual(expect.arrayContaining(used))
    for (const [, , file] of files)
      expect(unit).toContain(`\nLoadCredential=${file}:/etc/collab-sync/${file}\n`)
    expect(unit.includes('\nRestart=always\n')).toBe(command !== 'run')
    expect(unit.includes('\nRestartPreventExitStatus=2\n')).toBe(command !== 'run')
  }
})
