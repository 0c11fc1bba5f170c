import { render } from 'preact-render-to-string'
import { COLOURS } from './static/style.ts'

/**
 * The few rules of the sign-in page, whole: every static file is behind authentication that this page opens. The text of its
 * one `<style>`, so that a Content-Security-Policy can allow it by its hash.
 */
export const SIGN_IN_STYLE = `${COLOURS}* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 24rem; padding: 2rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .75rem }
h1 { margin: 0 0 .25rem; font-size: 1.375rem; line-height: 1.25 }
p { margin: 0 0 1.25rem; color: var(--soft) }
.failed { padding: .625rem .75rem; border-radius: .375rem; background: var(--bad-back); color: var(--bad) }
label { display: block; margin-bottom: .25rem; font-weight: 600 }
input, button { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border-radius: .375rem; font: inherit }
input { margin-bottom: 1.25rem; border: 1px solid var(--field); background: var(--page); color: var(--ink) }
button { border: 0; background: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
code { font-size: .9375em }
`

/**
 * The page that asks a person for the token; needs no other file.
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
        <style>{SIGN_IN_STYLE}</style>
      </head>
      <body>
        <main>
          <h1>collab-sync</h1>
          <p id="what">
            Sign in with <code>HTTP_TOKEN</code>, or a token of <code>collab-sync token add</code>.
          </p>
          {failed && (
            <p class="failed" role="alert" id="failed">
              That is not the token.
            </p>
          )}
          <form method="post" action="/sign-in">
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
            <button type="submit">Sign in</button>
          </form>
        </main>
      </body>
    </html>
  )
}
