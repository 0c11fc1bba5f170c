import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SESSION_SECONDS, openSessions } from '../../../src/http/door/sessions.ts'

const NOW_MS = 1_800_000_000_000
const sessions = openSessions('a-token-of-the-tests')

describe('a session', () => {
  test('is known to every server on the same token until it is over', () => {
    const value = sessions.issue(NOW_MS)
    const elsewhere = openSessions('a-token-of-the-tests')
    expect(elsewhere.isValid(value, NOW_MS)).toBe(true)
    expect(elsewhere.isValid(value, NOW_MS + (SESSION_SECONDS - 1) * 1000)).toBe(true)
    expect(elsewhere.isValid(value, NOW_MS + SESSION_SECONDS * 1000)).toBe(false)
  })

  test('ends with the token that it was made from', () => {
    expect(openSessions('another-token-of-them').isValid(sessions.issue(), Date.now())).toBe(false)
  })

  test('cannot be prolonged or made up', () => {
    const [expires = '', signature = ''] = sessions.issue(NOW_MS).split('.')
    const forged = [`${Number(expires) + 1}.${signature}`, `.${signature}`, `${expires}.`, expires]
    for (const value of forged) expect(sessions.isValid(value, NOW_MS), value).toBe(false)
    fc.assert(fc.property(fc.string(), (value) => !sessions.isValid(value, NOW_MS)))
  })
})
