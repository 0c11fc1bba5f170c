import { h } from 'preact'
import { expect, test } from 'vitest'
import { renderPage } from '../../src/http/pages/layout.tsx'

test('text that would turn the order of letters stands there as an escape; what a form sends back stays as it is', () => {
  const id = 'a\u202Eb'
  const content = [h('p', null, `${id}\u2066\u009b\nnext line`), h('input', { value: id })]
  const page = renderPage({ title: `Run of ${id}`, part: null }, content)
  expect(page).toContain('<p>a\\u202eb\\u2066\\u009b\nnext line</p>')
  expect(page).toContain('<h1>Run of a\\u202eb</h1>')
  expect(page).toContain(`<input value="${id}"/>`)
})
