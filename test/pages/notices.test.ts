import { expect, test } from 'vitest'
import { noticeOf } from '../../src/http/pages/notices.ts'

test('what was not decided is said, too', () => {
  expect(noticeOf({ done: 'held-refused', counts: '12.3.2' })).toBe(
    'The removal is refused: 12 people kept in 3 listings. Not decided: 2 listings. Check again.',
  )
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
