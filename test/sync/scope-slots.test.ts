import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ScopeSlots } from '../../src/core/sync/fetch/slots.ts'

const NEVER = { signal: new AbortController().signal, priority: 'normal' } as const

test('begins batch after batch in the order in which they came, and no more than there are slots', async () => {
  const slots = new ScopeSlots(4) // Eight slots.
  const begun: string[] = []
  let underWay = 0
  let most = 0
  const work = async (scope: string) => {
    begun.push(scope)
    most = Math.max(most, (underWay += 1))
    await setImmediate()
    underWay -= 1
  }
  const batches = ['a', 'b', 'c'].map((name) => Array.from({ length: 20 }, (_, n) => name + n))

  await Promise.all(batches.map((batch) => slots.each(batch, NEVER, work)))

  expect(begun).toEqual(batches.flat())
  expect(most).toBe(8)
})

test('begins others while scopes wait for another try, three in the slot of four', async () => {
  const slots = new ScopeSlots(4)
  const { ended, end } = latch()
  const failed: (() => void)[] = []
  const all = slots.each(range(50), NEVER, (_, onFailedTry) => {
    failed.push(onFailedTry)
    return ended
  })
  await setImmediate()
  expect(failed).toHaveLength(8)

  // A second failure of the same scope gives nothing more.
  for (const onFailedTry of failed.slice(0, 4)) onFailedTry()
  for (const onFailedTry of failed.slice(0, 4)) onFailedTry()
  await setImmediate()
  expect(failed).toHaveLength(8 + 3)

  for (let known = 4; known < failed.length; known++) {
    failed[known]?.()
    await setImmediate()
  }
  // Each takes one of 32 units then, and a first try takes four.
  expect(failed).toHaveLength(29)
  end()
  await all
  expect(failed).toHaveLength(50)
})

test('a batch that is given up waits for what it began, and gives its slots to the others', async () => {
  const slots = new ScopeSlots(4)
  const given = new AbortController()
  const { ended: held, end } = latch()
  const ended: number[] = []
  const slow = slots.each(range(20), { ...NEVER, signal: given.signal }, async (scope) => {
    await held
    ended.push(scope)
  })
  let isOver = false
  slow.catch(() => (isOver = true))
  const next: number[] = []
  const other = slots.each(range(20), NEVER, async (scope) => void next.push(scope))
  // Given up while it waits for the others to begin, it begins none.
  const waiting = slots.each([-1], { ...NEVER, signal: given.signal }, async (scope) => {
    next.push(scope)
  })
  waiting.catch(() => {})
  const reason = new Error('given up')
  await setImmediate()
  given.abort(reason)
  await setImmediate()
  expect([isOver, ended]).toEqual([false, []])
  end()

  await expect(slow).rejects.toBe(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(slots.each([-1], { ...NEVER, signal: given.signal }, fails)).rejects.toBe(reason)
  await slots.each([], NEVER, fails)
  expect(ended).toEqual(range(8))
  await other
  expect(next).toEqual(range(20))
})

test('scopes of high priority wait for none of normal priority, nor for the batch that begins them', async () => {
  const slots = new ScopeSlots(4)
  const { ended, end } = latch()
  const begun: string[] = []
  const work = (scope: string) => {
    begun.push(scope)
    return ended
  }
  const scopes = (name: string) => range(9).map(() => name)
  const all = [
    slots.each(scopes('normal'), NEVER, work),
    slots.each(scopes('normal'), NEVER, work),
    slots.each(scopes('high'), { ...NEVER, priority: 'high' }, work),
  ]
  await setImmediate()
  expect(begun.filter((each) => each === 'normal')).toHaveLength(8)
  expect(begun.filter((each) => each === 'high')).toHaveLength(8)
  end()
  await Promise.all(all)
  expect(begun).toHaveLength(27)
})

const fails = () => Promise.reject(new Error('no scope'))

function latch() {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { ended, end: () => end() }
}

function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n)
}
