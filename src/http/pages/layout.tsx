import type { FastifyReply } from 'fastify'
import type { ComponentChildren } from 'preact'
import { render } from 'preact-render-to-string'
import { printable } from '../../base/printable.ts'
import { MayOperate, Sentence } from './elements.tsx'
import { noticeOf } from './notices.ts'
import type { Notice } from './notices.ts'
import { staticPath } from './static/files.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** True where people sign in, and so may sign out. */
    hasSignOut?: boolean
  }
}

/** A page but for its content. */
export interface Frame {
  /** Its one `h1`, and the window's title. */
  readonly title: string
  /** The part of the navigation that it belongs to; null for none. */
  readonly part: Part | null
  /** A script that it works better with. */
  readonly script?: string
  /** What stands beside the title, such as a status. */
  readonly beside?: ComponentChildren
  /** What the search box holds. */
  readonly search?: string | undefined
}

export type Part = '/' | '/runs' | '/organizations' | '/held' | '/schedule' | '/history'

const PARTS: readonly (readonly [Part, string])[] = [
  ['/', 'Overview'],
  ['/runs', 'Runs'],
  ['/organizations', 'Catalog'],
  ['/held', 'Waiting'],
  ['/schedule', 'Schedule'],
  ['/history', 'History'],
]

/** Sends a whole page, with what the address says of an action that led here. Everything in it is escaped. */
export function sendPage(
  reply: FastifyReply,
  frame: Frame,
  content: ComponentChildren,
): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(
      renderPage(frame, content, {
        hasSignOut: reply.hasSignOut,
        notice: noticeOf(reply.request.query),
        mayOperate: reply.request.mayOperate,
      }),
    )
}

/**
 * @param options.mayOperate false leaves out the buttons and forms that change something
 * @returns a whole HTML document
 */
export function renderPage(
  frame: Frame,
  content: ComponentChildren,
  {
    hasSignOut = false,
    notice = null,
    mayOperate = true,
  }: { hasSignOut?: boolean | undefined; notice?: Notice | null; mayOperate?: boolean } = {},
): string {
  const page = (
    <MayOperate.Provider value={mayOperate}>
      <Page {...frame} hasSignOut={hasSignOut} notice={notice}>
        {content}
      </Page>
    </MayOperate.Provider>
  )
  // A control that turns the order of letters would turn what stands beside it too.
  return `<!doctype html>${render(page).replace(/>[^<]+/g, (text) => printable(text, '\n\t\r'))}`
}

function Page({
  title,
  part,
  notice,
  script,
  beside,
  search,
  hasSignOut,
  children,
}: Frame & { hasSignOut: boolean; notice: Notice | null; children: ComponentChildren }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · collab-sync`}</title>
        <link rel="stylesheet" href={staticPath('style.css')} />
        <link rel="icon" href={staticPath('icon.svg')} type="image/svg+xml" />
        {script !== undefined && <script src={staticPath(script)} defer />}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <Header part={part} search={search} />
        <main id="content" tabIndex={-1}>
          {notice !== null && (
            <p class={`notice ${notice.tone}`} role="status">
              {notice.sentence}
            </p>
          )}
          <div class="title">
            <h1>{title}</h1>
            {beside}
          </div>
          {children}
        </main>
        <Footer hasSignOut={hasSignOut} />
      </body>
    </html>
  )
}

function Header({ part, search }: Pick<Frame, 'part' | 'search'>) {
  return (
    <header class="top">
      <a class="brand" href="/">
        collab-sync
      </a>
      <nav aria-label="Pages">
        <ul>
          {PARTS.map(([path, name]) => (
            <li key={path}>
              <a href={path} aria-current={path === part ? 'page' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form class="search" method="get" action="/search" role="search">
        <label class="unseen" for="q">
          ID, name or address
        </label>
        <input
          id="q"
          name="q"
          type="search"
          required
          value={search}
          placeholder="ID, name or address"
        />
        <button class="button quiet" type="submit">
          Search
        </button>
      </form>
    </header>
  )
}

function Footer({ hasSignOut }: { hasSignOut: boolean }) {
  return (
    <footer class="bottom">
      <p>All times are UTC.</p>
      <ul>
        <li>
          <a href="/queues">Queue</a>
        </li>
        <li>
          <a href="/openapi.json">API</a>
        </li>
        {hasSignOut && (
          <li>
            <form method="post" action="/sign-out">
              <button class="button quiet" type="submit">
                Sign out
              </button>
            </form>
          </li>
        )}
      </ul>
    </footer>
  )
}

/** A request that was not answered as it was asked. */
export interface Fault {
  readonly status: number
  /** The status in words, where nothing better is known. */
  readonly title: string
  /** What went wrong, for a person. */
  readonly sentence: string
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'That cannot be done',
  404: 'Not found',
  409: 'That cannot be done now',
  500: 'Something went wrong',
  503: 'Something is away',
}

/** A whole page that says in a sentence what went wrong. */
export function renderFault({ status, title, sentence }: Fault): string {
  const frame = { title: TITLES[status] ?? title, part: null }
  return renderPage(frame, <FaultCard sentence={sentence} />)
}

/** Answers that there is no such thing. */
export function sendUnknown(reply: FastifyReply, sentence: string): FastifyReply {
  const frame = { title: TITLES[404] as string, part: null }
  return sendPage(reply.code(404), frame, <FaultCard sentence={sentence} />)
}

function FaultCard({ sentence }: { sentence: string }) {
  return (
    <section class="card">
      <p class="lead">
        <Sentence of={sentence} />
      </p>
      <p>
        <a href="/">Overview</a>
      </p>
    </section>
  )
}
