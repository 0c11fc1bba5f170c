import type { FastifyReply } from 'fastify'
import { Submit } from './elements.tsx'
import { sendDocument } from './layout.tsx'

/**
 * Responds with 401 and the form that asks for the token.
 * @param page.failed true after a wrong token
 * @param page.next the path to open after signing in, which the form sends back unchanged
 */
export function sendSignIn(
  reply: FastifyReply,
  { failed, next }: { failed: boolean; next: string },
): FastifyReply {
  return sendDocument(
    reply.code(401),
    'Sign in',
    <main class="sign-in">
      <section class="card">
        <h1>collab-sync</h1>
        <p class="soft" id="what">
          Sign in with <code>HTTP_TOKEN</code>, or a token of <code>collab-sync token add</code>.
        </p>
        {failed && (
          <p class="notice bad" role="alert" id="failed">
            The token is wrong.
          </p>
        )}
        <form class="stack" method="post" action="/sign-in">
          <input type="hidden" name="next" value={next} />
          <label for="token">Token</label>
          <input
            id="token"
            name="token"
            type="password"
            autocomplete="current-password"
            required
            autofocus
            aria-describedby={failed ? 'failed' : 'what'}
          />
          <Submit words="Sign in" kind="primary" />
        </form>
      </section>
    </main>,
  )
}
