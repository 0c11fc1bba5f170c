import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSessions, SESSION_SECONDS } from '../../../src/http/auth/sessions.ts'

const NOW_MS = 1_800_000_000_000
const sessions = openSessions('a-token-of-the-tests')

describe('a session', () => {
  test('is known to every server on the same token until it is over', () => {
    const value = sessions.issue(7, NOW_MS)
    const elsewhere = openSessions('a-token-of-the-tests')
    expect(elsewhere.tokenIdOf(value, NOW_MS)).toBe(7)
    expect(elsewhere.tokenIdOf(value, NOW_MS + (SESSION_SECONDS - 1) * 1000)).toBe(7)
    expect(elsewhere.tokenIdOf(value, NOW_MS + SESSION_SECONDS * 1000)).toBeNull()
  })

  test('ends with the token that it was made from', () => {
    expect(openSessions('another-token-of-them').tokenIdOf(sessions.issue(0))).toBeNull()
  })

  test('cannot be prolonged or made up', () => {
    const [expires = '', tokenId = '', signature = ''] = sessions.issue(7, NOW_MS).split('.')
    const forged = [
      `${Number(expires) + 1}.${tokenId}.${signature}`,
      `${expires}.0.${signature}`,
      `${expires}.07.${signature}`,
      `${expires}${tokenId}..${signature}`,
      `${expires}.${signature}`,
      `${expires}.${tokenId}.`,
      expires,
    ]
    for (const value of forged) expect(sessions.tokenIdOf(value, NOW_MS), value).toBeNull()
    fc.assert(fc.property(fc.string(), (value) => sessions.tokenIdOf(value, NOW_MS) === null))
  })
})
