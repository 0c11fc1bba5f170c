import type { InjectOptions } from 'fastify'
import { expect } from 'vitest'
import type { App } from '../../src/worker/app.ts'
import { BEARER, unlistened } from '../http/served.ts'

/** The pages on a server that listens nowhere, asked as a browser asks, until the test or its file ends. */
export interface PagesAsked {
  get(path: string, headers?: Record<string, string>): Promise<ServiceResponse>
  post(path: string, fields: Record<string, string>): Promise<ServiceResponse>
  /** A page that is there: with one title, and without styles or scripts of its own. */
  page(path: string): Promise<ServiceResponse>
  /** The words of a page that is there. */
  words(path: string): Promise<string>
  /** The question before an action. */
  question(action: string, fields: Fields): Promise<Question>
  /** Confirms an action; the address of the page that reports it. */
  act(action: string, fields: Fields): Promise<string>
}

type Fields = Readonly<Record<string, string>>

export interface Question extends ServiceResponse {
  /** Sends the form of the question. */
  confirm(more?: Fields): Promise<ServiceResponse>
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
  const pages: PagesAsked = {
    get: (path, headers = {}) =>
      ask({ method: 'GET', url: path, headers: { ...person, ...headers } }),
    post: (path, fields) =>
      ask({
        method: 'POST',
        url: path,
        headers: { ...person, 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(fields).toString(),
      }),
    async page(path) {
      const page = await pages.get(path)
      expect(page.status, `${path}: ${wordsOf(page)}`).toBe(200)
      expect(page.text.match(/<h1>/g), path).toHaveLength(1)
      expect(page.text, path).not.toMatch(/ style="|<style|javascript:/)
      return page
    },
    words: async (path) => wordsOf(await pages.page(path)),
    async question(action, fields) {
      const page = await pages.page(`/actions/${action}?${new URLSearchParams(fields)}`)
      const confirm = (more: Fields = {}) =>
        pages.post(`/actions/${action}`, { ...hiddenFields(page), ...more })
      return { ...page, confirm }
    },
    act: async (action, fields) =>
      String((await (await pages.question(action, fields)).confirm()).headers['location']),
  }
  return pages
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
