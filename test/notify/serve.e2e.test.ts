import { expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { startReceiver } from './receiver-server.ts'
import { SECRET } from './rig.ts'

test('serve reports that no worker is alive, and refuses to send messages unsigned', async () => {
  const command = await buildCommand()
  const database = await createTestDatabase()
  const receiver = await startReceiver()
  await database.pool.query(
    `update collab_store.definitions set next_due_at = now() + interval '1 hour', worker_left_at = now() - interval '1 hour'`,
  )
  const settings = {
    DATABASE_URL: database.url,
    HTTP_PORT: '0',
    HTTP_TOKEN: 'a-token-of-the-tests',
    NOTIFY_URL: receiver.url,
  }
  expect(await command.run(['serve'], settings)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^NOTIFY_SECRET is not set/),
  })
  const serve = command.start(['serve'], { ...settings, NOTIFY_SECRET: SECRET })
  await serve.shows(/"msg":"notified"/)
  expect(receiver.received.map(({ body }) => body.type)).toEqual(['worker.none'])
  serve.child.kill('SIGTERM')
  expect(await serve.ended).toMatchObject({ code: 0, stdout: '' })
})
