import { describe, expect, test } from 'vitest'
import { MemoryBudget } from '../../src/core/service/memory.ts'

describe('the memory for responses', () => {
  test('is full from its limit on; then every batch is to commit, and on each change until it is not', () => {
    const memory = new MemoryBudget(100)
    const calls: string[] = []
    const unregister = memory.whenFull(() => calls.push('small'))
    memory.whenFull(() => calls.push('large'))
    const [small, large] = [memory.open(10), memory.open(80)]
    expect([memory.isFull, calls]).toEqual([false, []])
    large.resize(100)
    expect([memory.isFull, calls.splice(0)]).toEqual([true, ['small', 'large']])
    small.resize(5)
    expect([memory.isFull, calls.splice(0)]).toEqual([true, ['small', 'large']])
    unregister()
    small.resize(6)
    expect(calls.splice(0)).toEqual(['large'])
    large.resize(0)
    expect([memory.isFull, calls]).toEqual([false, []])
  })

  test('lets calls be sent that hold some of it, and the others once it is no longer full, behind large bodies', async () => {
    const memory = new MemoryBudget(100)
    expect(memory.open().untilFree()).toBeNull()
    const [holder, full, large, other] = [
      memory.open(1),
      memory.open(99),
      memory.open(),
      memory.open(),
    ]
    expect(holder.untilFree()).toBeNull()
    const waits = [large.take(100), other.untilFree()]
    holder.resize(0)
    full.resize(0)
    await waits[0]
    expect([large.bytes, memory.isFull]).toEqual([100, true])
    large.resize(0)
    await waits[1]
    expect([other.bytes, memory.isFull]).toEqual([0, false])
  })

  test('is taken by large bodies in their order, and nothing else begins while one waits', async () => {
    const memory = new MemoryBudget(100)
    let commits = 0
    memory.whenFull(() => (commits += 1))
    const [first, second, third] = [memory.open(), memory.open(), memory.open()]
    expect([first.take(60), first.bytes, commits]).toEqual([null, 60, 0])
    const order: string[] = []
    const waits = [
      second.take(60)?.then(() => order.push('second')),
      third.take(10)?.then(() => order.push('third')),
    ]
    expect([memory.isFull, commits > 0, third.bytes]).toEqual([true, true, 0])
    first.resize(0)
    await Promise.all(waits)
    expect([second.bytes, third.bytes, memory.isFull]).toEqual([60, 10, false])
    expect(order).toEqual(['second', 'third'])
  })

  test('lets a body that is larger than all of it come alone', async () => {
    const memory = new MemoryBudget(100)
    const [small, huge, after] = [memory.open(1), memory.open(), memory.open()]
    const wait = huge.take(1_000_000)
    expect(huge.bytes).toBe(0)
    small.resize(0)
    await wait
    const waitAfter = after.take(1)
    expect([huge.bytes, waitAfter === null]).toEqual([1_000_000, false])
    huge.resize(0)
    await waitAfter
    expect(after.bytes).toBe(1)
  })

  test('keeps no caller waiting that holds some of it: others may wait for what that one holds', () => {
    const memory = new MemoryBudget(100)
    const holder = memory.open(1)
    const full = memory.open(100)
    expect(full.take(50)).toBeNull()
    expect([holder.take(500), holder.bytes]).toEqual([null, 501])
  })

  test('is not kept for a body that is given up while it waits', async () => {
    const memory = new MemoryBudget(100)
    const [first, failed] = [memory.open(60), memory.open()]
    const [stopped, last] = [memory.open(), memory.open()]
    const stop = new AbortController()
    const ended = failed.take(60)
    const wait = stopped.take(60, stop.signal)
    const waitLast = last.take(50)
    expect(last.bytes).toBe(0)
    failed.resize(0)
    stop.abort(new Error('stopped by us'))
    await expect(wait).rejects.toThrow('stopped by us')
    first.resize(0)
    await Promise.all([ended, waitLast])
    expect([failed.bytes, stopped.bytes, last.bytes, memory.isFull]).toEqual([0, 0, 50, false])
    await expect(stopped.take(90, stop.signal)).rejects.toThrow('stopped by us')
    expect(stopped.bytes).toBe(0)
  })
})
