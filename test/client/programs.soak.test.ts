import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { onServer, urlWith } from '../helpers/database.ts'
import { installPacked } from '../helpers/installed.ts'
import type { Installed } from '../helpers/installed.ts'
import { QUEUE_KINDS, isMissing, openLoaded, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { firstPlace } from '../helpers/places.ts'
import { randomPrefix } from '../helpers/redis.ts'
import { until } from '../helpers/until.ts'

/** Each block of docs/PROGRAMS.md but the last, which programs.test.ts in test/docs runs, with the package as installed from its tarball. */

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/PROGRAMS.md'), 'utf8')
const BLOCKS = [...PAGE.matchAll(/^```(?:ts|js|sh|sql)\n(.*?)^```/gms)].map(([, text = '']) => text)
const TOKEN = 'a-token-of-the-tests'

test('docs/PROGRAMS.md has the blocks that are run here, and the receiver', () => {
  expect(BLOCKS).toHaveLength(12)
})

describe.each(QUEUE_KINDS)('with the queue on %s', (kind) => {
  let live: Live
  let installed: Installed
  let environment: Record<string, string>
  let blocks: string[]
  let open: string
  let closed: string

  beforeAll(async () => {
    if (isMissing(kind)) return
    live = await openLoaded(kind, { settings: { QUEUE_PREFIX: randomPrefix() } })
    await live.run()
    installed = await installPacked()
    const { LOG_LEVEL: _, ...settings } = live.environment
    environment = { ...settings, TOKEN }
    await installed.start(['worker'], environment, 'working')
    const serve = (more: Record<string, string>) =>
      installed.start(['serve'], { ...environment, HTTP_PORT: '0', ...more }, 'serving')
    open = (await serve({}))['address'] ?? ''
    closed = (await serve({ HTTP_TOKEN: TOKEN }))['address'] ?? ''
    blocks = BLOCKS.map(asInstalled)
    const program = (block: string) => `import { openCollabSync } from 'collab-sync'
      const collabSync = await openCollabSync()
      ${block}
      await collabSync.close()`
    const faults = await installed.compile({
      start: blocks[0]!,
      follow: blocks[1]!,
      rows: blocks[7]!,
      feed: program(`${COPY}\n${blocks[8]}`),
      hint: program(`console.log(${blocks[10]!.trim()})`),
    })
    expect(faults).toBe('')
  })
  beforeEach((context) => {
    if (isMissing(kind)) context.skip()
  })

  /** A block with what this test has in place of the example names. */
  function asInstalled(block: string): string {
    const { organizationId, documentId, annotationId } = firstPlace(live.world)
    return block
      .replaceAll(/\bacme\b(?=['"\] ])/g, organizationId)
      .replaceAll(/\bplan\b/g, documentId)
      .replaceAll(/\bann-1\b/g, annotationId)
      .replaceAll('http://127.0.0.1:8080', open)
      .replaceAll('https://sync.example.com', closed)
      .replace(/(?=connection: \{ url)/, 'prefix: process.env.QUEUE_PREFIX, ')
  }

  const module = (name: string) => installed.runModule(`${name}.js`, environment)
  const shell = (index: number) => installed.runShell(blocks[index]!, environment)
  const runs = () => live.rows('select * from sync.runs order by requested_at')

  test('TypeScript starts a run and waits for it', async () => {
    expect(await module('start')).toBe('succeeded\n')
    expect((await runs()).at(-1)).toMatchObject({ trigger: 'api', status: 'succeeded' })
  })

  test('TypeScript follows its run to the end, and starts it once only', async () => {
    const before = (await runs()).length
    const lines = (await module('follow')).trim().split('\n')
    expect(lines.at(-1)).toMatch(/^succeeded: (\d+) of \1 scopes$/)
    expect((await module('follow')).trim()).toBe(lines.at(-1))
    expect(await runs()).toHaveLength(before + 1)
  })

  test('curl starts a run over HTTP', async () => {
    const response = JSON.parse(await shell(2))
    expect(response).toMatchObject({ isNew: true, isDelivered: true })
    const run = await settled(live.database, response.runId)
    expect(run).toMatchObject({ trigger: 'http', status: 'succeeded' })
  })

  test('BullMQ starts a run', async () => {
    const before = (await runs()).length
    await installed.write('queue.mjs', blocks[kind === 'redis' ? 3 : 4]!)
    await installed.runModule('queue.mjs', environment)
    const run = await until('a run was requested', async () => (await runs())[before])
    expect(await settled(live.database, run['run_id'])).toMatchObject({
      trigger: 'api',
      status: 'succeeded',
    })
  })

  test('SQL reads rows, also with a role of its own', async () => {
    expect(await shell(5)).toContain('(5 rows)')
    const username = `billing_${Date.now()}`
    const role = blocks[6]!.replaceAll('billing', username)
    await onServer((server) => server.query(role))
    try {
      const DATABASE_URL = urlWith(live.database.url, { username, password: 'change-this' })
      const printed = await installed.runModule('rows.js', { DATABASE_URL })
      expect(printed.trim().split('\n').length).toBeGreaterThanOrEqual(5)
    } finally {
      await onServer((server) => server.query(`drop role ${username}`))
    }
  })

  test('the feed of changes has a row of each view', async () => {
    const [stored] = await live.rows('select count(*)::integer as comments from collab.comments')
    const copied = JSON.parse(await module('feed'))
    expect(copied).toMatchObject({ comment: stored?.['comments'] })
  })

  test('hints start runs of their annotations', async () => {
    const before = (await runs()).length
    expect(await shell(9)).toContain('"annotations":1')
    expect(await module('hint')).toMatch(/annotations: 1/)
    expect((await runs()).length).toBeGreaterThan(before)
  })
})

/** The database of a program that copies the feed: it counts the rows of each view, and ends with the feed. */
const COPY = `import type { Change } from 'collab-sync'
  const rows = new Map<string, string>()
  const readCursor = async (): Promise<string | undefined> => undefined
  const store = async (items: readonly Change[], cursor: string): Promise<void> => {
    for (const { object, key } of items) rows.set(JSON.stringify([object, key]), object)
    if (items.length > 0) return
    const counts: Record<string, number> = {}
    for (const object of rows.values()) counts[object] = (counts[object] ?? 0) + 1
    console.log(JSON.stringify({ cursor, ...counts }))
    process.exit()
  }`
