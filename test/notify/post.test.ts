import { expect, test, vi } from 'vitest'
import {
  PostError,
  postMessage,
  postOnce,
  signatureHeaders,
} from '../../src/features/notify/post.ts'
import { startReceiver } from './receiver-server.ts'

/** One message to one receiver. */

const receiver = await startReceiver()

async function post(shape: 'json' | 'slack' | 'teams', url: string): Promise<PostError | null> {
  const options = { secret: undefined, signal: new AbortController().signal }
  try {
    await postMessage({ shape, url, key: 'key', events: [] }, { id: 'id', body: '{}' }, options)
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

const TEAMS_FAILED =
  'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=0'

test.each([
  ['teams', '1', null],
  ['teams', '', null],
  ['teams', TEAMS_FAILED, 'HTTP 200 with HTTP error 429 in the body'],
  ['teams', 'T0PSECRET is not a webhook', 'HTTP 200 with an unknown error in the body'],
  ['slack', TEAMS_FAILED, null],
  ['json', TEAMS_FAILED, null],
] as const)(
  'a response to %s with status 200 and the body %j: %j',
  async (shape, body, problem) => {
    receiver.answer(200, { 'retry-after': '60' }, body)
    const askedBefore = receiver.asked()
    const error = await post(shape, `${receiver.url}/T0PSECRET`)
    expect(error?.message ?? null).toBe(problem)
    if (problem !== null) expect(error?.waitS).toBe(60)
    // No further try at once.
    expect(receiver.asked() - askedBefore).toBe(1)
  },
)

test.each([
  [499, false],
  [500, true],
])(
  'whether a response with status %d is worth another try: %j',
  async (status, isWorthRetrying) => {
    receiver.answer(status)
    const sent = postOnce({ shape: 'json', url: receiver.url }, { id: 'id', body: '{}' }, undefined)
    await expect(sent).rejects.toMatchObject({ message: `HTTP ${status}`, isWorthRetrying })
  },
)

test('a message is signed as in the test of the reference libraries of Standard Webhooks', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  expect(signatureHeaders(secret, message, new Date(1_614_265_330_000))).toEqual({
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})
