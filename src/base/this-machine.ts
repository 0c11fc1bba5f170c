import { isIPv4 } from 'node:net'

/** Whether a host is a name by which a machine calls itself; nobody else's name server can make one of them lead here. */
export function isThisMachine(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
}
