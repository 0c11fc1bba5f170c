import { describe, expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { buildCommand } from './built-command.ts'
import type { Environment } from './built-command.ts'

const HTTP_TOKEN = 'a-token-of-the-tests'

const command = await buildCommand()
const database = await createTestDatabase()
const settings: Environment = { DATABASE_URL: database.url, HTTP_PORT: '0', HTTP_TOKEN }

const token = (args: string[]) => command.run(['token', ...args], settings)

describe('collab-sync token', () => {
  test('add prints the token once on stdout; serve takes it and its rights, until remove withdraws it', async () => {
    const serve = command.start(['serve'], settings)
    const [, url] = await serve.shows(/"address":"(http[^"]+)"/)
    const added = await token(['add', 'ci', '--rights', 'read'])
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('ci (read)') })
    expect(added.stdout).toMatch(/^collab_sync_[\w-]{43}\n$/)
    const secret = added.stdout.trim()
    const status = async (method: string, path: string) => {
      const headers = { authorization: `Bearer ${secret}` }
      return (await fetch(url + path, { method, headers })).status
    }
    await until('the token is taken', async () => (await status('GET', '/v1/runs')) === 200)
    for (const path of ['/healthz', '/', '/metrics', '/v1/changes', '/openapi.json'])
      expect([path, await status('GET', path)]).toEqual([path, 200])
    expect(await status('DELETE', '/v1/schedule')).toBe(403)
    expect(await status('GET', '/queues')).toBe(403)

    const again = await token(['add', 'ci', '--rights', 'admin'])
    expect(again).toMatchObject({ code: 2, stdout: '' })
    expect(again.stderr).toMatch(/^The token ci exists already/)
    const listed = await token(['list'])
    expect(listed.stdout).toMatch(/^ +ci +read +\d{4}-/m)
    const { document } = await command.json(['token', 'list'], settings)
    expect(document).toEqual({
      tokens: [
        {
          name: 'ci',
          rights: 'read',
          createdAt: expect.any(String),
          createdBy: expect.any(String),
          lastUsedAt: expect.stringMatching(/:00:00\.000Z$/),
        },
      ],
    })

    expect(await token(['remove', 'ci'])).toMatchObject({ code: 0 })
    await until('the token is refused', async () => (await status('GET', '/v1/runs')) !== 200)
    serve.child.kill('SIGTERM')
    const ended = await serve.ended
    expect(ended.code).toBe(0)
    expect(ended.stderr).not.toContain(secret)
  })
})

test.each([
  ['the example, which everybody can read', 'the-output-of-openssl-rand-hex-32', 'the example'],
  ['a repeat', 'a'.repeat(16), 'easy to guess'],
  ['a sequence', '0123456789abcdef', 'easy to guess'],
])('%s is refused as HTTP_TOKEN by serve and doctor', async (_kind, weak, complaint) => {
  const environment = { ...settings, HTTP_TOKEN: weak }
  expect(await command.run(['serve'], environment)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      new RegExp(`^HTTP_TOKEN is ${complaint}[^\\n]+ openssl rand -hex 32\\n$`),
    ),
  })
  const { code, stdout } = await command.run(['doctor', '--json'], environment)
  expect({ code, stdout }).toMatchObject({ code: 2, stdout: expect.stringContaining('HTTP_TOKEN') })
})
