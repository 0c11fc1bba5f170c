import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** The commands of README.md, with the output that it shows. */

export const README = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8')

/** A command of a block `console`. */
export interface Shown {
  readonly command: string
  /** Matches output of which the README shows a part. */
  readonly output: RegExp
}

/** The section with this heading. */
export function sectionOf(heading: string): string {
  const section = README.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  if (section === undefined) throw new Error(`README.md has no section ${heading}.`)
  return section
}

/** The blocks of a language, without the indentation of the list that they are in. */
export function blocksOf(section: string, language: string): string[] {
  const blocks = section.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'))
  return [...blocks].map(([, indent = '', text = '']) => text.replaceAll(`\n${indent}`, '\n').slice(indent.length)) // prettier-ignore
}

/** The commands of the section's blocks `console`. A command can continue on lines that are indented by four blanks. */
export function shownIn(section: string): Shown[] {
  return blocksOf(section, 'console').flatMap((block) =>
    block.split(/^\$ /m).flatMap((text) => {
      const [, command, output = ''] = /^(.+(?:\n {4}.+)*)\n([^]*)$/.exec(text) ?? []
      return command === undefined ? [] : { command, output: patternOf(output) }
    }),
  )
}

/** The arguments of a command in a shell, without the program and a comment. */
export function argumentsOf(command: string): string[] {
  const [, line = ''] = /^(?:npx collab-sync|node dist\/cli\/main\.js) (.*?)(?:\s+#.*)?$/s.exec(command) ?? [] // prettier-ignore
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
}

/** Runs, times and durations differ. `…` stands for text, and alone on its line for lines. */
const VARIABLE: readonly (readonly [shown: RegExp, pattern: string])[] = [
  [/^ *…$/, '[^]*?'],
  [/…/, '.*'],
  [/(?<=Run )[0-9a-f]{8}\b/, '[0-9a-f]{8}'],
  [/[\d.]+ min [\d.]+ s\b|[\d.]+ m?s\b/, '[\\d.]+ (?:min [\\d.]+ s|m?s)'],
  [/https:\/\/api\.example\.com/, 'http\\S+'],
  [/\d+(?= migrations)/, '\\d+'],
]

function patternOf(output: string): RegExp {
  const shown = new RegExp(VARIABLE.map(([each]) => `(${each.source})`).join('|'), 'gm')
  let pattern = ''
  let end = 0
  for (const match of output.matchAll(shown)) {
    const which = match.slice(1).findIndex((group) => group !== undefined)
    pattern += escaped(output.slice(end, match.index)) + VARIABLE[which]?.[1]
    end = match.index + match[0].length
  }
  return new RegExp(pattern + escaped(output.slice(end).trimEnd()))
}

/** Blanks at the ends of lines, which an editor removes, are optional. */
function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\n', ' *\\n')
}
