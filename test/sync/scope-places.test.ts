import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ScopePlaces } from '../../src/core/sync/fetch/schedule.ts'

const NEVER = { signal: new AbortController().signal, priority: 'normal' } as const

test('begins batch after batch in the order in which they came, and no more than there are places', async () => {
  const places = new ScopePlaces(4) // Eight places.
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

  await Promise.all(batches.map((batch) => places.each(batch, NEVER, work)))

  expect(begun).toEqual(batches.flat())
  expect(most).toBe(8)
})

test('begins others while scopes wait for another try, three in the place of four', async () => {
  const places = new ScopePlaces(4)
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const failed: (() => void)[] = []
  const all = places.each(range(50), NEVER, (_, triesAgain) => {
    failed.push(triesAgain)
    return ended
  })
  await setImmediate()
  expect(failed).toHaveLength(8)

  // A second failure of the same scope gives nothing more.
  for (const triesAgain of failed.slice(0, 4)) triesAgain()
  for (const triesAgain of failed.slice(0, 4)) triesAgain()
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

test('a batch that is given up waits for what it began, and gives its places to the others', async () => {
  const places = new ScopePlaces(4)
  const given = new AbortController()
  let end = (): void => {}
  const held = new Promise<void>((resolve) => (end = resolve))
  const ended: number[] = []
  const slow = places.each(range(20), { ...NEVER, signal: given.signal }, async (scope) => {
    await held
    ended.push(scope)
  })
  let isOver = false
  slow.catch(() => (isOver = true))
  const next: number[] = []
  const other = places.each(range(20), NEVER, async (scope) => {
    next.push(scope)
  })
  const reason = new Error('given up')
  await setImmediate()
  given.abort(reason)
  await setImmediate()
  expect([isOver, ended]).toEqual([false, []])
  end()

  await expect(slow).rejects.toBe(reason)
  expect(ended).toEqual(range(8))
  await other
  expect(next).toEqual(range(20))
})

test('a batch that is given up while another one begins its scopes leaves the line at once', async () => {
  const places = new ScopePlaces(1)
  let goOn = (): void => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const first = places.each(range(9), NEVER, () => held)
  const given = new AbortController()
  const begun: number[] = []
  const second = places.each(range(5), { ...NEVER, signal: given.signal }, async (scope) => {
    begun.push(scope)
  })
  await setImmediate()
  given.abort(new Error('given up'))

  await expect(second).rejects.toThrow('given up')
  expect(begun).toEqual([])
  goOn()
  await first
})

test('a batch of no scopes ends, and one that was given up before begins none', async () => {
  const places = new ScopePlaces(1)
  await places.each([], NEVER, () => Promise.reject(new Error('no scope')))
  const aborted = { ...NEVER, signal: AbortSignal.abort(new Error('given up')) }
  await expect(places.each([1], aborted, async () => {})).rejects.toThrow('given up')
})

test('scopes of high priority wait for none of normal priority, nor for the batch that begins them', async () => {
  const places = new ScopePlaces(4)
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const begun: string[] = []
  const work = (scope: string) => {
    begun.push(scope)
    return ended
  }
  const scopes = (name: string) => range(9).map(() => name)
  const all = [
    places.each(scopes('normal'), NEVER, work),
    places.each(scopes('normal'), NEVER, work),
    places.each(scopes('high'), { ...NEVER, priority: 'high' }, work),
  ]
  await setImmediate()
  expect(begun.filter((each) => each === 'normal')).toHaveLength(8)
  expect(begun.filter((each) => each === 'high')).toHaveLength(8)
  end()
  await Promise.all(all)
  expect(begun).toHaveLength(27)
})

function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n)
}
