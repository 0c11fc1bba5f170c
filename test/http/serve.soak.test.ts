import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand, Environment, Running } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { eventsOf } from './event-stream.ts'

const TOKEN = 'a-token-of-the-tests'
const BEARER = { authorization: `Bearer ${TOKEN}` }

let command: BuiltCommand
let database: TestDatabase
let settings: Environment

beforeAll(async () => {
  command = await buildCommand()
  database = await createTestDatabase()
  settings = { DATABASE_URL: database.url, HTTP_PORT: '0', HTTP_TOKEN: TOKEN }
})
afterAll(async () => {
  await command?.remove()
  await database?.drop()
})

/** Starts the command, and waits for its address. */
async function start(environment: Environment): Promise<{ running: Running; url: string }> {
  const running = command.start(['serve'], environment)
  let stderr = ''
  running.child.stderr?.on('data', (text: string) => (stderr += text))
  await running.shows(/"address":"http/)
  const url = /"address":"([^"]+)"/.exec(stderr)?.[1] ?? ''
  return { running, url }
}

describe('collab-sync serve', () => {
  test('serves until SIGTERM, lets go of who follows a run, and ends with 0', async () => {
    const { running, url } = await start(settings)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
    expect((await fetch(`${url}/`)).status).toBe(401)
    for (const path of [
      '/',
      '/runs',
      '/openapi.json',
      '/queues',
      '/metrics',
      '/v1/runs',
      '/static/style.css',
    ])
      expect((await fetch(url + path, { headers: BEARER })).status, path).toBe(200)
    await command.runProcess(['catalog', 'import', '-'], settings, '{"organizationId":"acme"}')
    const headers = { ...BEARER, 'content-type': 'application/json' }
    const asked = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body: '{}' })
    expect(asked.status).toBe(202)
    const path = `${asked.headers.get('location')}/events`
    const events = eventsOf(await fetch(url + path, { headers: BEARER }))
    expect((await events.next()).value).toMatchObject({ event: 'run', data: { status: 'queued' } })
    running.child.kill('SIGTERM')
    expect((await events.next()).done).toBe(true)
    const { code, stdout, stderr } = await running.ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).not.toContain(TOKEN)
    expect(stderr).not.toMatch(/"level":"error"/)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  })

  test.each([
    [{ HTTP_PORT: '70000' }, /^HTTP_PORT must be a whole number from 0 to 65535, .*\n$/],
    [{ HTTP_HOST: '127.0.0.1:80' }, /^HTTP_HOST must be a host name .*\n$/],
    [
      { HTTP_HOST: '192.0.2.1' },
      /^HTTP_HOST=192\.0\.2\.1 and HTTP_PORT=0 cannot be .* no such address\.\n$/,
    ],
  ])('%j ends with 2 and one sentence', async (wrong, sentence) => {
    const ended = await command.runProcess(['serve'], {
      ...settings,
      ...wrong,
      LOG_LEVEL: 'silent',
    })
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) })
  })
})
