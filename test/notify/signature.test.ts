import { expect, test } from 'vitest'
import { signatureHeaders } from '../../src/features/notify/webhook.ts'

test('a message is signed as in the test of the reference libraries of Standard Webhooks', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  expect(signatureHeaders(secret, message, new Date(1_614_265_330_000))).toEqual({
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})
