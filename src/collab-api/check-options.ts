import { UsageError } from '../errors.ts'
import { isHeaderValue } from './token.ts'

/** The base address, checked. @throws UsageError naming COLLAB_API_URL */
export function parseBaseUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isUsable =
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.username + url.password + url.search + url.hash === ''
  if (!isUsable) {
    throw new UsageError(
      'COLLAB_API_URL must be an http(s) address without user, query or fragment, such as https://api.example.com',
    )
  }
  return url
}

/** @throws UsageError naming the setting: a key, or the name of a header, that cannot be sent */
export function checkHeaders(options: {
  readonly apiKey: string
  readonly apiKeyHeader: string
  readonly authTokenHeader: string
}): void {
  if (!isHeaderValue(options.apiKey)) {
    throw new UsageError('COLLAB_API_KEY is empty or holds a character that a header cannot carry')
  }
  for (const [setting, name] of [
    ['COLLAB_API_KEY_HEADER', options.apiKeyHeader],
    ['COLLAB_AUTH_TOKEN_HEADER', options.authTokenHeader],
  ] as const) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      throw new UsageError(`${setting} is not the name of a header: ${JSON.stringify(name)}`)
    }
  }
}
