import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { onAbort } from '../../src/service/wait.ts'

test('one listener serves all that wait on a signal, and goes with the last of them', () => {
  const { signal } = new AbortController()
  const forgetFirst = onAbort(signal, () => {})
  const forgetSecond = onAbort(signal, () => {})
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  forgetFirst()
  forgetFirst()
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  forgetSecond()
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('whoever still waits hears of it, also after others came and went', () => {
  const stop = new AbortController()
  const heard: string[] = []
  onAbort(stop.signal, () => heard.push('gone'))()
  const forget = onAbort(stop.signal, () => heard.push('taken back'))
  onAbort(stop.signal, () => heard.push('first'))
  forget()
  onAbort(stop.signal, () => heard.push('second'))
  stop.abort()
  onAbort(stop.signal, () => heard.push('too late to wait'))
  expect(heard).toEqual(['first', 'second', 'too late to wait'])
})
