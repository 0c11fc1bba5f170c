import { expect, test } from 'vitest'
import { renderSignIn, SIGN_IN_STYLE } from '../../src/http/pages/sign-in.tsx'

test('the sign-in page carries its rules as they are hashed, and nothing else that a policy must allow', () => {
  const page = renderSignIn({ failed: false, next: '/runs' })
  expect(page).toContain(`<style>${SIGN_IN_STYLE}</style>`)
  expect(page.match(/<style/g)).toHaveLength(1)
  expect(page).not.toMatch(/<script|<link|<img| style="| on[a-z]+="/)
  expect(page).not.toContain('That is not the token.')
})

test('where to go next is kept as text, whatever it holds', () => {
  const page = renderSignIn({ failed: true, next: '/"><script>alert(1)</script>' })
  expect(page).not.toContain('<script')
  expect(page).toContain('value="/&quot;>&lt;script>alert(1)&lt;/script>"')
  expect(page).toContain('That is not the token.')
})
