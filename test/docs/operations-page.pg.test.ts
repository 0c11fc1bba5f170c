import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { bodyFor } from '../../src/features/notify/message.ts'
import type { Notification } from '../../src/features/notify/notification.ts'
import { ATTENTION, TYPES } from '../../src/schemas/notification-type.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import { unlistened } from '../http/served.ts'

/** What docs/OPERATING.md shows is what the program does. */

const page = readFileSync(new URL('../../docs/OPERATING.md', import.meta.url), 'utf8')

function sectionOf(heading: string): string {
  const [, section = ''] = page.split(`# ${heading}\n`)
  return section.split(/^#+ /m)[0]!
}

const blocksOf = (section: string, language: string): string[] =>
  [...section.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  )

describe('the samples of a notification', () => {
  const [json, slack, teams] = blocksOf(sectionOf('What a receiver gets'), 'json').map(
    (block) => JSON.parse(block) as any,
  )
  const { text, action, url, ...facts } = json.data
  const notification = { kind: json.type, at: json.timestamp, ...facts } as Notification
  const publicUrl = url.slice(0, -facts.path.length)
  const bodyOf = (shape: 'json' | 'slack' | 'teams') =>
    JSON.parse(bodyFor(shape, json.id, notification, publicUrl))

  test('are those of a webhook and of Slack', () => {
    expect(bodyOf('json')).toEqual(json)
    expect(json.data).toMatchObject({ text, action })
    expect(bodyOf('slack')).toEqual(slack)
  })

  test('is that of Teams, with its first line only', () => {
    const whole = bodyOf('teams')
    const { content } = whole.attachments[0]
    expect(content.body.length).toBeGreaterThan(1)
    content.body.length = 1
    expect(whole).toEqual(teams)
  })
})

test('each type of notification is named, with the kind of problem that it reports', () => {
  const section = sectionOf('Notifications')
  expect(TYPES.filter((type) => !section.includes(`\`${type}\``))).toEqual([])
  for (const [kind, types] of Object.entries(ATTENTION)) {
    const row = section.split('\n').find((line) => line.startsWith(`| \`${kind}\``)) ?? ''
    const named = [...row.matchAll(/(?<=\| )`([a-z]+\.[a-z]+)`/g)].map(([, type]) => type)
    expect([kind, named]).toEqual([kind, [...types]])
  }
})

test('the table of rights names each part of /v1', async () => {
  const live = await openLive('postgres')
  const server = await unlistened(await live.openApp())
  const rows = new Map(
    [...page.matchAll(/^\| `(read|operate|admin)` +\| ([^|]+)\|/gm)].map(([, right, parts]) => [
      right,
      parts ?? '',
    ]),
  )
  const routes = server.routes.filter(
    ({ method, url }) => url.startsWith('/v1/') && !['HEAD', 'OPTIONS'].includes(method),
  )
  expect(routes.length).toBeGreaterThan(30)
  for (const { method, url, right } of routes) {
    expect([url, right]).toEqual([url, method === 'GET' ? 'read' : 'operate'])
    expect([url, rows.get(String(right))]).toEqual([
      url,
      expect.stringContaining(`\`${url.split('/')[2]}\``),
    ])
  }
})

test('uninstalling leaves no schema and no right of collab_reader', async () => {
  const { pool } = await createTestDatabase()
  const [statements = ''] = blocksOf(sectionOf('Uninstall'), 'sql')
  // Other databases of this server have the role too.
  await pool.query(statements.replace(/^drop role .*$/m, ''))
  const schemas = await pool.query(
    `select nspname from pg_namespace where nspname !~ '^(pg_|information_schema$)'`,
  )
  expect(schemas.rows).toEqual([{ nspname: 'public' }])
  const rights = await pool.query(
    `select 1 from pg_shdepend where refobjid = 'collab_reader'::regrole
      and dbid = (select oid from pg_database where datname = current_database())`,
  )
  expect(rights.rows).toEqual([])
})
