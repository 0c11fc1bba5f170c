import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import fs, { open, readFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { EnvironmentError, UsageError } from '../../src/base/errors.ts'
import { writeTarget } from '../../src/features/export/target.ts'
import { writeAll } from '../../src/features/export/text.ts'
import { ownFolder } from '../helpers/own-folder.ts'

type Refusing = Partial<Record<'chmod' | 'sync' | 'rename', () => Promise<void>>>

let directory: string
let path: string
let warnings: string[]
beforeEach(() => {
  directory = ownFolder()
  path = join(directory, 'out.csv')
  warnings = []
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

function refuse(code: string) {
  return () => Promise.reject(Object.assign(new Error(`${code}: refused`), { code }))
}

/** Writes to `path` on a file system that refuses some calls. */
async function write({ rename, ...calls }: Refusing = {}): Promise<void> {
  const handle = await open('/dev/null')
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  for (const name of ['chmod', 'sync'] as const)
    if (calls[name]) vi.spyOn(prototype, name).mockImplementation(calls[name])
  if (rename) vi.spyOn(fs, 'rename').mockImplementation(rename)
  syncBuiltinESMExports()
  const onWarning = (sentence: string) => warnings.push(sentence)
  await writeTarget(path, onWarning, (out) => writeAll(out, 'all of it'))
}

function writePrevious(mode: number): void {
  writeFileSync(path, 'previous content, and longer')
  chmodSync(path, mode)
}

const NO_MODE = 'has the mode 0600 instead of 0640: its file system does not keep modes.'
const IN_PLACE =
  'cannot be replaced (EBUSY), so it is overwritten in place: an interruption leaves it incomplete.'

test.each<[mode: number, of: Refusing, warnings: string[]]>([
  [0o600, { chmod: refuse('EPERM') }, []],
  [0o640, { chmod: refuse('ENOTSUP') }, [NO_MODE]],
  [0o640, { chmod: async () => {} }, [NO_MODE]],
  [0o640, { sync: refuse('EINVAL') }, []],
  [0o640, { sync: refuse('EISDIR') }, []],
  [0o640, { rename: refuse('EBUSY') }, [IN_PLACE]],
])('a refusal does not stop the export of a file of mode %i: %j', async (mode, of, expected) => {
  writePrevious(mode)
  const { ino } = statSync(path)
  await write(of)
  expect(readFileSync(path, 'utf8')).toBe('all of it')
  expect(readdirSync(directory)).toEqual(['out.csv'])
  expect(warnings).toEqual(expected.map((sentence) => `The file ${path} ${sentence}`))
  expect(statSync(path).ino === ino).toBe(of.rename !== undefined)
})

test.each<[code: string, of: Refusing]>([
  ['EIO', { chmod: refuse('EIO') }],
  ['ENOSPC', { sync: refuse('ENOSPC') }],
  ['EROFS', { rename: refuse('EROFS') }],
])('an error %s stops the export, and the previous file stays', async (code, of) => {
  writePrevious(0o640)
  await expect(write(of)).rejects.toThrow(
    new EnvironmentError(`The file ${path} could not be written (${code}).`),
  )
  expect(readFileSync(path, 'utf8')).toContain('previous')
  expect(readdirSync(directory)).toEqual(['out.csv'])
  expect(warnings).toEqual([])
})

test('an error in syncing a file that was overwritten in place stops the export', async () => {
  writePrevious(0o640)
  let syncs = 0
  const sync = async () => void ((syncs += 1) === 2 && (await refuse('EIO')()))
  const writing = write({ rename: refuse('EBUSY'), sync })
  await expect(writing).rejects.toThrow(`The file ${path} could not be written (EIO).`)
})

test('an export that fails leaves the previous file and no other', async () => {
  writePrevious(0o640)
  const failing = writeTarget(path, () => {}, refuse('22012'))
  await expect(failing).rejects.toThrow('22012: refused')
  expect(readFileSync(path, 'utf8')).toContain('previous')
  expect(readdirSync(directory)).toEqual(['out.csv'])
})

test('a new file is readable only by its owner, whatever the umask', async () => {
  const before = process.umask(0)
  try {
    await write()
  } finally {
    process.umask(before)
  }
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a file that is replaced keeps its mode, and a symbolic link to it stays', async () => {
  writePrevious(0o640)
  const link = join(directory, 'latest')
  symlinkSync('out.csv', link)
  await writeTarget(
    link,
    () => {},
    (out) => writeAll(out, 'all of it'),
  )
  expect(readlinkSync(link)).toBe('out.csv')
  expect(readFileSync(path, 'utf8')).toBe('all of it')
  expect(statSync(path).mode & 0o777).toBe(0o640)
})

describe('a device or a FIFO is written directly and stays', () => {
  test('a FIFO, also after an export that fails', async () => {
    execFileSync('mkfifo', [path])
    const [text] = await Promise.all([readFile(path, 'utf8'), write()])
    expect(text).toBe('all of it')
    const failing = writeTarget(path, () => {}, refuse('22012'))
    await Promise.all([readFile(path), expect(failing).rejects.toThrow('22012: refused')])
    expect(lstatSync(path).isFIFO()).toBe(true)
  })

  test('a full device is named', async () => {
    symlinkSync('/dev/full', path)
    await expect(write()).rejects.toThrow(`The file ${path} could not be written (ENOSPC).`)
    expect(statSync(path).isCharacterDevice()).toBe(true)
  })
})

test.each(['EISDIR', 'ENOENT'])('a path that cannot be a file is refused: %s', async (code) => {
  path = code === 'EISDIR' ? directory : join(directory, 'none', 'out.csv')
  await expect(write()).rejects.toThrow(
    new UsageError(`The file ${path} cannot be written (${code}).`),
  )
})
