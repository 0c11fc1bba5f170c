import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand, Environment } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { parseExposition, valueOf } from './exposition.ts'

let command: BuiltCommand
let database: TestDatabase
let environment: Environment
beforeAll(async () => {
  command = await buildCommand()
  database = await createTestDatabase()
  environment = {
    COLLAB_API_URL: 'http://127.0.0.1:9',
    COLLAB_API_KEY: 'key-31d7c0ffee',
    COLLAB_AUTH_TOKEN: 'token-5ca1ab1e',
    DATABASE_URL: database.url,
  }
  expect(await command.run(['migrate'], environment)).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await command?.remove()
  await database?.drop()
})

test('a worker with METRICS_PORT serves its metrics until it stops', async () => {
  const worker = command.start(['worker'], { ...environment, METRICS_PORT: '0' })
  let log = ''
  worker.child.stderr?.on('data', (text: string) => (log += text))
  await worker.shows(/"working"/)
  const address = /"address":"(http:\/\/127\.0\.0\.1:\d+\/metrics)"/.exec(log)?.[1] as string
  const answer = await fetch(address)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const families = parseExposition(await answer.text())
  expect(valueOf(families, 'collab_sync_calls_in_flight_limit')).toBe(16)
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0 })
  await expect(fetch(address)).rejects.toThrow()
})

test('a port that another program has is told in a sentence', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const worker = await command.run(['worker'], { ...environment, METRICS_PORT: `${port}` })
  other.close()
  expect(worker.code).not.toBe(0)
  expect(worker.stderr).toMatch(new RegExp(`METRICS_PORT ${port} on 127\\.0\\.0\\.1 cannot be`))
})
