import { isIPv4 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Names by which a machine calls itself; nobody else's name server can make one of them lead here. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
}

/**
 * What is wrong with the `Host` of a request to a server without a token; null where nothing is. A page of a stranger
 * whose name leads to this machine (DNS rebinding) is told by it.
 */
export function hostFault(request: FastifyRequest): string | null {
  const host = parsed(`http://${request.headers.host ?? ''}`)
  if (host === null || !isLoopback(host.hostname))
    return 'Without HTTP_TOKEN this server answers to names of this machine only, such as localhost.'
  const port = Number(host.port || 80)
  return port === request.socket.localPort
    ? null
    : `Host names port ${port}, but this server listens on ${request.socket.localPort}.`
}

/** What is wrong with where a browser says that a request comes from; null where it comes from our own pages. */
export function originFault(request: FastifyRequest): string | null {
  const { origin, host } = request.headers
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'The request comes from a page of another site.'
  if (origin === undefined) return null
  const from = parsed(origin)?.host
  return from !== undefined && from === parsed(`${schemeOf(origin)}//${host ?? ''}`)?.host
    ? null
    : 'The request comes from a page of another origin than the one it goes to.'
}

/** Whether a browser says of a request that it comes from our own pages: older ones send `Origin` with a post too. */
export function saysWhereFrom({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
}

/** Whether a request may change something (RFC 9110, 9.2.1). */
export function mayChange({ method }: FastifyRequest): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/** With the scheme of the origin its usual port can be left out on either side. */
function schemeOf(origin: string): string {
  return origin.startsWith('https:') ? 'https:' : 'http:'
}

function parsed(address: string): URL | null {
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  return url.host === '' || url.username !== '' || url.pathname !== '/' ? null : url
}
