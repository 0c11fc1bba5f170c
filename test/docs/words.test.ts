import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'

/** Words that only we used for something that the field has a term for; CONTRIBUTING.md, Style, says how to write. */

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** What is written instead stands beside each. Public names (`looked_at`, `held.settled`) are in code, which is not read. */
const PHRASES: [RegExp, string][] = [
  [/\bmend(s|ed|ing)?\b/i, 'fix, solve, repair'],
  [/\b(go|goes|went|going) on\b/i, 'continue'],
  [/\blook(s|ed|ing)? (at|after|into)\b/i, 'check, fetch, poll, read'],
  [/\b(tell|tells|told)\b/i, 'show, report, notify, distinguish'],
  [/\b(nobody|somebody|whoever|everybody)\b/i, 'name who: user, operator, caller, worker; no user'],
  [/\bin hand\b/i, 'in progress'],
  [/\b(is|are|was|stays?|while \w+ is) away\b/i, 'unreachable, unavailable'],
  [/\bwell again\b/i, 'resolved, recovered'],
  [/\beverything else is in\b/i, 'everything else was written'],
  [/\b(sweep|sweeps|swept)\b/i, 'full pass; recovery'],
  [/\banew\b/i, 'again, from the beginning'],
  [/\b(comes?|coming) again\b/i, 'retry; return'],
  [/\bfurther (members|tries)\b/i, 'additional fields; retries'],
  [/\bnarrowed\b/i, 'scoped (run), limited to'],
  [/\b(usable|full|not) answer\b|\banswered with\b/i, 'response; respond'],
  [/\b(asks?|asked|asking) for\b/i, 'request, call, fetch'],
  [/\b(hears?|heard|hearing)\b/i, 'receive'],
  [/\bsettled?\b/i, 'finished; resolved'],
  [/\bbegin(s|ning)? (afresh|anew)\b/i, 'start again'],
]

const withoutCode = (text: string): string => text.replaceAll(/```[^]*?```|`[^`\n]*`/g, ' ')

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'sql/README.md',
  ...readdirSync(join(ROOT, 'docs')).flatMap((name) =>
    name.endsWith('.md') ? [`docs/${name}`] : [],
  ),
].map((path) => ({ path, text: withoutCode(read(path)) }))

const helps = listCommands(createProgram(() => {})).map((command) => ({
  path: `${command.name()} --help`,
  text: command.helpInformation(),
}))

const TEXTS = /'(?:[^'\\\n]|\\.)* (?:[^'\\\n]|\\.)*'|`[^`]* [^`]*`/g
const TEXTS_OF_PAGES = new RegExp(`${TEXTS.source}|>[^<>{}]* [^<>{}]*<`, 'g')

/** Texts in the sources: string literals that hold a space, and the texts of pages. */
const messages = ['src', 'jobs']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .filter((path) => /\.tsx?$/.test(path) && !path.includes('/statements/'))
  .map((path) => {
    const code = read(path).replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*/g, '')
    const literals = code.match(path.endsWith('.tsx') ? TEXTS_OF_PAGES : TEXTS)
    return { path, text: (literals ?? []).map((each) => each.replaceAll('\n', ' ')).join('\n') }
  })

const texts = [...pages, ...helps, ...messages]

function listCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(listCommands)]
}

describe.each(PHRASES)('%s', (phrase, instead) => {
  test(`is in no page, help or message: ${instead}`, () => {
    const found = texts.flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => phrase.test(line))
        .map((line) => `${path}: ${line.trim().slice(0, 200)}`),
    )
    expect(found).toEqual([])
  })
})
