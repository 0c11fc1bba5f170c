import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { EnvironmentError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { openQueue } from '../../src/core/queue/queue.ts'
import { requireVersion } from '../../src/core/queue/redis.ts'

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

test('a Redis before 6.2 is refused, and one that does not say its version is not', () => {
  const use = (version: string) => () => requireVersion(new Map([['redis_version', version]]))
  expect(use('6.0.16')).toThrow('BullMQ needs Redis 6.2 or newer')
  for (const version of ['6.2.0', '10.0.1']) expect(use(version)).not.toThrow()
  expect(() => requireVersion(null)).not.toThrow()
})
