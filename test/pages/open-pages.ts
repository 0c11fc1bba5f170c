import type { InjectOptions } from 'fastify'
import type { App } from '../../src/worker/app.ts'
import { BEARER, unlistened } from '../http/served.ts'

/** The pages on a server that listens nowhere, asked as a browser asks. */
export interface PagesAsked {
  get(path: string, headers?: Record<string, string>): Promise<ServiceResponse>
  post(path: string, fields: Record<string, string>): Promise<ServiceResponse>
  close(): Promise<void>
}

export interface ServiceResponse {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

export async function askPages(app: App): Promise<PagesAsked> {
  const server = await unlistened(app)
  const ask = async (request: InjectOptions): Promise<ServiceResponse> => {
    const { statusCode, body, headers } = await server.app.inject(request)
    return { status: statusCode, text: body, headers }
  }
  const person = { ...BEARER, accept: 'text/html' }
  return {
    get: (path, headers = {}) =>
      ask({ method: 'GET', url: path, headers: { ...person, ...headers } }),
    post: (path, fields) =>
      ask({
        method: 'POST',
        url: path,
        headers: { ...person, 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(fields).toString(),
      }),
    close: () => server.app.close(),
  }
}

/** The key that a question's form carries, and its other hidden fields. */
export function hiddenFields(page: ServiceResponse): Record<string, string> {
  const inputs = page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  return Object.fromEntries(
    [...inputs].map(([, name, value]) => [unescaped(name ?? ''), unescaped(value ?? '')]),
  )
}

/** The words of a page as a person reads them, all on one line. */
export function wordsOf(page: ServiceResponse): string {
  const main = page.text.slice(page.text.indexOf('<main'))
  const words = unescaped(main.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ')
  return words.replaceAll(' , ', ', ')
}

/** The hidden fields of the first form of an action that has such a field. */
export function formOf(
  page: ServiceResponse,
  action: string,
  field: string,
): Record<string, string> {
  const forms = page.text.matchAll(
    new RegExp(`<form[^>]* action="/actions/${action}">.*?</form>`, 'g'),
  )
  const all = [...forms].map(([text]) => hiddenFields({ ...page, text }))
  const found = all.find((fields) => field in fields)
  if (found === undefined) throw new Error(`${action} is not asked for with ${field}.`)
  return found
}

export function unescaped(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
