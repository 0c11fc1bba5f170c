import { expect, test } from 'vitest'
import { noticeOf, pathWithNotice } from '../../src/pages/notices.ts'

test('an address says what an action did, with its counts', () => {
  const path = pathWithNotice('/held', 'replayed', [12, 3, 0])
  expect(path).toBe('/held?done=replayed&counts=12.3.0')
  expect(noticeOf({ done: 'replayed', counts: '12.3.0' })).toEqual({
    tone: 'good',
    sentence: 'Tried again: 12 rejected records stored, 3 still not, 0 overtaken by newer answers.',
  })
})

test('an address can say nothing that is not among our sentences', () => {
  const forged = [
    {},
    { done: 'Your account is locked' },
    { done: 'constructor' },
    { done: ['schedule-set'] },
    { done: 'held-accepted' },
    { done: 'held-accepted', counts: 'many' },
    { done: 'held-accepted', counts: '-1' },
    { done: 'held-accepted', counts: '1e999' },
    { done: 'replayed', counts: '1.2' },
  ]
  for (const query of forged) expect(noticeOf(query), JSON.stringify(query)).toBeNull()
})
