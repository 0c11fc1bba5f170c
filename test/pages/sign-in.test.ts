import { expect, test } from 'vitest'
import { renderSignIn } from '../../src/http/pages/sign-in.tsx'

test('where to go next is kept as text, whatever it holds', () => {
  const page = renderSignIn({ failed: true, next: '/"><script>alert(1)</script>' })
  expect(page).not.toContain('<script')
  expect(page).toContain('value="/&quot;>&lt;script>alert(1)&lt;/script>"')
  expect(page).toContain('That is not the token.')
})
