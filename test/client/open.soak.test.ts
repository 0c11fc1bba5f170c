import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { openCollabSync } from '../../src/client/open-collab-sync.ts'
import { EnvironmentError } from '../../src/base/errors.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { RunningWorker } from '../../src/worker/worker.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand } from '../cli/built-command.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import { isMissing, openLive, QUEUE_KINDS } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { randomPrefix, redisUrl } from '../helpers/redis.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8').trim()
const EXAMPLE = read('test/client/example.ts')

describe('the example', () => {
  test('is what the docstring shows', () => {
    const source = read('src/client/open-collab-sync.ts')
    expect(blocksOf(source.replaceAll(/^ \* ?/gm, ''))).toEqual([EXAMPLE])
  })

  test('is what docs/PROGRAMS.md shows', () => {
    const shown = blocksOf(read('docs/PROGRAMS.md'))
    expect(shown).toContain(EXAMPLE)
  })
})

describe.each(QUEUE_KINDS)('a program with the queue on %s', (kind) => {
  let built: BuiltCommand
  let live: Live
  let worker: RunningWorker
  let environment: Record<string, string>

  beforeAll(async () => {
    built = await buildCommand()
  })
  beforeEach(async (context) => {
    if (isMissing(kind)) return context.skip()
    const prefix = randomPrefix()
    live = await openLive(kind, { settings: { QUEUE_PREFIX: prefix } })
    await live.importCatalog()
    worker = await startWorker(await live.openApp(), jobs, { keepsSchedule: false })
    environment = {
      DATABASE_URL: live.database.url,
      QUEUE_PREFIX: prefix,
      ...(kind === 'redis' ? { REDIS_URL: redisUrl() as string } : {}),
    }
  })
  afterEach(async () => {
    await worker?.stop()
  })

  test('that does as the example follows its run to the end, and ends by itself once it has closed', async () => {
    const [organizationId = ''] = live.world.organizationIds()
    const program = join(built.directory, 'example.mjs')
    await writeFile(program, EXAMPLE.replaceAll('acme', organizationId))
    const env = { PATH: process.env['PATH'], ...environment }
    const { stdout, stderr } = await run(process.execPath, [program], { cwd: built.directory, env })
    const lines = stdout.trim().split('\n')
    expect(lines.at(-1)).toMatch(/^succeeded: (\d+) of \1 scopes$/)
    expect(stderr).toBe('')
    const again = await run(process.execPath, [program], { cwd: built.directory, env })
    expect(again.stdout.trim()).toBe(lines.at(-1))
  })
})

describe('opening', () => {
  test('says where PostgreSQL or Redis is away, without a password', async () => {
    const away = openCollabSync({
      environment: { DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/nothing' },
    })
    await expect(away).rejects.toThrow(EnvironmentError)
    await expect(away).rejects.toThrow(/^PostgreSQL at 127\.0\.0\.1:1, database nothing: nothing/)
    await expect(away).rejects.not.toThrow('hunter2')
  })

  test('says that the tables are missing, and that the queue is away', async () => {
    const database = await createEmptyDatabase()
    const environment = { DATABASE_URL: database.url, REDIS_URL: 'redis://127.0.0.1:1' }
    await expect(openCollabSync({ environment })).rejects.toThrow(/no tables of collab-sync yet/)
    await database.drop()
    const live = await openLive('postgres')
    const queueAway = { ...environment, DATABASE_URL: live.database.url }
    await expect(openCollabSync({ environment: queueAway })).rejects.toThrow(EnvironmentError)
    await expect(openCollabSync({ environment: queueAway })).rejects.toThrow(
      /^Redis cannot be used/,
    )
    await live.close()
  })
})

/** TypeScript blocks of a text in Markdown. */
function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block = '']) => block.trim())
}
