import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Signed-in browsers. Nothing is kept of them, so that any `serve` on the same token knows them. */
export interface Sessions {
  /** The value of a new session's cookie. */
  issue(nowMs?: number): string
  /** Whether a cookie's value is a session of ours that is not over. */
  isValid(value: string, nowMs?: number): boolean
}

export const SESSION_SECONDS = 12 * 3600

/**
 * Sessions on a key that is made from the token: another token ends them all. A session cannot be ended one by one;
 * signing out takes the cookie from its browser.
 */
export function openSessions(token: string): Sessions {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'collab-sync session', 32))
  const sign = (expires: string) => createHmac('sha256', key).update(expires).digest()
  return {
    issue(nowMs = Date.now()) {
      const expires = String(Math.floor(nowMs / 1000) + SESSION_SECONDS)
      return `${expires}.${sign(expires).toString('base64url')}`
    },
    isValid(value, nowMs = Date.now()) {
      const [, expires, signature] = /^(\d{1,12})\.([\w-]{43})$/.exec(value) ?? []
      if (expires === undefined || signature === undefined) return false
      const isOurs = timingSafeEqual(Buffer.from(signature, 'base64url'), sign(expires))
      return isOurs && Number(expires) * 1000 > nowMs
    },
  }
}
