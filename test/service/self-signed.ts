import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { closedAtEnd } from '../helpers/closing.ts'

/** For 127.0.0.1, until 2126; of no authority that anything trusts. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUbf15fzeJn3prs+BsVCACfYWKP0QwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyNjA4MTMxOVoYDzIxMjYxMTAy
MDgxMzE5WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARRPX/PXGHwDGD9kh17olgRx9hgiMhAXn8mW1foq6rs18Z3xC1r2nyN
5i7OF3q2XLppV3FTm+8EGjeXBdjMKO8uo2QwYjAdBgNVHQ4EFgQUTRpKS+c6C1L1
muF9ZcdSz07E/powHwYDVR0jBBgwFoAUTRpKS+c6C1L1muF9ZcdSz07E/powDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IBrcprCJ9Hrp7PvZU4R2bzmaG+Q5Ee42/jRXy2tfZI3VAiEA3YH9MrDcC5GbkCtt
h4fdGFp/gEf3mj5xrm3TB17YCFg=
-----END CERTIFICATE-----`

const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrtbPAJADOWi7CGpD
1JGgM6PCGU3CDkerxtX0tfbEfXKhRANCAARRPX/PXGHwDGD9kh17olgRx9hgiMhA
Xn8mW1foq6rs18Z3xC1r2nyN5i7OF3q2XLppV3FTm+8EGjeXBdjMKO8u
-----END PRIVATE KEY-----`

/** An HTTPS server whose certificate is not trusted, until the test or its file ends. */
export async function openSelfSignedServer(): Promise<{ readonly url: string }> {
  const server = createServer({ cert: CERTIFICATE, key: KEY }, (_request, response) =>
    response.end(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closedAtEnd(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
}
