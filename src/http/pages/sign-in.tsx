import { render } from 'preact-render-to-string'
import { STYLE } from './static/style.ts'

/**
 * The page that asks a person for the token. It contains the stylesheet, because every static file is behind the
 * authentication; a Content-Security-Policy allows it by its hash.
 * @param page.failed true after a token that was not right
 * @param page.next where to go once signed in: a path of ours, handed back by the form as it is
 * @returns a whole HTML document; the form posts `token` and `next` to /sign-in
 */
export function renderSignIn(page: { failed: boolean; next: string }): string {
  return `<!doctype html>${render(<SignIn {...page} />)}`
}

function SignIn({ failed, next }: { failed: boolean; next: string }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Sign in · collab-sync</title>
        <style>{STYLE}</style>
      </head>
      <body>
        <main class="sign-in">
          <section class="card">
            <h1>collab-sync</h1>
            <p class="soft" id="what">
              Sign in with <code>HTTP_TOKEN</code>, or a token of <code>collab-sync token add</code>
              .
            </p>
            {failed && (
              <p class="notice bad" role="alert" id="failed">
                That is not the token.
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
              <button class="button primary" type="submit">
                Sign in
              </button>
            </form>
          </section>
        </main>
      </body>
    </html>
  )
}
