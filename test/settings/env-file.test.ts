import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseByDotenv } from 'dotenv'
import { describe, expect, test } from 'vitest'
import { decodeText } from '../../src/base/secret-file.ts'
import { parseEnvFile } from '../../src/settings/env-file.ts'
import { ownFolder } from '../helpers/own-folder.ts'

const directory: string = ownFolder()

const encoded = (text: string, encoding: 'utf8' | 'utf16le' = 'utf8') => Buffer.from(text, encoding)
const valueOf = (text: string) => parseEnvFile(encoded(text)).values['V']

/** What a shell makes of a file; undefined where it ends with an error, or runs a part of the line as a command. */
function byShell(text: string): string | undefined {
  const file = join(directory, 'env')
  writeFileSync(file, text)
  try {
    const script = `set -e; . "$0"; printf %s "$V"`
    return execFileSync('sh', ['-c', script, file], { encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return undefined
  }
}

test.each([
  ['V=abc', 'abc'],
  ['export V=abc', 'abc'],
  ['  V=abc  ', 'abc'],
  ['V=abc # comment', 'abc'],
  ["V='a b' # comment", 'a b'],
  ['V= #none yet', ''],
  ['V=\t# none yet', ''],
  ['V="a b"', 'a b'],
  ['V=', ''],
  ["V=''", ''],
  ['V=one\nV=two', 'two'],
  ['V="one\ntwo"', 'one\ntwo'],
  [`V='$A #1 "\\n" \\ \`x\`'`, '$A #1 "\\n" \\ `x`'],
])('%j is read as a shell and dotenv do', (text, value) => {
  expect(valueOf(text)).toBe(value)
  expect(byShell(text)).toBe(value)
  expect(parseByDotenv(text)['V']).toBe(value)
})

test.each([
  // Our value, that of a shell, that of dotenv.
  ['V=abc#1', 'abc#1', 'abc#1', 'abc'],
  ['V=#abc', '#abc', '#abc', ''],
  ['V="a\\"b\\\\c\\$d"', 'a"b\\c$d', 'a"b\\c$d', 'a\\"b\\\\c\\$d'],
  ['V="a\\nb"', 'a\nb', 'a\\nb', 'a\nb'],
  ['V=a b', 'a b', undefined, 'a b'],
  ['V = abc', 'abc', undefined, 'abc'],
  ['V: abc', 'abc', undefined, 'abc'],
  ['V=a$HOME', 'a$HOME', `a${process.env['HOME']}`, 'a$HOME'],
  ['V="a$HOME"', 'a$HOME', `a${process.env['HOME']}`, 'a$HOME'],
  ['V=a\\b', 'a\\b', 'ab', 'a\\b'],
])('%j is read as %j, by a shell as %j, by dotenv as %j', (text, ours, shell, dotenv) => {
  expect(valueOf(text)).toBe(ours)
  expect(byShell(text)).toBe(shell)
  expect(parseByDotenv(text)['V']).toBe(dotenv)
})

describe('a line that cannot be read has its number', () => {
  test.each([
    ['a blank in place of =', 'COLLAB_API_KEY "k"'],
    ['a quote that does not end', 'V="abc'],
    ['a text after the quote', 'V="abc" def'],
    ['the rest of a value', 'eyJhbGciOi'],
    ['bytes that are not UTF-8', Buffer.from('V=caf\xe9', 'latin1')],
    ['NULs', 'V=a\0b'],
  ])('%s', (_, line) => {
    const before = 'A="one\ntwo"\r\n# comment\n\nNAME\nexport OTHER\n'
    const bytes = Buffer.concat([encoded(before), Buffer.from(line), encoded('\nB=1\n')])
    expect(parseEnvFile(bytes)).toEqual({ values: { A: 'one\ntwo', B: '1' }, unread: [7] })
  })

  test('but a comment may be in any encoding', () => {
    expect(parseEnvFile(Buffer.from('# caf\xe9\nV=1', 'latin1'))).toEqual({
      values: { V: '1' },
      unread: [],
    })
  })
})

test.each([
  ['UTF-8', encoded('V=é')],
  ['UTF-8 with a mark', encoded('\uFEFFV=é')],
  ['UTF-16LE', encoded('V=é', 'utf16le')],
  ['UTF-16LE with a mark', encoded('\uFEFFV=é', 'utf16le')],
  ['UTF-16BE', encoded('V=é', 'utf16le').swap16()],
  ['UTF-16BE with a mark', encoded('\uFEFFV=é', 'utf16le').swap16()],
])('%s is read', (_, bytes) => {
  expect(parseEnvFile(bytes)).toEqual({ values: { V: 'é' }, unread: [] })
})

test('an empty file is an empty text', () => {
  expect(decodeText(new Uint8Array())).toBe('')
})
