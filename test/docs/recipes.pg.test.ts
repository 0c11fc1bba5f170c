import { spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { places } from '../../src/demo/catalog.ts'
import { fileText } from '../deploy/yaml-files.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { createTestDatabase, onServer, urlWith } from '../helpers/database.ts'
import { openLoaded } from '../helpers/live.ts'
import { ownFolder } from '../helpers/own-folder.ts'
import { freePort } from '../helpers/servers.ts'
import { until } from '../helpers/until.ts'
import { fillComments } from '../export/fill-comments.ts'
import { serveApp, TOKEN } from '../http/served.ts'
import { recipeBlocks, replaced } from './recipe-blocks.ts'

/** Recipes of docs/RECIPES.md that need nothing but Node.js and PostgreSQL; recipes.soak.test.ts runs the others. */

/** A name for a role, which all databases of the server share; the role is dropped after the test. */
function ownRole(): string {
  const role = `cs_recipe_${randomBytes(4).toString('hex')}`
  closedAtEnd(() => onServer((server) => server.query(`drop role if exists ${role}`)))
  return role
}

async function connectedAs(url: string, username: string): Promise<pg.Client> {
  const client = new pg.Client(urlWith(url, { username, password: 'PASSWORD' }))
  await client.connect()
  closedAtEnd(() => client.end())
  return client
}

test('a role reads the view of one customer, and nothing of the others', async () => {
  const role = ownRole()
  const live = await openLoaded('none')
  await live.run()
  const [customer] = await live.rows(
    'select organization_id as id, count(*)::int as comments from reporting.comments group by 1 limit 1',
  )
  const [sql = ''] = recipeBlocks('One customer for one role', 'sql')
  await live.database.pool.query(
    replaced(sql, [
      ['acme_analyst', role],
      ["'acme'", pg.escapeLiteral(customer?.['id'])],
    ]),
  )
  const analyst = await connectedAs(live.database.url, role)
  const { rows } = await analyst.query('select * from acme.comments')
  expect(rows).toHaveLength(customer?.['comments'])
  expect(rows[0]).toMatchObject({ comment_text: expect.any(String), written_at: expect.any(Date) })
  // Without the barrier, a cheap function in this plan would receive the rows of all organizations.
  await analyst.query(
    'set enable_nestloop = off; set enable_indexscan = off; set enable_bitmapscan = off',
  )
  await analyst.query(`create function pg_temp.leak(text) returns boolean language plpgsql cost 0.0001
    as $$ begin raise notice '%', $1; return true; end $$`)
  let leaked = 0
  analyst.on('notice', () => (leaked += 1))
  await analyst.query('select from acme.comments where pg_temp.leak(comment_text)')
  expect(leaked).toBe(customer?.['comments'])
  for (const refused of [
    'select from reporting.comments',
    'select from collab.comments',
    'select from collab_store.comments',
    'select from sync.runs',
  ])
    await expect(analyst.query(refused), refused).rejects.toThrow(/permission denied/)
})

test('postgres_fdw and a dbt model unite the comments of two databases', async () => {
  const reports = ownRole()
  await onServer((server) =>
    server.query(`create role ${reports} login password 'PASSWORD' in role collab_reader`),
  )
  const environments = ['eu', 'us']
  const sources = await Promise.all(environments.map(() => createTestDatabase()))
  for (const [index, source] of sources.entries()) await fillComments(source, 20 + index)
  const united = await createTestDatabase()
  const [sql = '', model = ''] = recipeBlocks('Several keys or environments', 'sql')
  for (const [index, name] of environments.entries()) {
    const { hostname, port, pathname } = new URL(sources[index]!.url)
    await united.pool.query(
      replaced(sql, [
        ["host 'eu.example.com'", `host '${hostname}', port '${port}'`],
        ["dbname 'collab'", `dbname '${pathname.slice(1)}'`],
        ["'reports'", `'${reports}'`],
        [' eu', ` ${name}`],
      ]),
    )
  }
  const compiled = model.replace(/\{\{ source\('(\w+)', '(\w+)'\) \}\}/g, '"$1"."$2"')
  await united.pool.query(`create view comments as ${compiled}`)
  const { rows } = await united.pool.query(
    `select environment, count(*)::int as comments, count(written_at)::int as written
    from comments group by 1 order by 1`,
  )
  expect(rows).toEqual([
    { environment: 'eu', comments: 20, written: 20 },
    { environment: 'us', comments: 21, written: 21 },
  ])
})

describe('the receiver of a webhook', () => {
  const secret = 'a-secret-of-the-vendor'

  test('forwards a signed call as a hint, and refuses another one', async () => {
    const live = await openLoaded('postgres')
    const http = await serveApp(await live.openApp())
    const receiver = await startReceiver(http.url)
    const [place] = places(live.world)
    const { organizationId, documentId } = place!
    const body = JSON.stringify({ organizationId, documentId, annotationId: 'new' })
    expect(await receiver.post(body, sign(body))).toBe(202)
    const [run] = await live.rows('select trigger, scope from sync.runs')
    expect(run).toMatchObject({ trigger: 'hint' })
    expect(JSON.stringify(run?.['scope'])).toContain('new')
    const isNew = `select from collab.annotations where annotation_id = 'new'`
    expect(await live.rows(isNew)).toHaveLength(1)
    for (const signature of [undefined, '', 'ab', 'no hex', sign(`${body} `)])
      expect(await receiver.post(body, signature)).toBe(401)
    expect(await receiver.post('no JSON', sign('no JSON'))).toBe(503)
    await http.stop()
    expect(await receiver.post(body, sign(body))).toBe(503)
    expect(await live.rows('select from sync.runs')).toHaveLength(1)
  })

  function sign(body: string): string {
    return createHmac('sha256', secret).update(body).digest('hex')
  }

  async function startReceiver(serveUrl: string) {
    const port = await freePort()
    const [code = ''] = recipeBlocks('Hints from a vendor’s webhook', 'js')
    const program = replaced(code, [['8090', String(port)]])
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env: { SERVE_URL: serveUrl, SERVE_TOKEN: TOKEN, WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    closedAtEnd(async () => {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    const post = async (body: string, signature: string | undefined): Promise<number> => {
      const headers = signature === undefined ? {} : { 'x-signature': signature }
      const init = { method: 'POST', headers, body }
      return (await fetch(`http://127.0.0.1:${port}/`, init)).status
    }
    await until('the receiver listens', () =>
      post('', undefined).then(
        () => true,
        () => false,
      ),
    )
    return { post }
  }
})

test('a worker reads the files of key and token again when the service refuses them', async () => {
  const folder = ownFolder()
  const [ini = ''] = recipeBlocks('Secrets that an agent rotates', 'ini')
  const names = [...ini.matchAll(/^(\w+)=\/run\/secrets\/(.+)$/gm)].map(
    ([, name = '', file = '']) => ({
      name,
      path: join(folder, file),
    }),
  )
  expect(names.map(({ name }) => name)).toEqual(['COLLAB_API_KEY_FILE', 'COLLAB_AUTH_TOKEN_FILE'])
  const [key, token] = names.map(({ path }) => path) as [string, string]
  const settings = {
    COLLAB_API_KEY: '',
    COLLAB_AUTH_TOKEN: '',
    ...Object.fromEntries(names.map(({ name, path }) => [name, path])),
  }
  const live = await openLoaded('none', {
    standIn: { apiKey: 'key-1', authToken: 'token-1' },
    settings,
  })
  writeFileSync(key, 'key-1\n')
  writeFileSync(token, 'token-1\n')
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  // As long as the service accepts the old values, they are used.
  writeFileSync(token, '')
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  live.standIn.apiKey = 'key-2'
  live.standIn.authToken = 'token-2'
  writeFileSync(key, 'key-2\n')
  writeFileSync(token, 'token-2\n')
  // `live` keeps one process for all runs with the same settings.
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  expect(live.standIn.calls.log.some(({ status }) => status === 401)).toBe(true)
})

test('the routes of Alertmanager know each severity of the alert rules', () => {
  const [prometheus = '', alertmanager = ''] = recipeBlocks('PagerDuty and e-mail', 'yaml')
  expect(parse(prometheus)).toMatchObject({
    alerting: { alertmanagers: [{ static_configs: [{ targets: ['alertmanager:9093'] }] }] },
  })
  const { route, receivers } = parse(alertmanager, { merge: true })
  const rules = fileText('docs/alerts/collab-sync.rules.yml')
  const severities = new Set([...rules.matchAll(/severity: (\w+)/g)].map(([, name]) => name))
  expect([...severities].toSorted()).toEqual(['page', 'ticket'])
  expect(route.routes).toEqual([{ matchers: ['severity = page'], receiver: 'pagerduty' }])
  expect(receivers.map(({ name }: any) => name)).toContain(route.receiver)
  const [, pagerduty] = receivers
  expect(pagerduty).toMatchObject({ name: 'pagerduty', email_configs: receivers[0].email_configs })
  for (const [, annotation] of alertmanager.matchAll(/\.CommonAnnotations\.(\w+)/g))
    expect(rules).toContain(` ${annotation}: `)
})
