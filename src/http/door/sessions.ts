import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Signed-in browsers. Nothing is kept of them, so that any `serve` on the same token knows them. */
export interface Sessions {
  /** The value of a new session's cookie; it says with which token it began. */
  issue(tokenId: number, nowMs?: number): string
  /** The token that a session began with; null for what is no session of ours, or over. */
  tokenIdOf(value: string, nowMs?: number): number | null
}

export const SESSION_SECONDS = 12 * 3600

/**
 * Sessions on a key that is made from HTTP_TOKEN: another one ends them all. A session cannot be ended one by one;
 * signing out takes the cookie from its browser.
 */
export function openSessions(token: string): Sessions {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'collab-sync session', 32))
  const sign = (claims: string) => createHmac('sha256', key).update(claims).digest()
  return {
    issue(tokenId, nowMs = Date.now()) {
      const claims = `${Math.floor(nowMs / 1000) + SESSION_SECONDS}.${tokenId}`
      return `${claims}.${sign(claims).toString('base64url')}`
    },
    tokenIdOf(value, nowMs = Date.now()) {
      const [, claims = '', expires, tokenId, signature] =
        /^((\d{1,12})\.(\d{1,15}))\.([\w-]{43})$/.exec(value) ?? []
      if (signature === undefined) return null
      const isOurs = timingSafeEqual(Buffer.from(signature, 'base64url'), sign(claims))
      return isOurs && Number(expires) * 1000 > nowMs ? Number(tokenId) : null
    },
  }
}
