import type { FastifyInstance, FastifyReply } from 'fastify'
import * as z from 'zod'
import { UsageError } from '../../base/errors.ts'
import * as tokens from '../../core/database/statements/tokens.ts'
import { addAccessToken, removeAccessToken, RIGHTS, TOKEN_COLUMNS } from '../auth/access-tokens.ts'
import type { AccessToken } from '../auth/access-tokens.ts'
import { clearSessionCookie } from '../auth/sessions.ts'
import type { Lock } from '../auth/tokens.ts'
import { sendQuestion } from './actions/routes.tsx'
import { Card, Submit } from './elements.tsx'
import { sendPage } from './layout.tsx'
import { pathWithNotice } from './notices.ts'
import { readFields } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import { Table } from './tables.tsx'

const Name = z.object({ name: z.string().trim().max(200) })
const NewToken = Name.extend({ rights: z.enum(RIGHTS) })
/** What a user typed, even if it is wrong. */
const Typed = z.object({ name: z.string().catch(''), rights: z.string().catch('read') })

const ADMIN = { config: { right: 'admin' } } as const
const FRAME = { title: 'Tokens', part: null } as const

/** `/tokens`: the access tokens, for HTTP_TOKEN and tokens with the right `admin`. @param lock null without HTTP_TOKEN */
export function tokenRoutes(
  app: FastifyInstance,
  { database }: PageContext,
  lock: Lock | null,
): void {
  const sendList = async (reply: FastifyReply, fault?: { message: string; typed: unknown }) =>
    sendPage(
      reply,
      FRAME,
      <>
        {lock === null && (
          <p class="notice warn">
            <code>HTTP_TOKEN</code> is not set: this server accepts requests without a token, from
            this machine only. Tokens open nothing here.
          </p>
        )}
        {fault !== undefined && (
          <p class="notice bad" role="alert">
            {fault.message}
          </p>
        )}
        <section class="card">
          <Table
            caption="Tokens besides HTTP_TOKEN, by name"
            columns={[...TOKEN_COLUMNS, ['action', RemoveLink]]}
            rows={await tokens.read.all(database)}
            empty="There are no tokens besides HTTP_TOKEN."
          />
        </section>
        <AddForm {...Typed.parse(fault?.typed ?? {})} />
      </>,
    )

  app.get('/tokens', ADMIN, async (_request, reply) => sendList(reply))

  // The token is in this response alone: a redirect would put it into an address.
  app.post('/tokens', ADMIN, async (request, reply) => {
    try {
      const { name, rights } = readFields(NewToken, request.body)
      const token = await addAccessToken(database, name, rights, request.by)
      lock?.tokens.changed()
      return sendPage(
        reply,
        { ...FRAME, title: `Token ${name}` },
        <section class="card">
          <p>This is the token. It has the rights “{rights}” and cannot be shown again.</p>
          <p>
            <code>{token}</code>
          </p>
          <p>
            <a href="/tokens">Tokens</a>
          </p>
        </section>,
      )
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      return sendList(reply.code(400), { message: error.message, typed: request.body })
    }
  })

  app.get('/tokens/remove', ADMIN, async (request, reply) => {
    const fields = readFields(Name, request.query)
    return sendQuestion(reply, '/tokens/remove', fields, {
      title: 'Remove the token?',
      sentences: [
        `The token ${fields.name} and the sessions that began with it stop working within one second.`,
      ],
      words: 'Remove the token',
      isDanger: true,
      back: '/tokens',
    })
  })

  app.post('/tokens/remove', ADMIN, async (request, reply) => {
    const { name } = readFields(Name, request.body)
    await removeAccessToken(database, name, request.by)
    lock?.tokens.changed()
    if (request.access?.name !== name)
      return reply.redirect(pathWithNotice('/tokens', 'token-removed'), 303)
    clearSessionCookie(request, reply)
    return reply.redirect('/', 303)
  })
}

function RemoveLink({ name }: AccessToken) {
  return (
    <form method="get" action="/tokens/remove">
      <input type="hidden" name="name" value={name} />
      <button class="button quiet" type="submit" aria-label={`Remove the token ${name}`}>
        Remove
      </button>
    </form>
  )
}

function AddForm({ name, rights }: z.output<typeof Typed>) {
  return (
    <Card title="Add a token">
      <p class="soft">
        <code>read</code> shows everything except the queue. <code>operate</code> may also change
        things. <code>admin</code> may do everything, also add tokens.
      </p>
      <form class="fields" method="post" action="/tokens">
        <div>
          <label for="name">Name of its owner or purpose</label>
          <input id="name" name="name" required maxLength={64} value={name} />
        </div>
        <div>
          <label for="rights">Rights</label>
          <select id="rights" name="rights">
            {RIGHTS.map((each) => (
              <option key={each} value={each} selected={each === rights}>
                {each}
              </option>
            ))}
          </select>
        </div>
        <Submit words="Add the token" kind="primary" />
      </form>
    </Card>
  )
}
