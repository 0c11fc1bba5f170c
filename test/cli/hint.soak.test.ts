import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hintJob } from '../../jobs/hint.ts'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/app.ts'
import { removeFromCatalog } from '../../src/catalog/change.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import { places } from '../../src/demo/catalog.ts'
import { edit } from '../../src/demo/changes.ts'
import { HintedSchema } from '../../src/documents/hint.ts'
import type { HttpServer } from '../../src/http/server.ts'
import { startWorker } from '../../src/worker.ts'
import { onApp } from '../client/on-app.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, unlistened } from '../http/served.ts'
import { buildCommand } from './built-command.ts'
import type { BuiltCommand, Environment, Running } from './built-command.ts'

let command: BuiltCommand
let live: Live
let app: App
let server: HttpServer
let collabSync: CollabSync
let environment: Environment

beforeAll(async () => {
  command = await buildCommand()
  live = await openLive('postgres')
  app = await live.openApp()
  server = await unlistened(app)
  collabSync = onApp(app)
  environment = { DATABASE_URL: live.database.url }
})
afterAll(async () => {
  await server?.app.close()
  await live?.close()
  await command?.remove()
})
beforeEach(async () => {
  await live.database.pool.query(
    `truncate collab_store.organizations, sync.catalog_imports, sync.runs cascade;
    update collab_store.definitions set refresh_budget = null`,
  )
})

function place() {
  const [first] = places(live.world)
  if (first === undefined) throw new Error('an empty world')
  return first
}
const args = (...more: string[]) => {
  const { organizationId, documentId, annotationId } = place()
  const names = ['--organization', organizationId, '--document', documentId]
  return ['hint', ...names, '--annotation', annotationId, ...more]
}
const scope = () => {
  const { organizationId, documentId, annotationId } = place()
  return { organizationIds: [organizationId], documentId, annotationId }
}
const rows = async (sql: string) => (await live.database.pool.query(sql)).rows
/** What each surface answers to the same hint. */
async function answers(more: { add?: boolean } = {}): Promise<unknown[]> {
  const printed = await command.run(args('--json', ...(more.add ? ['--add'] : [])), environment)
  expect(printed).toMatchObject({ code: 0, stderr: '' })
  const over = await server.app.inject({
    method: 'POST',
    url: '/v1/hints',
    headers: BEARER,
    payload: { scope: scope(), ...more },
  })
  expect(over.statusCode).toBe(202)
  return [
    JSON.parse(printed.stdout),
    over.json(),
    await collabSync.hint(scope(), more),
    await hintJob.perform(app, { data: { scope: scope(), ...more }, requestKey: 'key' }),
  ]
}

describe('each surface', () => {
  test.each([
    ['without refresh', null],
    ['with refresh', 40],
  ])('gives the same document %s', async (_, budget) => {
    await live.importCatalog()
    await live.database.pool.query('update collab_store.definitions set refresh_budget = $1', [
      budget,
    ])
    const all = await answers()
    for (const each of all) {
      expect(each).toEqual(all[0])
      expect(HintedSchema.strict().parse(each)).toEqual(each)
    }
    expect(all[0]).toEqual({ runId: budget === null ? expect.any(String) : null, threads: 1 })
    expect(await rows('select from sync.runs')).toHaveLength(budget === null ? 1 : 0)
    expect(await rows('select from sync.hints')).toHaveLength(budget === null ? 0 : 1)
    const { stdout } = await command.run(args(), environment)
    expect(stdout).toMatch(
      budget === null
        ? /^Run [\da-f-]{36} looks at 1 annotation\.\n$/
        : /^Continuous refresh looks at 1 annotation next\.\n$/,
    )
  })

  test('refuses what the catalog lacks, and adds it where that is asked for', async () => {
    const sentence = /^Organization ".*" is not in the catalog; add it with --add/
    expect(await command.run(args(), environment)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(sentence),
    })
    await expect(collabSync.hint(scope())).rejects.toThrow(sentence)
    const data = { scope: scope() }
    await expect(hintJob.perform(app, { data, requestKey: 'key' })).rejects.toThrow(sentence)
    expect(await rows('select from collab_store.organizations')).toEqual([])
    const all = await answers({ add: true })
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(await rows('select source, came from sync.catalog_imports')).toEqual([
      { source: 'hint --add', came: 3 },
    ])
  })
})

describe('wrong use', () => {
  test.each([
    [[], '--organization must name one organization.'],
    [['--document', 'd'], '--document needs exactly one organization in --organization.'],
    [['--organization', 'a'], '--document is missing.'],
    [['--organization', 'a', '--annotation', 'x'], '--annotation needs --document.'],
    [
      ['--organization', 'a', '--organization', 'b', '--document', 'd'],
      '--document needs exactly one organization in --organization.',
    ],
    [['--organization', 'a', '--document', ''], '--document must not be empty.'],
    [['--organization', 'a', '--document', 'd', '--user', 'u'], "Unknown option '--user'."],
    [['--organization', 'a', '--document', 'd', '--comment', '1'], "Unknown option '--comment'"],
    [
      ['--listen', '--document', 'd'],
      '--listen goes with --add alone: the channel says what changed.',
    ],
    [['--listen', 'x'.repeat(64)], 'A channel has a name of 1 to 63 bytes.'],
  ])('%j', async (given, sentence) => {
    const { code, stdout, stderr } = await command.runProcess(['hint', ...given], {
      ...environment,
      LOG_LEVEL: 'fatal',
    })
    expect({ code, stdout, stderr: stderr.trim() }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(sentence),
    })
  })

  test.each([
    [undefined, /^data /],
    [{ scope: { organizationIds: ['a'] } }, 'data.scope.documentId is missing.'],
    [{ scope: { organizationIds: ['a'], documentId: 'd', x: 1 } }, 'data.scope has no member "x".'],
    [{ scope: { organizationIds: ['a'], documentId: 'd' }, add: 1 }, 'data.add must be true or'],
  ])('a job with %j is refused by the member at fault', async (data, sentence) => {
    await expect(hintJob.perform(app, { data, requestKey: 'key' })).rejects.toThrow(sentence)
  })
})

describe('--listen', () => {
  let customers: TestDatabase
  let listening: Running | undefined

  beforeAll(async () => {
    customers = await createEmptyDatabase()
    await customers.pool.query(
      readFileSync(new URL('../../sql/recipes/hint-trigger.sql', import.meta.url), 'utf8'),
    )
    await customers.pool.query(
      `create schema app;
      create table app.comments (org text, doc text, thread text, body text);
      create trigger collab_sync_hint after insert or update or delete on app.comments
        for each row execute function collab_sync_hint('org', 'doc', 'thread')`,
    )
  })
  beforeEach(() => live.importCatalog())
  afterEach(async () => {
    listening?.child.kill('SIGTERM')
    expect(await listening?.ended).toMatchObject({ code: 0, stdout: '' })
    await customers.pool.query('truncate app.comments')
  })
  afterAll(() => customers?.drop())

  async function listen(...more: string[]): Promise<Running> {
    listening = command.start(['hint', '--listen', ...more], {
      ...environment,
      HINT_DATABASE_URL: customers.url,
    })
    await listening.shows(/"listening"/)
    return listening
  }
  const notify = (payload: string) =>
    customers.pool.query(`select pg_notify('collab_sync_hints', $1)`, [payload])
  const payload = (instead: object = {}) => {
    const { organizationId, documentId, annotationId } = place()
    return JSON.stringify({ organizationId, documentId, annotationId, ...instead })
  }
  async function until<T>(look: () => Promise<T | null | undefined | false>): Promise<T> {
    for (const deadline = performance.now() + 20_000; ;) {
      const found = await look()
      if (found) return found
      if (performance.now() > deadline) throw new Error('it did not come')
      await sleep(20)
    }
  }
  const hinted = () => rows(`select scope from sync.runs where trigger = 'hint'`)
  const hintedOnce = () => until(async () => (await hinted()).length > 0)

  test('a row of a table of the customer’s brings the thread’s comments into the tables', async () => {
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    try {
      await listen()
      const { organizationId, documentId, annotationId } = place()
      const [comment] = live.world.comments(place()) ?? []
      edit(live.world, place(), comment?.commentId ?? 0, { text: 'by a trigger' })
      await customers.pool.query('insert into app.comments values ($1, $2, $3)', [
        organizationId,
        documentId,
        annotationId,
      ])
      await until(
        async () =>
          (await rows(`select from collab.comments where comment_text = 'by a trigger'`)).length >
          0,
      )
      expect(await hinted()).toEqual([{ scope: { ...scope(), operations: ['comments'] } }])
    } finally {
      await worker.stop()
    }
  })

  test('ten thousand rows of two threads are two hints; a moved row is one of each place', async () => {
    await listen()
    const [first, second] = places(live.world)
    const ids = [first, second].map((each) => [
      each?.organizationId,
      each?.documentId,
      each?.annotationId,
    ])
    await customers.pool.query(
      `insert into app.comments select $1, $2, $3 from generate_series(1, 10000)`,
      ids[0],
    )
    await customers.pool.query(`update app.comments set org = $1, doc = $2, thread = $3`, ids[1])
    await until(async () => (await hinted()).length === 2)
    await customers.pool.query('delete from app.comments')
    await notify(payload({ annotationId: null }))
    await until(async () => (await hinted()).length > 2)
    expect(await hinted()).toHaveLength(3)
  })

  test('a row without ids, or with ids too long for a message, fails no transaction', async () => {
    await listen()
    const { organizationId, documentId } = place()
    await customers.pool.query(
      `insert into app.comments values (null, 'd', 't'), ('', 'd', 't'), ($1, repeat('x', 9000), 't'), ($1, $2, null)`,
      [organizationId, documentId],
    )
    await hintedOnce()
    expect(await hinted()).toEqual([
      { scope: { organizationIds: [organizationId], documentId, operations: ['comments'] } },
    ])
  })

  test.each([
    ['no JSON, ann@example.com', 'the payload is no JSON.'],
    ['', 'the payload is no JSON.'],
    ['null', 'the payload must be an object.'],
    ['[{}]', 'the payload must be an object.'],
    ['{"organizationId":"a"}', 'the payload.documentId is missing.'],
    [JSON.stringify({ scope: {} }), 'the payload.organizationId is missing.'],
    [`{"organizationId":"a","documentId":"b","add":true}`, 'the payload has no member \\"add\\"'],
    [`{"organizationId":"a\\u0000","documentId":"b"}`, 'must not hold a NUL character'],
    [`{"organizationId":"${'a'.repeat(3000)}","documentId":"b"}`, 'must not be longer than'],
    [`{"organizationId":"nobody","documentId":"b"}`, 'is not in the catalog'],
    ['['.repeat(7000), 'the payload is no JSON.'],
  ])('a payload of %j is told, and the next one comes all the same', async (wrong, reason) => {
    const running = await listen()
    await notify(wrong)
    await running.shows(/a hint was refused/)
    await notify(payload())
    await hintedOnce()
    running.child.kill('SIGTERM')
    const { stderr } = await running.ended
    const [line = '', ...more] = stderr.split('\n').filter((each) => each.includes('refused'))
    expect(line).toContain(reason)
    expect(line).not.toContain('example.com')
    expect(more).toEqual([])
  })

  test('a flood of wrong payloads is a line of the log or two', async () => {
    const running = await listen()
    await customers.pool.query(
      `select pg_notify('collab_sync_hints', n::text) from generate_series(1, 5000) n`,
    )
    await notify(payload())
    await hintedOnce()
    running.child.kill('SIGTERM')
    const { stderr } = await running.ended
    expect(stderr.split('\n').filter((each) => each.includes('refused'))).toHaveLength(1)
  })

  test('what the catalog lacks is added with --add of the listener alone', async () => {
    const { organizationId, documentId, annotationId } = place()
    const line = { organizationId, documentId, annotationId: 'only the service knows it' }
    await listen('--add')
    await notify(JSON.stringify(line))
    await hintedOnce()
    const by = { source: 'a test', requestedBy: 'somebody' }
    await removeFromCatalog(live.database.pool, [line], by)
    expect(annotationId).not.toBe(line.annotationId)
    expect((await rows('select source, requested_by from sync.catalog_imports')).slice(-2)).toEqual(
      [
        { source: 'hint --add', requested_by: 'pg_notify' },
        { source: 'a test', requested_by: 'somebody' },
      ],
    )
  })

  test('a connection that is lost is told once, and made anew', async () => {
    const running = await listen()
    for (let times = 0; times < 2; times += 1) {
      await live.database.pool.query('truncate sync.runs cascade')
      await customers.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'collab-sync hint' and datname = current_database()`,
      )
      await until(async () => {
        await notify(payload())
        return (await hinted()).length > 0
      })
    }
    running.child.kill('SIGTERM')
    const { stderr } = await running.ended
    expect(stderr.match(/the connection is lost/g)).toHaveLength(2)
    expect(stderr.match(/"listening again"/g)).toHaveLength(2)
  })

  test('a database that is not there ends it at the start', async () => {
    const url = new URL(customers.url)
    url.pathname = '/none'
    const { code, stderr } = await command.runProcess(['hint', '--listen'], {
      ...environment,
      HINT_DATABASE_URL: url.href,
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /The database to listen to cannot be used: database "none" does not exist/,
    )
  })
})
