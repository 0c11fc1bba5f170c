import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { errorResponses } from '../../src/http/error-response.ts'
import { createLog } from '../../src/base/log.ts'

test('a body that does not come is the fault of who sends it, not of PostgreSQL, and ends the connection', async () => {
  const app = Fastify()
  const readiness = async () => ({ postgresql: null, queue: null })
  app.setErrorHandler(errorResponses({ readiness, log: createLog('silent') }))
  app.post('/', { handlerTimeout: 50 }, async () => 'taken')
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\n')
  socket.write('Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{')
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  const answer = Buffer.concat(parts).toString()
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(answer).toContain('"detail":"The request was not received in time."')
  await app.close()
})
