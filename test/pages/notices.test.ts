import { expect, test } from 'vitest'
import { noticeOf, pathWithNotice } from '../../src/http/pages/notices.ts'

test('an address says what an action did, with its counts', () => {
  const path = pathWithNotice('/held', 'held-accepted', [12, 1, 0])
  expect(path).toBe('/held?done=held-accepted&counts=12.1.0')
  expect(noticeOf({ done: 'held-accepted', counts: '12.1.0' })).toEqual({
    tone: 'good',
    sentence: 'The removal is accepted: 12 users left the listing.',
  })
})

test('an address that has a query keeps it', () => {
  const path = pathWithNotice('/thing?organizationId=a%26b', 'hinted', [2])
  expect(path).toBe('/thing?organizationId=a%26b&done=hinted&counts=2')
  expect(noticeOf(Object.fromEntries(new URL(path, 'http://a').searchParams))).toEqual({
    tone: 'good',
    sentence: 'The comments of 2 annotations are fetched next.',
  })
})

test('what was not decided is said, too', () => {
  expect(noticeOf({ done: 'held-refused', counts: '12.3.2' })).toEqual({
    tone: 'info',
    sentence:
      'The removal is refused: 12 users kept in 3 listings. Not decided: 2 listings. Look again.',
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
