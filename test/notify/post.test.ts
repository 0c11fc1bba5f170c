import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { PostError, postMessage } from '../../src/notify/post.ts'
import { startReceiver } from './receiver-server.ts'
import type { ReceiverServer } from './receiver-server.ts'

/** One message to one receiver. */

let receiver: ReceiverServer
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.close())

async function post(shape: 'json' | 'slack' | 'teams', url: string): Promise<PostError | null> {
  const options = { secret: undefined, signal: new AbortController().signal }
  try {
    await postMessage({ shape, url, key: 'key' }, { id: 'id', body: '{}' }, options)
    return null
  } catch (error) {
    expect(error).toBeInstanceOf(PostError)
    return error as PostError
  }
}

test('a proxy address that cannot be used is named, and the message is tried again later', async () => {
  vi.stubEnv('HTTPS_PROXY', 'ftp://me:s3cret@proxy.example')
  const error = await post('slack', 'https://hooks.example/T0PSECRET')
  vi.unstubAllEnvs()
  expect(error?.message).toMatch(/^HTTPS_PROXY must be the address of a proxy, (?!.*s3cret)/)
  expect(error?.isWorthRetrying).toBe(false)
})
