import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { startOf } from '../../src/embedded/leases.ts'
import { onServer } from './database.ts'
import {
  deleteKeys,
  dropDatabases,
  folderName,
  newRunId,
  ownDatabases,
  ownKeys,
  removeFolder,
  removeFolders,
} from './leftovers.ts'
import { redisUrl } from './redis.ts'

let directory: string
let children: ChildProcess[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leftovers-'))
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

/** A process that stands in a folder and does not end by itself. */
async function processIn(
  folder: string,
  code = 'setInterval(() => {}, 1e6)',
): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', `${code}; console.log('ready')`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  children.push(child)
  await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  return child
}

test('databases of a run that was killed are dropped, those of one that goes on stay', async () => {
  const [live, killed] = [newRunId(), newRunId()]
  const names = [live, killed].map((id) => `cs_test_${id}_of_a_test`)
  const owner = new pg.Client(inject('postgresUrl'))
  await owner.connect()
  await ownDatabases(owner, live)
  await onServer(async (server) => {
    const left = async () => {
      const asked = 'select datname from pg_database where datname = any($1)'
      const { rows } = await server.query(asked, [names])
      return rows.map(({ datname }) => datname)
    }
    for (const name of names) await server.query(`create database ${name} template template0`)
    const dropped = await dropDatabases(server)
    expect(dropped).toContain(names[1])
    expect(await left()).toEqual([names[0]])
    // The run that these tests belong to goes on as well.
    expect(dropped.filter((name) => name.includes(inject('runId')))).toEqual([])
    await owner.end()
    await expect.poll(async () => (await dropDatabases(server), left())).toEqual([])
  })
})

test.skipIf(!redisUrl())('so are the keys in Redis', async () => {
  const [live, killed] = [newRunId(), newRunId()]
  const keys = [`test-${live}-a:x`, `bull:test-${live}-a`, `test-${killed}-a:x`, 'test-other:x']
  const redis = new Redis(redisUrl() as string)
  const owner = await ownKeys(redisUrl() as string, live)
  const left = async () => {
    const values = await redis.mget(keys)
    return keys.filter((_, index) => values[index] !== null)
  }
  try {
    for (const key of keys) await redis.set(key, '1')
    expect(await deleteKeys(redis)).toBeGreaterThan(0)
    expect(await left()).toEqual([keys[0], keys[1], keys[3]])
    owner.disconnect()
    await expect.poll(async () => (await deleteKeys(redis), left())).toEqual([keys[3]])
  } finally {
    await redis.del(keys)
    redis.disconnect()
    owner.disconnect()
  }
})

test('a folder goes with what runs in it once its owner is gone, and not before', async () => {
  const owner = await processIn(directory)
  const pid = owner.pid as number
  const folder = join(directory, folderName(pid, (await startOf(pid)) ?? ''))
  mkdirSync(join(folder, 'below'), { recursive: true })
  const left = await processIn(join(folder, 'below'))
  const reused = join(directory, folderName(pid, 'another start'))
  mkdirSync(reused)
  expect(await removeFolders(directory)).toEqual([reused])
  expect(left.exitCode ?? left.signalCode).toBe(null)
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  const ended = once(left, 'exit')
  expect(await removeFolders(directory)).toEqual([folder])
  expect(await ended).toEqual([null, 'SIGTERM'])
  expect(existsSync(folder)).toBe(false)
})

test('what stands still or does not listen is ended too', async () => {
  const folder = join(directory, 'of-a-run')
  mkdirSync(folder)
  const frozen = await processIn(folder)
  frozen.kill('SIGSTOP')
  const deaf = await processIn(
    folder,
    `process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6)`,
  )
  const ends = [frozen, deaf].map((child) => once(child, 'exit'))
  await removeFolder(folder)
  expect((await Promise.all(ends)).map(([, signal]) => signal)).toEqual(['SIGTERM', 'SIGKILL'])
})
