import { userInfo } from 'node:os'
import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { openCollabSync } from '../../src/client/open-collab-sync.ts'
import { addAccessToken } from '../../src/http/auth/access-tokens.ts'
import { startHttp } from '../../src/http/start-http.ts'
import { buildCommand } from '../cli/built-command.ts'
import { openPartsOf, TOKEN, unlistened } from '../http/served.ts'
import { openLoaded } from '../helpers/live.ts'

/** Under whose name an act is listed, whichever way it comes. */

const ME = userInfo().username
const RUN_ID = /[\da-f]{8}-[\da-f-]{27}/

const tokens: Record<string, string> = { HTTP_TOKEN: TOKEN }

const command = await buildCommand()
const live = await openLoaded('postgres')
const app = await live.openApp()
const server = await unlistened(app)
for (const [name, rights] of [
  ['ann', 'operate'],
  ['bob', 'operate'],
  ['eve', 'read'],
] as const)
  tokens[name] = await addAccessToken(live.database.pool, name, rights, 'a test')
beforeEach(() =>
  live.database.pool.query('truncate sync.actions; truncate sync.runs, sync.schedule cascade'),
)

async function ask(
  name: string,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
) {
  const headers = { authorization: `Bearer ${tokens[name]}` }
  const response = await server.app.inject({ method, url, headers, ...(payload && { payload }) })
  expect(response.statusCode, `${method} ${url} ${response.body}`).toBeLessThan(400)
  return response
}

async function run(...args: string[]): Promise<string> {
  const ended = await command.run(args, { DATABASE_URL: live.database.url })
  expect(ended, args.join(' ')).toMatchObject({ code: 0 })
  return ended.stdout
}

/** What is listed, the oldest first: who, what and to what. */
async function listed(): Promise<string[]> {
  const rows = await live.rows(
    `select concat_ws(' | ', by, action, target, reason) as text from sync.actions order by action_id`,
  )
  return rows.map(({ text }) => text)
}

describe('over HTTP', () => {
  test('a run says who requested and who cancelled it, and a token that only reads sees it', async () => {
    const { runId } = (await ask('ann', 'POST', '/v1/runs', {})).json<{ runId: string }>()
    await ask('bob', 'POST', `/v1/runs/${runId}/cancel`)
    expect(await listed()).toEqual(['ann | run_requested', 'bob | run_cancelled'])

    expect((await ask('eve', 'GET', `/v1/runs/${runId}`)).json()).toMatchObject({
      requestedBy: 'ann',
      problem: 'It was cancelled.',
      actions: [
        { by: 'bob', action: 'run_cancelled', runId },
        { by: 'ann', action: 'run_requested', runId },
      ],
    })
    const page = words((await ask('eve', 'GET', `/runs/${runId}`)).body)
    expect(page).toContain('Requested by ann ')
    expect(page).toMatch(/bob run cancelled/)
    expect(words((await ask('eve', 'GET', '/runs')).body)).toMatch(/\bann\b/)
    const history = words((await ask('eve', 'GET', '/history')).body)
    expect(history).toMatch(/bob run cancelled .*ann run requested/)
    const status = await run('status', runId)
    expect(status).toMatch(/requested by +ann\n/)
    expect(status).toMatch(/bob +run cancelled/)
  })

  test('the schedule says who set it; the same again is no act', async () => {
    const schedule = { cron: '30 1 * * *', timeZone: 'Asia/Tokyo' }
    await ask('ann', 'PUT', '/v1/schedule', schedule)
    const set = (await ask('bob', 'PUT', '/v1/schedule', schedule)).json()
    expect(set).toMatchObject({ ...schedule, by: 'ann', setAt: expect.any(String) })
    expect(words((await ask('eve', 'GET', '/schedule')).body)).toContain('Set by ann')
    expect(await run('schedule')).toMatch(/set by +ann\n +set +\d{4}-/)

    await ask('bob', 'DELETE', '/v1/schedule')
    await ask('ann', 'DELETE', '/v1/schedule')
    expect(words((await ask('eve', 'GET', '/schedule')).body)).toContain('Removed by bob')
    expect(await run('schedule')).toMatch(/removed by +bob\n +removed +\d{4}-/)
    expect(await listed()).toEqual([
      'ann | schedule_set | 30 1 * * * (Asia/Tokyo)',
      'bob | schedule_removed | 30 1 * * * (Asia/Tokyo)',
    ])
  })

  test('a change of the catalog says who made it; one that changes nothing is no act', async () => {
    const line = { organizationId: 'new-organization' }
    await ask('ann', 'POST', '/v1/catalog', { lines: [line] })
    await ask('bob', 'POST', '/v1/catalog', { lines: [line] })
    await ask('bob', 'DELETE', '/v1/catalog/organizations/new-organization')
    await ask('ann', 'DELETE', '/v1/catalog/organizations/new-organization')
    expect(await listed()).toEqual([
      'ann | catalog_changed | catalog add: 1 added, 0 removed',
      'bob | catalog_changed | catalog remove: 0 added, 1 removed',
    ])
  })

  test('HTTP_TOKEN and a server without a token have names of their own', async () => {
    await ask('HTTP_TOKEN', 'POST', '/v1/runs', {})
    const open = await startHttp(openPartsOf(app))
    const asked = await fetch(`${open.url}/v1/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    await open.stop()
    expect(asked.status).toBe(202)
    expect(await listed()).toEqual(['HTTP_TOKEN | run_requested', 'this machine | run_requested'])
  })
})

describe('a command', () => {
  test('acts under the user of the process', async () => {
    const [runId = ''] = RUN_ID.exec(await run('enqueue')) ?? []
    await run('cancel', runId)
    await run('schedule', 'set', '0 3 * * *')
    await run('schedule', 'set', '0 3 * * *')
    await run('schedule', 'remove')
    await run('token', 'add', 'ci', '--rights', 'read')
    await run('token', 'remove', 'ci')
    await run('catalog', 'add', '--organization', 'another')
    await run('catalog', 'remove', '--organization', 'another')
    expect(await listed()).toEqual(
      [
        'run_requested',
        'run_cancelled',
        'schedule_set | 0 3 * * * (UTC)',
        'schedule_removed | 0 3 * * * (UTC)',
        'token_added | ci (read)',
        'token_removed | ci',
        'catalog_changed | catalog add: 1 added, 0 removed',
        'catalog_changed | catalog remove: 0 added, 1 removed',
      ].map((act) => `${ME} | ${act}`),
    )
  })

  test('history lists acts page by page, the newest first', async () => {
    expect(await run('history')).toBe('There are no actions.\n')
    for (const hour of [1, 2, 3]) await run('schedule', 'set', `0 ${hour} * * *`)
    const first = JSON.parse(await run('history', '--limit', '2', '--json'))
    expect(first.items).toMatchObject([
      { by: ME, action: 'schedule_set', target: '0 3 * * * (UTC)', runId: null, reason: null },
      { target: '0 2 * * * (UTC)' },
    ])
    const next = await run('history', '--cursor', first.nextCursor)
    expect(next).toMatch(/schedule set +0 1 \* \* \* \(UTC\)/)
    expect(next).not.toContain('0 2 * * *')
    const over = await ask('eve', 'GET', `/v1/actions?limit=2`)
    expect(over.json()).toEqual(first)
    expect(over.headers['link']).toContain(first.nextCursor)
    const page = await ask('eve', 'GET', `/history?cursor=${first.nextCursor}`)
    expect(words(page.body)).toContain('0 1 * * * (UTC)')
    expect(words(page.body)).not.toContain('0 2 * * *')
  })
})

test('a program that holds the client acts under the name that it gives, else under its user', async () => {
  const environment = { DATABASE_URL: live.database.url }
  for (const names of [{ requestedBy: 'billing' }, {}]) {
    const collabSync = await openCollabSync({ environment, ...names })
    await collabSync.startRun()
    await collabSync.close()
  }
  await expect(openCollabSync({ environment, requestedBy: '' })).rejects.toThrow(
    'requestedBy must not be empty.',
  )
  expect(await listed()).toEqual(['says: billing | run_requested', `${ME} | run_requested`])
})

describe('a job of the queue', () => {
  test('acts under the name that it gives, marked as said', async () => {
    const requestedBy = 'billing'
    await jobs['start-run'](app, { data: { requestedBy }, requestKey: 'a' })
    await jobs['start-run'](app, { data: { requestedBy }, requestKey: 'a' })
    await jobs['start-run'](app, { data: {}, requestKey: 'b' })
    const lines = [{ organizationId: 'by-a-job' }]
    const add = { change: 'add', lines, requestedBy }
    await jobs.catalog(app, { data: add, requestKey: 'c' })
    const scope = { organizationIds: ['by-a-job'], documentId: 'd', annotationId: 'a' }
    const hint = { scope, add: true, requestedBy }
    await jobs.hint(app, { data: hint, requestKey: 'd' })
    expect(await listed()).toEqual([
      'says: billing | run_requested',
      'a program | run_requested',
      'says: billing | catalog_changed | catalog add: 1 added, 0 removed',
      'says: billing | catalog_changed | hint --add: 2 added, 0 removed',
    ])
  })

  test('with a name that is no text, or too long, does nothing', async () => {
    for (const requestedBy of [7, '', 'x'.repeat(101)])
      await expect(
        jobs['start-run'](app, { data: { requestedBy }, requestKey: 'a' }),
      ).rejects.toThrow(/^data\.requestedBy must/)
    expect(await listed()).toEqual([])
  })
})

/** A page as its words. */
function words(html: string): string {
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}
