/**
 * Whether an address is reached through a proxy that the environment names, by the usual names (`HTTPS_PROXY`, `HTTP_PROXY`, or
 * either in lower case). EnvHttpProxyAgent then minds `NO_PROXY`. This machine itself is never reached so: no proxy could.
 */
export function hasProxy(address: string): boolean {
  const { hostname } = new URL(address)
  if (/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return false
  return ['https_proxy', 'http_proxy', 'HTTPS_PROXY', 'HTTP_PROXY'].some(
    (name) => process.env[name],
  )
}
