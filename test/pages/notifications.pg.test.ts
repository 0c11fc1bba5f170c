import { expect, test } from 'vitest'
import { openLoaded } from '../helpers/live.ts'
import { startReceiver } from '../notify/receiver-server.ts'
import { askPages, wordsOf } from './open-pages.ts'

const live = await openLoaded('none')
const [good, bad] = await Promise.all([startReceiver(), startReceiver()])
const hostOf = ({ url }: { url: string }) => new URL(url).host

test('without a receiver, the page says so, and no test message is sent', async () => {
  const pages = await askPages(await live.openApp())
  expect(await pages.words('/notifications')).toContain('NOTIFY_URL is not set for this server')
  const refused = await pages.post('/notifications/test', {})
  expect([refused.status, wordsOf(refused)]).toEqual([
    400,
    expect.stringContaining('NOTIFY_URL is not set'),
  ])
})

test('each receiver has what it gets, and a test message says what it answered, without its path', async () => {
  bad.answer(403)
  const pages = await askPages(
    await live.openApp({
      NOTIFY_URL: `${good.url}/T0PSECRET slack+${bad.url}/T0PSECRET#events=run.finished heartbeat+${good.url}/T0PSECRET`,
      NOTIFY_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      HTTP_PUBLIC_URL: 'https://sync.example',
    }),
  )
  const page = await pages.page('/notifications')
  expect(wordsOf(page)).toContain(
    `json at ${hostOf(good)} open problems and their end, and runs that failed or were cancelled none yet`,
  )
  expect(wordsOf(page)).toContain(`slack at ${hostOf(bad)} run.finished none yet`)
  expect([good.asked(), bad.asked()]).toEqual([0, 0])

  const tested = await pages.post('/notifications/test', {})
  expect(tested.status).toBe(200)
  const words = wordsOf(tested)
  expect(words).toMatch(/accepted \(HTTP 200\).*not accepted \(HTTP 403\).*not sent: a ping/)
  expect(tested.text + page.text).not.toContain('T0PSECRET')
  expect([good.asked(), bad.asked()]).toEqual([1, 1])
  expect(good.received[0]?.body).toMatchObject({
    type: 'test',
    data: { url: 'https://sync.example/notifications' },
  })
})
