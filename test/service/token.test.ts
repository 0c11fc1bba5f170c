import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { UsageError } from '../../src/base/errors.ts'
import { Token } from '../../src/core/service/token.ts'

let folder = ''
let tokenFile = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'token-'))
  tokenFile = join(folder, 'token')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the auth token', () => {
  test('from a setting never changes', async () => {
    const token = new Token({ authToken: 't1' })
    expect(token.current()).toBe('t1')
    expect(await token.reread('t1', false)).toBe(false)
  })

  test('from a file is trimmed and read again on demand', async () => {
    writeFileSync(tokenFile, 't1\n')
    const token = new Token({ authTokenFile: tokenFile })
    expect(token.current()).toBe('t1')
    expect(await token.reread('t1', false)).toBe(false)
    writeFileSync(tokenFile, 't2\n')
    expect(token.current()).toBe('t1')
    expect(await token.reread('t1', false)).toBe(true)
    expect(token.current()).toBe('t2')
  })

  test('is read again at most once a second because of calls that were forbidden', async () => {
    writeFileSync(tokenFile, 't1')
    let nowMs = 0
    const token = new Token({ authTokenFile: tokenFile }, () => nowMs)
    expect(await token.reread('t1', true)).toBe(false)
    writeFileSync(tokenFile, 't2')
    nowMs = 999
    expect(await token.reread('t1', true)).toBe(false)
    nowMs = 1000
    expect(await token.reread('t1', true)).toBe(true)
    writeFileSync(tokenFile, 't3')
    expect(await token.reread('t2', true)).toBe(false)
    expect(await token.reread('t2', false)).toBe(true)
  })

  test('many refusals at once all learn of the change, also those that come late', async () => {
    writeFileSync(tokenFile, 't1')
    const token = new Token({ authTokenFile: tokenFile })
    writeFileSync(tokenFile, 't2')
    const learned = await Promise.all(Array.from({ length: 20 }, () => token.reread('t1', false)))
    expect(learned).toEqual(Array.from({ length: 20 }, () => true))
    rmSync(tokenFile)
    expect(await token.reread('t1', false)).toBe(true)
  })

  test.each([' \n', 'a\nb'])(
    'stays the old one while the file holds %j, or is gone',
    async (text) => {
      writeFileSync(tokenFile, 't1')
      const token = new Token({ authTokenFile: tokenFile })
      writeFileSync(tokenFile, text)
      expect(await token.reread('t1', false)).toBe(false)
      rmSync(tokenFile)
      expect(await token.reread('t1', false)).toBe(false)
      expect(token.current()).toBe('t1')
    },
  )

  test('a missing file at the start names the setting', () => {
    const message = `COLLAB_AUTH_TOKEN_FILE: ${tokenFile} cannot be read (ENOENT)`
    expect(() => new Token({ authTokenFile: tokenFile })).toThrow(new UsageError(message))
  })

  test.each(['\n', 'sec\x7fret', 'sec\x1fret', 'secĀret'])(
    'a file that holds %j is refused at the start without its text',
    (text) => {
      writeFileSync(tokenFile, text)
      const open = (): unknown => new Token({ authTokenFile: tokenFile })
      expect(open).toThrow(`COLLAB_AUTH_TOKEN_FILE: ${tokenFile} must hold the auth token`)
      expect(open).not.toThrow(/sec/)
    },
  )

  test.each(['a b\tc', '~', 'Zoë'])('may be %j', (text) => {
    writeFileSync(tokenFile, text)
    expect(new Token({ authTokenFile: tokenFile }).current()).toBe(text)
  })
})
