import { EnvHttpProxyAgent, ProxyAgent } from 'undici'
import { UsageError } from './errors.ts'
import { isThisMachine } from './this-machine.ts'

const HTTPS_PROXY = ['https_proxy', 'HTTPS_PROXY']
const HTTP_PROXY = ['http_proxy', 'HTTP_PROXY']

/**
 * Whether the environment names a proxy for an address: `HTTPS_PROXY` or `HTTP_PROXY`, or either in lower case, which wins.
 * An address of this machine is called without the proxy, which could not reach it.
 */
export function hasProxy(address: string): boolean {
  if (isThisMachine(new URL(address).hostname)) return false
  return nameOfSet([...HTTPS_PROXY, ...HTTP_PROXY]) !== undefined
}

/**
 * Opens the connections through the proxies that the environment names. EnvHttpProxyAgent applies `NO_PROXY`.
 * @throws UsageError naming the variable whose address is not that of a proxy
 */
export function openProxies(options: EnvHttpProxyAgent.Options = {}): EnvHttpProxyAgent {
  return new EnvHttpProxyAgent({
    ...options,
    proxyTunnel: false,
    httpsProxy: readAddress(HTTPS_PROXY),
    httpProxy: readAddress(HTTP_PROXY),
  })
}

function nameOfSet(names: readonly string[]): string | undefined {
  return names.find((name) => process.env[name]?.trim())
}

/**
 * The address of a proxy; empty where none is set. `host:port` means `http://host:port`, as for curl, npm and Go; undici
 * decides which other schemes are valid.
 */
function readAddress(names: readonly string[]): string {
  const name = nameOfSet(names)
  if (name === undefined) return ''
  const text = process.env[name]?.trim() ?? ''
  const address = text.includes('://') ? text : `http://${text}`
  try {
    // It connects to nothing yet.
    new ProxyAgent(address)
    return address
  } catch {
    // The error of undici may repeat the password.
    throw new UsageError(
      `${name} must be the address of a proxy, such as proxy.example.com:3128 or http://user:password@proxy.example.com:3128 (special characters in a password are written as %XX).`,
    )
  }
}
