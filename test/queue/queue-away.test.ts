import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { EnvironmentError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { openQueue } from '../../src/core/queue/queue.ts'

test('a Redis that is not there is told at once, without its password', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  const opening = openQueue(
    { kind: 'redis', url: `redis://:s3cret@127.0.0.1:${port}`, prefix: 'x' },
    createLog('silent'),
  )
  await expect(opening).rejects.toThrow(EnvironmentError)
  await expect(opening).rejects.toThrow(/REDIS_URL/)
  await expect(opening).rejects.not.toThrow('s3cret')
})
