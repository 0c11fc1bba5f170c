import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { packagedDirectory } from '../../src/worker/embedded/binaries.ts'
import { homeError } from '../../src/worker/embedded/home.ts'
import { canTraverse, restrictDataDirectory } from '../../src/worker/embedded/server-directory.ts'
import { boundLog, logSince } from '../../src/worker/embedded/server-files.ts'
import { EnvironmentError, UsageError } from '../../src/base/errors.ts'
import { temporaryDirectory } from './machine.ts'

let directory: string

beforeEach(() => {
  directory = temporaryDirectory()
})

it('names DATABASE_URL where the package has no programs for the platform', () => {
  const find = () => packagedDirectory('linux', 's390x')
  expect(find).toThrow(UsageError)
  expect(find).toThrow(
    /no embedded PostgreSQL for linux on s390x.*DATABASE_URL.*\(the demo needs the embedded one\)/,
  )
})

it('tells a full disk from a home that is not ours to write', () => {
  const full = homeError('/data/home', { code: 'ENOSPC' })
  expect(full).toBeInstanceOf(EnvironmentError)
  expect(full.message).toMatch(/disk of COLLAB_SYNC_HOME \(\/data\/home\) is full/)
  expect(homeError('/data/home', { code: 'EROFS' })).toBeInstanceOf(UsageError)
})

it('finds the one directory on the way that an account may not pass through', async () => {
  const nobody = { uid: 65_534, gid: 65_534 }
  const inner = join(directory, 'closed', 'open')
  mkdirSync(inner, { recursive: true })
  chmodSync(inner, 0o755)
  chmodSync(join(directory, 'closed'), 0o700)
  expect(await canTraverse(inner, nobody)).toBe(false)
  chmodSync(join(directory, 'closed'), 0o701)
  expect(await canTraverse(inner, nobody)).toBe(true)
})

describe('a data directory', () => {
  const uid = process.getuid?.()
  const modeAfter = async (mode: number, server = uid) => {
    chmodSync(directory, mode)
    await restrictDataDirectory(directory, server)
    return statSync(directory).mode & 0o7777
  }

  it('loses the rights with which PostgreSQL refuses to start, and no other', async () => {
    expect(await modeAfter(0o2770)).toBe(0o2750)
    expect(await modeAfter(0o755)).toBe(0o750)
    expect(await modeAfter(0o750)).toBe(0o750)
    expect(await modeAfter(0o700)).toBe(0o700)
  })

  it('keeps its mode where it belongs to another user', async () => {
    expect(await modeAfter(0o770, Number(uid) + 1)).toBe(0o770)
  })

  it('whose file system does not keep modes is named with chmod', async () => {
    const refused = restrictDataDirectory('/proc/self', uid)
    await expect(refused).rejects.toThrow(EnvironmentError)
    await expect(refused).rejects.toThrow(
      /rights on \/proc\/self \(mode 0555\).*\(EPERM\): run chmod g-w,o-rwx \/proc\/self, or/,
    )
  })
})

describe('the log', () => {
  it('is emptied in place once it is too long, and its content kept once', async () => {
    const file = join(directory, 'postgres.log')
    writeFileSync(file, 'x'.repeat(100))
    await boundLog(file, 100)
    expect(readFileSync(file, 'utf8')).toHaveLength(100)
    appendFileSync(file, 'y')
    await boundLog(file, 100)
    expect(readFileSync(file, 'utf8')).toBe('')
    expect(readFileSync(`${file}.1`, 'utf8')).toBe(`${'x'.repeat(100)}y`)
  })

  it('is read from where a start began, and only its end when that is long', async () => {
    const file = join(directory, 'postgres.log')
    writeFileSync(file, 'old\nnew\n')
    expect(await logSince(file, 4)).toBe('new')
    writeFileSync(file, `${'a'.repeat(10_000)}end`)
    const told = await logSince(file, 0)
    expect(told.length).toBeLessThan(5_000)
    expect(told.endsWith('aend')).toBe(true)
  })
})
