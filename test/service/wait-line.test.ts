import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { WaitLine } from '../../src/core/service/wait-line.ts'
import { onAbort, sleep } from '../../src/base/abort.ts'

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
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
})

test('a sleep that is over leaves nothing on its signal, and one that is stopped ends at once', async () => {
  const stop = new AbortController()
  await sleep(1, stop.signal)
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
  const stopped = sleep(100_000, stop.signal)
  stop.abort(new Error('enough'))
  await expect(stopped).rejects.toThrow('enough')
  await expect(sleep(0, stop.signal)).rejects.toThrow('enough')
})

test('whoever had its turn, or was sent away, leaves nothing on its signal', async () => {
  const line = new WaitLine()
  const { signal } = new AbortController()
  const first = line.join(signal)
  const second = line.join(signal)
  expect([line.length, line.letOneGo(), line.length]).toEqual([2, true, 1])
  await first
  line.dismiss(new Error('closed'))
  await expect(second).rejects.toThrow('closed')
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  expect([line.length, line.letOneGo()]).toEqual([0, false])
})

test('whoever is stopped leaves the line; a signal that has aborted never enters it', async () => {
  const line = new WaitLine()
  const stop = new AbortController()
  const waiting = line.join(stop.signal)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(line.join(stop.signal)).rejects.toThrow('enough')
  expect(line.length).toBe(0)
})
