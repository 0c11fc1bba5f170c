import type { LightMyRequestResponse } from 'fastify'
import type { HttpServer } from '../../../src/http/server.ts'

/** An ID that fits in each path with one. */
export const ID = '00000000-0000-4000-8000-000000000000'

/** What a browser sends with the form of a page of ours. */
export const OWN = {
  origin: 'http://localhost:80',
  host: 'localhost:80',
  'sec-fetch-site': 'same-origin',
}

export interface Sent {
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
  readonly from?: string
}

/** Sends a request to a server that listens nowhere, with a token as bearer or the fields of a form. */
export function send(
  { app }: HttpServer,
  method: string,
  url: string,
  { token, headers = {}, form, from = '127.0.0.1' }: Sent = {},
): Promise<LightMyRequestResponse> {
  return app.inject({
    method: method as 'GET',
    url,
    remoteAddress: from,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    ...(form === undefined ? {} : { payload: new URLSearchParams(form).toString() }),
  })
}

/** The cookie that an answer gives, as a browser sends it back. */
export function cookieOf({ headers }: LightMyRequestResponse): string {
  return String(headers['set-cookie']).split(';')[0] ?? ''
}
