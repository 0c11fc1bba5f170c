import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { CurrentCredentials } from '../../src/core/service/credentials.ts'
import { ownFolder } from '../helpers/own-folder.ts'

let folder = ''
let file = ''
beforeEach(() => {
  folder = ownFolder()
  file = join(folder, 'file')
})

test('values of settings never change', async () => {
  const files = new CurrentCredentials({ apiKey: 'k1', authToken: 't1' })
  const before = files.get()
  expect(before).toEqual({ apiKey: 'k1', authToken: 't1' })
  expect(await files.reread(before, false)).toBe(false)
  expect(files.get()).toBe(before)
})

test('a key and a token that changed together are one change', async () => {
  const keyFile = join(folder, 'key')
  const at = { apiKeyFile: keyFile, authTokenFile: file }
  const files = new CurrentCredentials({ apiKey: 'k1', authToken: 't1', ...at })
  writeFileSync(keyFile, 'k2')
  writeFileSync(file, 't2')
  expect(await files.reread(files.get(), false)).toBe(true)
  expect(files.get()).toEqual({ apiKey: 'k2', authToken: 't2' })
})

describe.each(['apiKey', 'authToken'] as const)('the file of %s', (member) => {
  const other = { apiKey: 'other', authToken: 'other' }
  const open = (now?: () => number) =>
    new CurrentCredentials({ ...other, [member]: 's1', [`${member}File`]: file }, now)

  test('is read again on demand, and trimmed', async () => {
    writeFileSync(file, 's1')
    const files = open()
    const before = files.get()
    expect(before).toEqual({ ...other, [member]: 's1' })
    expect(await files.reread(before, false)).toBe(false)
    writeFileSync(file, Buffer.from('\uFEFFs2\r\n', 'utf16le'))
    expect(files.get()).toBe(before)
    expect(await files.reread(before, false)).toBe(true)
    expect(files.get()).toEqual({ ...other, [member]: 's2' })
  })

  test('is read again at most once a second because of calls that were forbidden', async () => {
    writeFileSync(file, 's1')
    let nowMs = 0
    const files = open(() => nowMs)
    const first = files.get()
    expect(await files.reread(first, true)).toBe(false)
    writeFileSync(file, 's2')
    nowMs = 999
    expect(await files.reread(first, true)).toBe(false)
    nowMs = 1000
    expect(await files.reread(first, true)).toBe(true)
    writeFileSync(file, 's3')
    const second = files.get()
    expect(await files.reread(second, true)).toBe(false)
    expect(await files.reread(second, false)).toBe(true)
  })

  test('many refusals at once all learn of the change, also those that come late', async () => {
    writeFileSync(file, 's1')
    const files = open()
    const first = files.get()
    writeFileSync(file, 's2')
    const learned = await Promise.all(Array.from({ length: 20 }, () => files.reread(first, false)))
    expect(learned).toEqual(Array.from({ length: 20 }, () => true))
    rmSync(file)
    expect(await files.reread(first, false)).toBe(true)
  })

  test.each([' \n', 'a\nb', 'sec\x7fret', 'secĀret'])(
    'leaves what was read while it holds %j, or is gone',
    async (text) => {
      writeFileSync(file, 's1')
      const files = open()
      const first = files.get()
      writeFileSync(file, text)
      expect(await files.reread(first, false)).toBe(false)
      rmSync(file)
      expect(await files.reread(first, false)).toBe(false)
      expect(files.get()).toBe(first)
    },
  )
})
