import { expect, test } from 'vitest'
import { noticeOf, pathWithNotice } from '../../src/pages/notices.ts'

test('an address says what an action did, with its counts', () => {
  const path = pathWithNotice('/held', 'held-accepted', [12])
  expect(path).toBe('/held?done=held-accepted&counts=12')
  expect(noticeOf({ done: 'held-accepted', counts: '12' })).toEqual({
    tone: 'good',
    sentence: 'The removal is accepted: 12 users left the listing.',
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
    { done: 'held-accepted', counts: '1.5x' },
  ]
  for (const query of forged) expect(noticeOf(query), JSON.stringify(query)).toBeNull()
})
