import { CallError } from '../../base/errors.ts'

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO|ISSUER|CERT|ALTNAME/

/** Codes of Node and OpenSSL for a call without a response, and what an operator can do about it. */
const FIXES: readonly [code: RegExp, fix: string][] = [
  [
    /ENOTFOUND/,
    'there is no host of that name: correct COLLAB_API_URL, or HTTPS_PROXY if that names it',
  ],
  [/EAI_AGAIN/, 'the host name cannot be resolved: is the network up?'],
  [
    /ECONNREFUSED/,
    'nothing listens there: are host and port in COLLAB_API_URL right? With a proxy, check HTTPS_PROXY too',
  ],
  [
    /WRONG_VERSION|EPROTO|PACKET_LENGTH/,
    'no TLS is spoken there: is the port of COLLAB_API_URL right? The address of most proxies starts with http://',
  ],
  [
    UNTRUSTED,
    'its certificate is not trusted: NODE_EXTRA_CA_CERTS names a file with that of your authority',
  ],
  [
    /TIMEOUT/,
    'is COLLAB_API_URL right, and does a firewall allow it? A proxy is named in HTTPS_PROXY',
  ],
  [/PROXY|UND_ERR_ABORTED/, 'the proxy refuses the connection: is HTTPS_PROXY right?'],
]

/** What an operator can do about a call that got no response, as a clause. */
export function fixOf(error: CallError): string {
  const { code } = causeOf(error)
  const known = FIXES.find(([codes]) => codes.test(code))?.[1]
  return known ?? 'is COLLAB_API_URL right, is the network up, and does a firewall allow it?'
}

/** Why the service cannot be reached, and what an operator can do about it, in a sentence. */
export function describeUnreachable(error: CallError): string {
  const fix = fixOf(error)
  return `The service cannot be reached (${causeOf(error).detail}): ${fix}${fix.endsWith('?') ? '' : '.'}`
}

/** True where the service is there and its certificate is not trusted: another try would not change that. */
export function isUntrusted(error: CallError): boolean {
  return UNTRUSTED.test(causeOf(error).code)
}

/** Statuses of a server that does not know the path. With a code in the body, the service says so of a scope. */
const NO_SUCH_PATH: readonly (number | null)[] = [404, 405, 501]

/**
 * True if a response is probably not from the service: its path is not there, it leads elsewhere, or its body is a web page.
 * If there was never another response, COLLAB_API_URL is wrong.
 */
export function isOfOtherServer({
  httpStatus,
  errorStatus,
}: Pick<CallError, 'httpStatus' | 'errorStatus'>): boolean {
  if (errorStatus === null) return NO_SUCH_PATH.includes(httpStatus)
  if (errorStatus === 'redirect') return true
  return httpStatus !== null && httpStatus < 300 && errorStatus === 'web_page'
}

function causeOf({ cause, httpStatus }: CallError): { code: string; detail: string } {
  if (httpStatus === 407) return { code: 'PROXY', detail: 'HTTP 407 of a proxy' }
  if (cause instanceof CallError) return causeOf(cause)
  // Our own timer has no cause.
  if (cause === undefined) return { code: 'TIMEOUT', detail: 'no response in time' }
  const { code = '', message } = cause as NodeJS.ErrnoException
  // An error about several addresses has no message.
  return { code, detail: message || code }
}
