import { chmodSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EnvironmentError } from '../../src/base/errors.ts'
import { openTarget, writeAll } from '../../src/features/export/target.ts'
import type { FileCalls } from '../../src/features/export/target.ts'

/** File systems that refuse a step of an export. The calls that are not refused are real. */

let directory: string
let path: string
let warnings: string[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'target-'))
  path = join(directory, 'out.csv')
  warnings = []
})
afterEach(() => rmSync(directory, { recursive: true }))

const refuse = (code: string) => () =>
  Promise.reject(Object.assign(new Error(`${code}: refused`), { code }))

async function write(refusing: Partial<FileCalls>): Promise<void> {
  const calls: FileCalls = {
    setMode: (file, mode) => file.chmod(mode),
    sync: (handle) => handle.sync(),
    rename,
    ...refusing,
  }
  const target = await openTarget(path, (sentence) => warnings.push(sentence), calls)
  try {
    await writeAll(target.out, 'all of it')
    await target.complete()
  } catch (error) {
    throw await target.abandon(error)
  }
}

describe('a refusal that ends no export', () => {
  afterEach(() => {
    expect(readFileSync(path, 'utf8')).toBe('all of it')
    expect(readdirSync(directory)).toEqual(['out.csv'])
  })

  test('of the mode, where the file has it already', async () => {
    await write({ setMode: refuse('EPERM') })
    expect(warnings).toEqual([])
  })

  test.each([['refused', refuse('ENOTSUP')] as const, ['ignored', async () => {}] as const])(
    'of the mode of the file before, %s: a warning says which it has',
    async (_, setMode) => {
      writeFileSync(path, 'of before')
      chmodSync(path, 0o640)
      await write({ setMode })
      expect(warnings).toEqual([
        `The file ${path} has the mode 0600 and not 0640: its file system does not keep modes.`,
      ])
    },
  )

  test('of syncing files', async () => {
    await write({ sync: refuse('EINVAL') })
    expect(warnings).toEqual([])
  })

  test('of syncing directories', async () => {
    await write({
      sync: async (handle) => {
        if ((await handle.stat()).isDirectory()) await refuse('EISDIR')()
      },
    })
    expect(warnings).toEqual([])
  })

  test('of replacing the file: it is overwritten, with a warning', async () => {
    writeFileSync(path, 'of before, and longer than what comes after it')
    const { ino } = statSync(path)
    await write({ rename: refuse('EBUSY') })
    expect(statSync(path).ino).toBe(ino)
    expect(warnings).toEqual([
      `The file ${path} cannot be replaced (EBUSY), so it is overwritten in place: an interruption leaves it incomplete.`,
    ])
  })
})

describe('a refusal that ends the export with a sentence, and leaves the file of before', () => {
  test.each([
    ['the mode', { setMode: refuse('EIO') }, 'EIO'],
    ['syncing', { sync: refuse('ENOSPC') }, 'ENOSPC'],
    ['replacing the file', { rename: refuse('EROFS') }, 'EROFS'],
  ])('%s', async (_, refusing, code) => {
    writeFileSync(path, 'of before')
    await expect(write(refusing)).rejects.toThrow(
      new EnvironmentError(`The file ${path} could not be written (${code}).`),
    )
    expect(readFileSync(path, 'utf8')).toBe('of before')
    expect(readdirSync(directory)).toEqual(['out.csv'])
    expect(warnings).toEqual([])
  })

  test('syncing the copy, after replacing the file', async () => {
    let syncs = 0
    const sync = async () => void ((syncs += 1) === 2 && (await refuse('EIO')()))
    await expect(write({ rename: refuse('EBUSY'), sync })).rejects.toThrow(
      `The file ${path} could not be written (EIO).`,
    )
  })
})

test('a device that is full is named', async () => {
  path = '/dev/full'
  await expect(write({})).rejects.toThrow('The file /dev/full could not be written (ENOSPC).')
})
