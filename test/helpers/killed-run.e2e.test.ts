import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, expect, inject, test } from 'vitest'
import { isBrowserMissing } from '../pages/browser.ts'
import { databasePrefix, onServer } from './database.ts'
import { folderParents, keptElsewhere } from './leftovers.ts'

/**
 * What a whole run leaves that is killed at once, and the next run removes: databases, servers, browsers, folders. Keys
 * of Redis and processes that do not listen are in `leftovers.pg.test.ts`.
 */

const ROOT = resolve(import.meta.dirname, '../..')
const isRoot = process.getuid?.() === 0

const runs: ChildProcess[] = []
afterEach(() => {
  for (const run of runs.splice(0)) run.kill('SIGKILL')
})

/** Starts a run of a part of the tests as people do. */
function start(parts: string[], databaseUrl?: string): ChildProcess {
  const {
    VITEST: _,
    VITEST_WORKER_ID: __,
    TEST: ___,
    NODE_OPTIONS: ____,
    ...environment
  } = process.env
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const config = ['--config', join(ROOT, 'test/vitest.config.ts')]
  const run = spawn(process.execPath, [vitest, 'run', ...config, ...parts], {
    cwd: ROOT,
    env: { ...environment, TEST_DATABASE_URL: databaseUrl ?? '' },
    stdio: 'ignore',
  })
  runs.push(run)
  return run
}

/** `kill -9` of the process that the terminal knows, and of nothing that it started; the folder that it leaves. */
async function kill(run: ChildProcess): Promise<string> {
  const ended = once(run, 'exit')
  run.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
  const folders = foldersOf(run)
  expect(folders).toHaveLength(1)
  return folders[0] as string
}

function foldersOf(run: ChildProcess): string[] {
  return folderParents().flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => name.startsWith(`collab-sync-test-${run.pid}-`))
      .map((name) => join(parent, name)),
  )
}

/** Command lines of processes that stand in a place, or name it. */
function processesIn(places: readonly string[]): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        const told = `${line} ${readlinkSync(`/proc/${pid}/cwd`)}`
        return places.some((place) => told.includes(place)) ? [line] : []
      } catch {
        return []
      }
    })
}

/** Databases of runs within this one. */
async function databases(): Promise<string[]> {
  const { rows } = await onServer((server) =>
    server.query<{ datname: string }>(
      `select datname from pg_database where datname ~ '^cs_test_[0-9a-f]{8}_[0-9a-f]{10}$'
        and not starts_with(datname, $1)`,
      [databasePrefix()],
    ),
  )
  return rows.map(({ datname }) => datname)
}

test.skipIf(process.platform !== 'linux' || isBrowserMissing())(
  'a run that is killed leaves nothing that the next one does not remove',
  async () => {
    const browsing = start(['test/pages/pages.e2e', '-t', 'signs in'], inject('postgresUrl'))
    await expect
      .poll(() => processesIn(foldersOf(browsing)).join('\n'), { timeout: 150_000 })
      .toMatch(/chrom/)
    const [database = ''] = await databases()
    expect(database).not.toBe('')
    const left = [await kill(browsing)]

    const word = isRoot ? 'keeps its data outside' : 'is shared by two'
    const serving = start(['test/embedded/processes', '-t', word])
    const kept = () => foldersOf(serving).flatMap(keptElsewhere)
    await expect
      .poll(() => (isRoot ? kept() : []).concat(processesIn(foldersOf(serving))).join('\n'), {
        timeout: 150_000,
        interval: 10,
      })
      .toMatch(isRoot ? /^\/var\/lib/ : /postgres/)
    left.push(...kept(), await kill(serving))

    const [code] = await once(start(['test/format.test.ts'], inject('postgresUrl')), 'exit')
    expect(code).toBe(0)
    expect(left.filter((place) => existsSync(place))).toEqual([])
    expect(processesIn(left)).toEqual([])
    expect(await databases()).not.toContain(database)
  },
)
