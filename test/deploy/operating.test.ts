import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { fileText } from './yaml-files.ts'

const page = fileText('docs/OPERATING.md')
const program = createProgram(() => {})

/** What stands behind `collab-sync`, wherever the page names a command. */
const named = [...page.matchAll(/`collab-sync ([^`]+)`|^collab-sync (.+)$/gm)].map(
  ([, inText, inBlock]) => (inText ?? inBlock ?? '').replace(/\s+#.*$/, '').trim(),
)

describe('docs/OPERATING.md', () => {
  test('names commands', () => {
    expect(named.length).toBeGreaterThan(15)
  })

  test.each([...new Set(named)])('collab-sync %s is a command with these options', (line) => {
    const [name = '', ...words] = line.split(' ')
    let command = program.commands.find((each) => each.name() === name)
    expect(command, name).toBeDefined()
    const [second] = words
    command = command?.commands.find((each) => each.name() === second) ?? command
    const options = words.filter((word) => word.startsWith('--'))
    expect(longOptions(command)).toEqual(expect.arrayContaining(options))
  })
})

function longOptions(command: Command | undefined): (string | undefined)[] {
  return command?.options.map(({ long }) => long) ?? []
}
