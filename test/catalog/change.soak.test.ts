import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { App } from '../../src/worker/app.ts'
import { addToCatalog, removeFromCatalog } from '../../src/features/catalog/change.ts'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import type { CatalogChanges, CatalogEntry, CatalogLine } from '../../src/documents/catalog-line.ts'
import { UsageError } from '../../src/base/errors.ts'
import type { HttpServer } from '../../src/http/server.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand, Environment } from '../cli/built-command.ts'
import { onApp } from '../client/on-app.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, unlistened } from '../http/served.ts'

let live: Live
let app: App
let collabSync: CollabSync
let server: HttpServer
let command: BuiltCommand
let environment: Environment

beforeAll(async () => {
  command = await buildCommand()
  live = await openLive('postgres')
  app = await live.openApp()
  collabSync = onApp(app)
  server = await unlistened(app)
  environment = {
    COLLAB_API_URL: live.standIn.url,
    COLLAB_API_KEY: live.standIn.apiKey,
    COLLAB_AUTH_TOKEN: live.standIn.authToken,
    DATABASE_URL: live.database.url,
  }
})
afterAll(async () => {
  await server?.app.close()
  await live?.close()
  await command?.remove()
})

beforeEach(async () => {
  await live.database.pool.query(
    'truncate collab_store.organizations, sync.catalog_imports, sync.runs cascade',
  )
})

const BY = { source: 'a test', requestedBy: 'somebody' }
const ACME = { organizationId: 'acme' }
const PLAN = { ...ACME, documentId: 'plan' }
const FIRST = { ...PLAN, annotationId: 'a1' }
const GROUP = { ...ACME, organizationUserGroupId: 'staff' }

const add = (lines: readonly CatalogLine[], parents = false) =>
  addToCatalog(live.database.pool, lines, { ...BY, add: parents })
const remove = (lines: readonly CatalogLine[]) => removeFromCatalog(live.database.pool, lines, BY)

/** Counts that are not zero, such as `documents added 1`. */
function did(changes: CatalogChanges): string[] {
  return Object.entries(changes).flatMap(([kind, counts]) =>
    Object.entries(counts).flatMap(([what, count]) =>
      count > 0 ? [`${kind} ${what} ${count}`] : [],
    ),
  )
}

async function texts(sql: string): Promise<string[]> {
  return (await live.database.pool.query(sql)).rows.map(({ text }) => text)
}

const imports = () =>
  texts(
    `select concat_ws(' ', source, requested_by, state, lines, came, went) as text from sync.catalog_imports order by import_id`,
  )
/** Scopes that a run would ask for, by organization and operation. */
const planned = () =>
  texts(
    `select concat_ws(' ', organization_id, operation, sum(scopes)) as text from collab_store.batches
    join collab_store.organizations using (organization_key) group by organization_id, operation
    having sum(scopes) > 0 order by 1`,
  )

describe('adding', () => {
  test('a line needs its parents in the catalog, unless they are to be added too', async () => {
    await expect(add([FIRST])).rejects.toThrow(/^Organization "acme" is not in the catalog; add it/)
    expect(did(await add([ACME]))).toEqual(['organizations added 1'])
    await expect(add([GROUP, FIRST])).rejects.toThrow(/^Document "plan" is not in the catalog/)
    expect(await planned()).toEqual(['acme users 1'])
    expect(did(await add([GROUP, FIRST], true))).toEqual([
      'documents added 1',
      'annotations added 1',
      'userGroups added 1',
    ])
    expect(await planned()).toEqual(['acme comments 1', 'acme users 3'])
    expect(await imports()).toEqual([
      'a test somebody applied 1 1 0',
      'a test somebody applied 2 3 0',
    ])
  })

  test('again locks nothing and writes nothing', async () => {
    await add([FIRST, GROUP], true)
    const client = await live.database.pool.connect()
    try {
      // As an import does that is under way.
      await client.query('begin; select pg_advisory_xact_lock(40130710, 2)')
      expect(did(await add([FIRST, PLAN, GROUP, ACME]))).toEqual([])
    } finally {
      await client.query('rollback')
      client.release()
    }
    expect(await imports()).toHaveLength(1)
  })

  test('makes active again what was not, parents too', async () => {
    await add([FIRST, { ...PLAN, annotationId: 'a2' }], true)
    await remove([ACME])
    expect(await planned()).toEqual([])
    expect(did(await add([FIRST]))).toEqual([
      'organizations reactivated 1',
      'documents reactivated 1',
      'annotations reactivated 1',
    ])
    expect(await planned()).toEqual(['acme comments 1', 'acme users 2'])
  })

  test('the same line many times at once adds it once', async () => {
    await add([ACME])
    const many = Array.from({ length: 12 }, () => add([FIRST], true))
    const annotations = (await Promise.all(many)).map(({ annotations: { added } }) => added)
    expect(annotations.reduce((sum, added) => sum + added)).toBe(1)
    expect(await planned()).toEqual(['acme comments 1', 'acme users 2'])
  })
})

describe('removing', () => {
  test('takes what is beneath with it; rows and checks stay; again is harmless', async () => {
    const other = { organizationId: 'other', documentId: 'plan' }
    await add([FIRST, { ...PLAN, annotationId: 'a2' }, GROUP, other], true)
    await live.database.pool.query(`update collab_store.batches set checked_at = '2026-01-01Z'`)
    expect(did(await remove([FIRST]))).toEqual(['annotations deactivated 1'])
    expect(did(await remove([PLAN, GROUP]))).toEqual([
      'documents deactivated 1',
      'annotations deactivated 1',
      'userGroups deactivated 1',
    ])
    expect(await planned()).toEqual(['acme users 1', 'other users 2'])
    expect(did(await remove([PLAN, FIRST]))).toEqual([])
    expect(did(await remove([ACME]))).toEqual(['organizations deactivated 1'])
    expect(await planned()).toEqual(['other users 2'])
    expect((await imports()).slice(1)).toEqual([
      'a test somebody applied 1 0 1',
      'a test somebody applied 2 0 3',
      'a test somebody applied 1 0 1',
    ])
    expect(
      await texts(
        `select concat_ws(' ', annotation_id, active, checked_at at time zone 'UTC') as text from collab.annotations order by 1`,
      ),
    ).toEqual(['a1 f 2026-01-01 00:00:00', 'a2 f 2026-01-01 00:00:00'])
  })

  test('what the catalog never had is refused, and nothing is changed', async () => {
    await add([FIRST], true)
    for (const [line, sentence] of [
      [{ organizationId: 'acmee' }, 'Organization "acmee"'],
      [{ ...PLAN, documentId: 'plans' }, 'Document "plans"'],
      [{ ...PLAN, annotationId: 'a2' }, 'Annotation "a2"'],
      [GROUP, 'User group "staff"'],
    ] as const)
      await expect(remove([FIRST, line])).rejects.toThrow(`${sentence} is not in the catalog`)
    expect(await planned()).toEqual(['acme comments 1', 'acme users 2'])
  })
})

test('a listing names what is directly beneath, page by page', async () => {
  const annotations = Array.from({ length: 3 }, (_, n) => ({ ...PLAN, annotationId: `a${n}` }))
  const documents = ['plan', 'budget'].map((documentId) => ({ ...ACME, documentId }))
  const groups = ['staff', 'guests'].map((id) => ({ ...ACME, organizationUserGroupId: id }))
  await add([...annotations, ...documents, ...groups, { organizationId: 'zeta' }], true)
  await remove([{ organizationId: 'zeta' }])
  const all = async (of: { organizationId?: string; documentId?: string }) => {
    const found: CatalogEntry[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await collabSync.listCatalog({ ...of, limit: 1, ...(cursor && { cursor }) })
      expect(page.items).toHaveLength(1)
      found.push(...page.items)
      cursor = page.nextCursor
    }
    expect((await collabSync.listCatalog(of)).items).toEqual(found)
    return found.map((entry) =>
      [entry.annotationId, entry.organizationUserGroupId, entry.documentId, entry.organizationId]
        .filter((id) => id !== null)
        .concat(entry.active ? [] : ['inactive'])
        .join(' '),
    )
  }
  expect(await all({})).toEqual(['acme', 'zeta inactive'])
  expect(await all(ACME)).toEqual(['guests acme', 'staff acme', 'budget acme', 'plan acme'])
  expect(await all(PLAN)).toEqual(['a0 plan acme', 'a1 plan acme', 'a2 plan acme'])
  expect(await collabSync.listCatalog({ organizationId: 'nobody' })).toEqual({
    items: [],
    nextCursor: null,
  })
  await expect(collabSync.listCatalog({ documentId: 'plan' })).rejects.toThrow(
    'documentId needs organizationId.',
  )
  await expect(collabSync.listCatalog({ cursor: 'WyJydW5zIiwxXQ' })).rejects.toThrow(UsageError)
})

describe('over HTTP', () => {
  const ask = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => {
    const url = `/v1/catalog${path}`
    const answer = await server.app.inject({ method, url, headers: BEARER, ...(body && { body }) })
    return { status: answer.statusCode, body: answer.json() as never }
  }

  test('lines are added, listed and removed', async () => {
    const odd = { organizationId: 'a/c me', documentId: 'ü?&', annotationId: 'x'.repeat(300) }
    const added = await ask('POST', '', { lines: [odd, GROUP], add: true })
    expect(added.status).toBe(200)
    expect(did(added.body)).toEqual([
      'organizations added 2',
      'documents added 1',
      'annotations added 1',
      'userGroups added 1',
    ])
    expect(await imports()).toEqual(['catalog add HTTP_TOKEN applied 2 5 0'])
    const query = new URLSearchParams({ organizationId: 'a/c me', documentId: 'ü?&' })
    expect(await ask('GET', `?${query}`)).toMatchObject({
      status: 200,
      body: { items: [{ ...odd, active: true, checkedAt: null }], nextCursor: null },
    })
    const path = [
      'organizations',
      odd.organizationId,
      'documents',
      odd.documentId,
      'annotations',
      odd.annotationId,
    ]
    const url = path.map((part) => `/${encodeURIComponent(part)}`).join('')
    expect(did((await ask('DELETE', url)).body)).toEqual(['annotations deactivated 1'])
    expect(did((await ask('DELETE', '/organizations/acme/user-groups/staff')).body)).toEqual([
      'userGroups deactivated 1',
    ])
    expect(did((await ask('DELETE', '/organizations/acme')).body)).toEqual([
      'organizations deactivated 1',
    ])
  })

  test.each([
    ['POST', '', { lines: [FIRST] }, 422, /^Organization "acme" is not in the catalog/],
    ['POST', '', { lines: [] }, 400, /must be a list of 1 to 1000 lines/],
    ['POST', '', { lines: [{ annotationId: 'a', organizationId: 'o' }] }, 400, /needs documentId/],
    [
      'POST',
      '',
      { lines: [ACME], add: 'yes' },
      400,
      /^add \(body\) is wrong: must be true or false/,
    ],
    ['DELETE', '/organizations/acme', undefined, 404, /^Organization "acme" is not in the/],
    ['GET', '?documentId=plan', undefined, 400, /^documentId needs organizationId\.$/],
    ['GET', '?cursor=x', undefined, 400, /cursor must be the nextCursor/],
  ] as const)('%s %s %j is answered with a problem', async (method, path, body, status, detail) => {
    const answer = await ask(method, path, body)
    expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } })
    expect(await planned()).toEqual([])
  })
})

describe('a job of the queue', () => {
  const perform = (data: unknown) =>
    jobs.catalog(app, { data, requestKey: 'key' }) as Promise<CatalogChanges>

  test('adds and removes lines', async () => {
    const adding = { change: 'add', lines: [FIRST], add: true }
    expect(did(await perform(adding))).toHaveLength(3)
    expect(did(await perform(adding))).toEqual([])
    expect(did(await perform({ change: 'remove', lines: [PLAN] }))).toHaveLength(2)
    expect(await imports()).toEqual([
      'catalog add a program applied 1 3 0',
      'catalog remove a program applied 1 0 2',
    ])
  })

  test.each([
    [undefined, 'data is wrong: Invalid input: expected object, received undefined.'],
    [{ change: 'drop', lines: [ACME] }, /^data\.change /],
    [{ change: 'remove', lines: [ACME], add: true }, 'data has no member "add".'],
    [
      { change: 'add', lines: [{ organizationId: '' }] },
      'data.lines.0.organizationId must not be empty.',
    ],
  ])('%j is refused by the member at fault', async (data, sentence) => {
    await expect(perform(data)).rejects.toThrow(sentence)
    expect(await planned()).toEqual([])
  })
})

describe('a run for what the catalog lacks', () => {
  /** An annotation that the service knows and the catalog does not. */
  const place = () => {
    const [organization = ''] = live.world.organizationIds()
    const [document = ''] = live.world.documentIds(organization)
    const [annotation = ''] = live.world.annotationIds(organization, document)
    return { organization, document, annotation }
  }
  const scope = () => {
    const { organization, document, annotation } = place()
    return { organizationIds: [organization], documentId: document, annotationId: annotation }
  }
  const stored = async () =>
    Number((await texts('select count(*)::text as text from collab.comments'))[0])

  test('adds it first, with --add', async () => {
    const { organization, document, annotation } = place()
    const args = ['run', '--organization', organization, '--document', document]
    const narrowed = [...args, '--annotation', annotation]
    const refused = await command.run(narrowed, environment)
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Organization ".*" is not in the catalog; add it with --add/),
    })
    expect(await command.run([...narrowed, '--add'], environment)).toMatchObject({ code: 0 })
    expect(await stored()).toBeGreaterThan(0)
    expect((await imports())[0]).toMatch(/^run --add \S+ applied 1 3 0$/)
  })

  test('over the API, from a program and through the queue', async () => {
    const asked = { scope: scope(), add: true } as const
    await expect(collabSync.startRun({ scope: scope() })).rejects.toThrow(/is not in the catalog/)
    const answer = await server.app.inject({
      method: 'POST',
      url: '/v1/runs',
      headers: BEARER,
      body: asked,
    })
    expect(answer.statusCode).toBe(202)
    expect(await collabSync.startRun(asked)).toMatchObject({ isNew: true })
    const job = await jobs['start-run'](app, { data: asked, requestKey: 'job' })
    expect(job).toMatchObject({ runId: expect.any(String) })
    expect(await imports()).toEqual(['run --add HTTP_TOKEN applied 1 3 0'])
    const nothing = { scope: {}, add: true }
    await expect(collabSync.startRun(nothing)).rejects.toThrow('add needs organizationIds')
  })

  test('and --wait follows it there', async () => {
    const { organization, document, annotation } = place()
    const names = [
      '--organization',
      organization,
      '--document',
      document,
      '--annotation',
      annotation,
    ]
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    try {
      const args = ['enqueue', ...names, '--add', '--wait', '--json']
      const { code, stdout } = await command.run(args, environment)
      expect(code, stdout).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ status: 'succeeded', scopesSucceeded: 1 })
    } finally {
      await worker.stop()
    }
  })
})

describe('on the command line', () => {
  const run = (...args: string[]) => command.run(['catalog', ...args], environment)

  test('an import prints how many were renamed, and a list shows the names', async () => {
    await add([PLAN], true)
    const lines = JSON.stringify({ ...PLAN, documentName: 'The <plan>' })
    const imported = await command.runProcess(['catalog', 'import', '-'], environment, lines)
    expect(imported).toMatchObject({ code: 0 })
    expect(imported.stdout).toMatch(/added +reactivated +deactivated +renamed +now/)
    expect(imported.stdout).toMatch(/documents +0 +0 +0 +1 +1/)
    expect((await run('list', '--organization', 'acme')).stdout).toMatch(/plan +The <plan>/)
  })

  test('lines are added, listed and removed', async () => {
    const refused = await run('add', '--organization', 'acme', '--document', 'plan')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    const added = await run(
      'add',
      '--organization',
      'acme',
      '--document',
      'plan',
      '--add',
      '--json',
    )
    expect(did(JSON.parse(added.stdout))).toEqual(['organizations added 1', 'documents added 1'])
    const groups = await run(
      'add',
      '--organization',
      'acme',
      '--group',
      'staff',
      '--group',
      'guests',
    )
    expect(groups.stdout).toMatch(/user groups +2 +0 +0/)
    const again = await run('add', '--organization', 'acme')
    expect(again.stdout).toBe('Nothing to change.\n')
    const listed = await run('list', '--organization', 'acme', '--limit', '2')
    expect(listed.stdout).toMatch(/user group +guests +never[^]*user group +staff +never/)
    const [, cursor = ''] = /--cursor (\S+)/.exec(listed.stderr) ?? []
    const rest = await run('list', '--organization', 'acme', '--cursor', cursor, '--json')
    expect(JSON.parse(rest.stdout)).toMatchObject({ items: [PLAN], nextCursor: null })
    const removed = await run('remove', '--organization', 'acme')
    expect(removed.stdout).toMatch(
      /organizations +0 +0 +1[^]*documents +0 +0 +1[^]*user groups +0 +0 +2/,
    )
    expect((await run('list')).stdout).toMatch(/organization +acme +never +inactive/)
  })

  test('shows whether what it names is asked for', async () => {
    await add([FIRST], true)
    const scope = ['--organization', 'acme', '--document', 'plan']
    expect(await run('show', ...scope)).toMatchObject({
      code: 0,
      stdout: 'It is in the catalog.\n',
    })
    await remove([PLAN])
    const shown = await run('show', ...scope, '--annotation', 'a1', '--json')
    expect(JSON.parse(shown.stdout)).toEqual({ ...FIRST, active: false })
    expect((await run('show', ...scope)).stdout).toBe(
      'It is inactive: it is not fetched any more.\n',
    )
  })

  test.each([
    [['add'], "Required option '--organization <id>' not specified."],
    [['add', '--organization', 'a', '--annotation', 'x'], '--annotation needs --document.'],
    [
      ['remove', '--organization', 'a', '--organization', 'b', '--document', 'd'],
      '--document needs exactly one organization in --organization.',
    ],
    [['remove', '--organization', ''], '--organization must not be empty.'],
    [['show', '--group', 'g'], /^Name one organization, document/],
    [['list', '--document', 'plan'], 'documentId needs organizationId.'],
    [['list', '--limit', '501'], 'limit must be a whole number from 1 to 500.'],
  ])('%j is wrong use', async (args, sentence) => {
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stdout, stderr: stderr.trimEnd() }).toEqual({
      code: 2,
      stdout: '',
      stderr: typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    })
  })

  test('run --add without an organization, and with --dry-run, is wrong use', async () => {
    for (const args of [['--add'], ['--add', '--user', 'u1']])
      expect(await command.run(['run', ...args], environment)).toMatchObject({
        code: 2,
        stderr: '--add needs --organization.\n',
      })
    const dry = ['run', '--add', '--dry-run', '--organization', 'acme']
    expect(await command.run(dry, environment)).toMatchObject({
      code: 2,
      stderr: '--add cannot be combined with --dry-run.\n',
    })
    expect(await planned()).toEqual([])
  })
})
