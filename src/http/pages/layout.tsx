import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ComponentChildren } from 'preact'
import { render } from 'preact-render-to-string'
import { printable } from '../../base/printable.ts'
import type { ProblemError } from '../problem.ts'
import { covers } from '../auth/tokens.ts'
import type { Access } from '../auth/tokens.ts'
import { MayOperate, Sentence, Submit } from './elements.tsx'
import { noticeOf } from './notices.ts'
import type { NoticeName } from './notices.ts'
import { staticPath } from './static/files.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Held removals and rejected records that wait for a decision; `WAITING_MOST` and one of each at most. */
    waiting?: number
  }
  interface FastifyReply {
    /** True if users sign in, so that they can sign out. */
    hasSignOut?: boolean
  }
}

/** A page without its content. */
export interface Frame {
  /** Its one `h1`, and the window's title. */
  readonly title: string
  /** Its part of the navigation; null for none. */
  readonly part: Part | null
  readonly script?: string
  readonly beside?: ComponentChildren
  /** Notices that are no longer true. */
  readonly pastNotices?: readonly NoticeName[]
  /** The text in the search box. */
  readonly search?: string | undefined
}

export type Part =
  '/' | '/runs' | '/organizations' | '/held' | '/schedule' | '/workers' | '/history'

const PARTS: readonly (readonly [Part, string])[] = [
  ['/', 'Overview'],
  ['/runs', 'Runs'],
  ['/organizations', 'Catalog'],
  ['/held', 'Waiting'],
  ['/schedule', 'Schedule'],
  ['/workers', 'Workers'],
  ['/history', 'History'],
]

/** Sends a page, with the notice of the action that redirected to it. */
export function sendPage(
  reply: FastifyReply,
  { title, part, script, beside, search, pastNotices }: Frame,
  content: ComponentChildren,
): FastifyReply {
  const { query, access, waiting = 0 } = reply.request
  const notice = noticeOf(query, pastNotices)
  return sendDocument(
    reply,
    title,
    <MayOperate.Provider value={access === null || covers(access.rights, 'operate')}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header part={part} search={search} waiting={waiting} />
      <main id="content" tabIndex={-1}>
        {notice !== null && (
          <p class="notice info" role="status">
            {notice}
          </p>
        )}
        <div class="title">
          <h1>{title}</h1>
          {beside}
        </div>
        {content}
      </main>
      <Footer access={access} hasSignOut={reply.hasSignOut ?? false} />
    </MayOperate.Provider>,
    script,
  )
}

/** Sends an HTML document. It escapes all texts in the body, also characters that reverse the order of letters. */
export function sendDocument(
  reply: FastifyReply,
  title: string,
  body: ComponentChildren,
  script?: string,
): FastifyReply {
  const page = render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · collab-sync`}</title>
        <link rel="stylesheet" href={staticPath('style.css')} />
        <link rel="icon" href={staticPath('icon.svg')} type="image/svg+xml" />
        {script !== undefined && <script src={staticPath(script)} defer />}
      </head>
      <body>{body}</body>
    </html>,
  )
  return reply
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>${page.replace(/>[^<]+/g, (text) => printable(text, '\n\t\r'))}`)
}

/** The badge at Waiting counts no further. */
export const WAITING_MOST = 99

function Header({ part, search, waiting }: Pick<Frame, 'part' | 'search'> & { waiting: number }) {
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
                {path === '/held' && waiting > 0 && (
                  <>
                    {' '}
                    <span class="badge warn">
                      {waiting > WAITING_MOST ? `${WAITING_MOST}+` : waiting}
                    </span>
                  </>
                )}
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
        <Submit words="Search" />
      </form>
    </header>
  )
}

function Footer({ access, hasSignOut }: { access: Access | null; hasSignOut: boolean }) {
  return (
    <footer class="bottom">
      <p>
        All times are UTC.
        {access !== null && ` Signed in with ${access.name} (${access.rights}).`}
      </p>
      <ul>
        <li>
          <a href="/notifications">Notifications</a>
        </li>
        {(access === null || covers(access.rights, 'admin')) && (
          <li>
            <a href="/tokens">Tokens</a>
          </li>
        )}
        <li>
          <a href="/queues">Queue</a>
        </li>
        <li>
          <a href="/openapi.json">API</a>
        </li>
        {hasSignOut && (
          <li>
            <form method="post" action="/sign-out">
              <Submit words="Sign out" />
            </form>
          </li>
        )}
      </ul>
    </footer>
  )
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Not possible',
  404: 'Not found',
  409: 'Not possible now',
  500: 'Internal error',
  503: 'Unavailable',
}

/** Sends a page that says in a sentence what is wrong. */
export function sendFault(
  reply: FastifyReply,
  { statusCode, message }: ProblemError,
): FastifyReply {
  return sendPage(
    reply.code(statusCode),
    { title: TITLES[statusCode] ?? STATUS_CODES[statusCode] ?? 'Error', part: null },
    <section class="card">
      <p class="lead">
        <Sentence of={message} />
      </p>
      <p>
        <a href="/">Overview</a>
      </p>
    </section>,
  )
}
