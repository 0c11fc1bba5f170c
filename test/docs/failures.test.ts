import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { FAILURES } from '../../src/core/service/errors.ts'
import type { Settings } from '../../src/settings/table.ts'
import { sharedSettings } from '../../src/settings/table.ts'

/** docs/FAILURES.md lists only what needs an action or explains one, and names in comments the tests that prove it. */

const ROOT = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/FAILURES.md'), 'utf8')

/** An entry is a heading with its list and the comment after it; a limit is an item of the section with that name. */
const sections = page.split(/^## /m)
const entries = sections.flatMap((section) => section.split(/^### /m).slice(1))
const limits = (sections.find((section) => section.startsWith('Limits\n')) ?? '')
  .split('\n')
  .filter((line) => line.startsWith('- '))

const titlesOf = (some: string[]) => some.map((entry) => entry.split('\n')[0])

test('each entry says what is seen, what to do, what happens, and which test proves it', () => {
  expect(entries.length).toBeGreaterThan(25)
  const wanted = [
    /^- \*\*Symptoms:\*\* \S/m,
    /^- \*\*Action:\*\* \S/m,
    /^- \*\*Handling:\*\* \S/m,
    /^<!-- Tests: `test\/\S+\.test\.ts`/m,
  ]
  const gaps = entries.filter((entry) => wanted.some((field) => !field.test(entry)))
  expect(titlesOf(gaps)).toEqual([])
})

test('no entry needs no action', () => {
  expect(titlesOf(entries.filter((entry) => /Action:\*\* None/.test(entry)))).toEqual([])
})

test('each limit names the test that proves it', () => {
  expect(limits.length).toBeGreaterThan(10)
  expect(limits.filter((limit) => !/<!-- Tests: `test\/\S+\.test\.ts`/.test(limit))).toEqual([])
})

test('each test that is named exists', () => {
  const named = [...page.matchAll(/`(test\/\S+\.test\.ts)`/g)].map(([, path = '']) => path)
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('each code of a failed scope is explained', () => {
  const own = ['breaker_open', 'could_not_be_processed', 'too_many_rejected', 'answer_does_not_line_up', 'worker_died'] // prettier-ignore
  const [section = ''] = sections.filter((each) => each.startsWith('Codes of failed scopes\n'))
  const codes = [...FAILURES.flatMap(({ shape = [] }) => shape), ...own]
  expect(codes.filter((code) => !section.includes(`\`${code}\``))).toEqual([])
})

test('each setting that workers share is in the entry of what happens if its values differ', () => {
  const namesIn = (heading: string): string[] => {
    const entry = entries.find((text) => text.startsWith(heading)) ?? ''
    return [...(/Handling:.*/.exec(entry)?.[0] ?? '').matchAll(/`([A-Z_]+)`/g)].map(
      ([, name = '']) => name,
    )
  }
  const stored = namesIn('A process has another value of a setting that `migrate` stored')
  const shared = Object.keys(sharedSettings({} as Settings))
  expect(stored).toContain('REFRESH_BUDGET')
  expect(namesIn('Live workers have different values of other settings').toSorted()).toEqual(
    shared.filter((name) => name !== 'SYNC_RATE_LIMIT' && !stored.includes(name)).toSorted(),
  )
})
