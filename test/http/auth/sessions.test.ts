import cookie from '@fastify/cookie'
import fc from 'fast-check'
import Fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  SESSION_SECONDS,
  sessionKey,
  sessionTokenId,
  setSessionCookie,
} from '../../../src/http/auth/sessions.ts'

const NOW_MS = 1_800_000_000_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS }))
afterEach(() => void vi.useRealTimers())

/** A server that begins a session with the token of an ID, and reads the ID from a session. */
function openServer(token: string) {
  const app = Fastify()
  app.register(cookie, { secret: sessionKey(token) })
  app.post<{ Params: { id: string } }>('/:id', async (request, reply) => {
    setSessionCookie(request, reply, Number(request.params.id))
  })
  app.get('/', async (request) => ({ tokenId: sessionTokenId(app, request) }))
  return {
    async issue(tokenId: number): Promise<string> {
      const [session] = (await app.inject({ method: 'POST', url: `/${tokenId}` })).cookies
      return session?.value ?? ''
    },
    async tokenIdOf(value: string): Promise<unknown> {
      const headers = { cookie: `collab-sync-session=${encodeURIComponent(value)}` }
      return (await app.inject({ url: '/', headers })).json().tokenId
    },
  }
}

const server = openServer('a-token-of-the-tests')

describe('a session', () => {
  test('is known to every server on the same token until it is over', async () => {
    const value = await server.issue(7)
    const elsewhere = openServer('a-token-of-the-tests')
    expect(await elsewhere.tokenIdOf(value)).toBe(7)
    vi.setSystemTime(NOW_MS + (SESSION_SECONDS - 1) * 1000)
    expect(await elsewhere.tokenIdOf(value)).toBe(7)
    vi.setSystemTime(NOW_MS + SESSION_SECONDS * 1000)
    expect(await elsewhere.tokenIdOf(value)).toBeNull()
  })

  test('ends with the token that it was made from', async () => {
    const another = openServer('another-token-of-them')
    expect(await another.tokenIdOf(await server.issue(0))).toBeNull()
  })

  test('cannot be prolonged or made up', async () => {
    const [expires = '', tokenId = '', signature = ''] = (await server.issue(7)).split('.')
    const forged = [
      `${Number(expires) + 1}.${tokenId}.${signature}`,
      `${expires}.0.${signature}`,
      `${expires}.07.${signature}`,
      `${expires}${tokenId}..${signature}`,
      `${expires}.${signature}`,
      `${expires}.${tokenId}.`,
      `${expires}.${tokenId}`,
      expires,
    ]
    for (const value of forged) expect(await server.tokenIdOf(value), value).toBeNull()
    const isRefused = async (value: string) => (await server.tokenIdOf(value)) === null
    await fc.assert(fc.asyncProperty(fc.string(), isRefused))
  })
})
