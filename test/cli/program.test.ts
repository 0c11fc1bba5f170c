import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { table } from '../../src/cli/table.ts'

/** What belongs to every command, so that nothing of a new one is forgotten. */

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs')).flatMap((name) =>
    name.endsWith('.md') ? [`docs/${name}`] : [],
  ),
]
const commands = createProgram(() => {}).commands

/** They print nothing but their log, what another program prints, or a document a line. */
const WITHOUT_JSON = new Set(['worker', 'serve', 'psql', 'changes'])

describe.each(commands.map((command) => ({ name: command.name(), command })))(
  '$name',
  ({ name, command }) => {
    test('has a summary and a description, and takes --json', () => {
      expect(command.summary()).not.toBe('')
      expect(command.description()).not.toBe('')
      for (const each of command.commands.length > 0 ? command.commands : [command]) {
        expect(each.description(), each.name()).not.toBe('')
        const takesJson = each.options.some(({ long }) => long === '--json')
        expect(takesJson, each.name()).toBe(!WITHOUT_JSON.has(name))
      }
    })

    test('is in the changelog, and somebody can read how to use it', () => {
      expect(read('CHANGELOG.md')).toMatch(new RegExp('`(collab-sync )?' + name + '\\b'))
      const use = new RegExp(`collab-sync ${name}\\b|npm run ${name}\\b|\`${name}\\b`)
      expect(PAGES.some((page) => use.test(read(page)))).toBe(true)
    })
  },
)

test('every module of src/cli/commands is loaded by a command', () => {
  const declared = ['program', 'operator-commands', 'data-commands', 'catalog-commands']
    .map((name) => read(`src/cli/${name}.ts`))
    .join('\n')
  const modules = readdirSync(join(ROOT, 'src/cli/commands'))
  expect(modules.filter((name) => !declared.includes(`./commands/${name}`))).toEqual([])
})

test('a long cell is wrapped between words, and nothing of it is lost', () => {
  const message = 'Get Users of organizationId "acme" failed: HTTP 501, Unsupported method'
  const lines = table<string>(
    [
      ['n', () => '1'],
      ['message', (text) => text, 'wrapped', 30],
    ],
    [message],
  ).split('\n')
  expect(lines.length).toBeGreaterThan(3)
  const cells = lines.slice(1).map((line) => line.slice(3).trim())
  expect(cells.filter((cell) => cell !== '').join(' ')).toBe(message)
})
