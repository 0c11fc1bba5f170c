import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import {
  PostError,
  postMessage,
  receiversOf,
  signatureHeaders,
} from '../../src/features/notify/post.ts'
import { fileText } from '../deploy/yaml-files.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { freePort } from '../helpers/servers.ts'
import { until } from '../helpers/until.ts'
import { replaced } from './recipe-blocks.ts'

const SECRET = `whsec_${Buffer.alloc(32, 'a').toString('base64')}`

test('the receiver of docs/PROGRAMS.md accepts a notification that is signed, and no other one', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const program = startReceiver(port)
  await until('the receiver listens', () => fetch(url).catch(() => undefined))
  const [receiver] = receiversOf([{ shape: 'json', url }])
  const body = JSON.stringify({ type: 'scopes.failing', data: { text: 'Ärger' } })
  const { signal } = new AbortController()
  const post = (secret: string | undefined) =>
    postMessage(receiver!, { id: 'message-1', body }, { secret, signal })
  await post(SECRET)
  for (const secret of [undefined, `whsec_${Buffer.alloc(32, 'b').toString('base64')}`])
    await expect(post(secret)).rejects.toThrow(PostError)
  const headers = {
    'webhook-id': 'message-1',
    ...signatureHeaders(SECRET, { id: 'message-1', body }, new Date(0)),
  }
  expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(401)
  expect(await program.printed()).toBe('scopes.failing Ärger\n')
})

/** Starts the receiver of the page as a program of its own. */
function startReceiver(port: number) {
  const section = fileText('docs/PROGRAMS.md').split('\n## Notifications\n')[1] ?? ''
  const [, code = ''] = /^```js\n([^]*?)^```$/m.exec(section) ?? []
  const program = replaced(code, [['8090', String(port)]])
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { NOTIFY_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output = text(child.stdout)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  closedAtEnd(stop)
  return {
    printed: async () => {
      await stop()
      return output
    },
  }
}
