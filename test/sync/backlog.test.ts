import { describe, expect, test } from 'vitest'
import { Backlog } from '../../src/sync/commit/buffer.ts'

describe('what was received and not committed', () => {
  test('is let grow up to its limit, then asks every batch to commit and holds up further calls', async () => {
    const backlog = new Backlog(100)
    const asked: string[] = []
    const small = backlog.open(() => asked.push('small'))
    const large = backlog.open(() => asked.push('large'))
    small.add(10)
    large.add(80)
    expect([small.room(), asked]).toEqual([null, []])
    large.add(20)
    expect(asked).toEqual(['small', 'large'])
    const order: string[] = []
    const waits = ['first', 'second'].map(async (name) => {
      await small.room()
      order.push(name)
    })
    small.remove(5)
    await Promise.resolve()
    expect(order).toEqual([])
    large.remove(80)
    await Promise.all(waits)
    expect(order).toEqual(['first', 'second'])
    expect(small.room()).toBeNull()
  })

  test('asks whoever adds to it above its limit to commit, again and again', () => {
    const backlog = new Backlog(100)
    let asked = 0
    const part = backlog.open(() => (asked += 1))
    part.add(100)
    part.add(1)
    expect(asked).toBe(2)
  })

  test('loses what a batch held that came to its end, and asks it no more', async () => {
    const backlog = new Backlog(100)
    let asked = 0
    const failing = backlog.open(() => (asked += 1))
    const other = backlog.open(() => {})
    failing.add(150)
    const wait = other.room()
    failing.close()
    await wait
    other.add(100)
    expect(asked).toBe(1)
  })

  test('lets a waiting call go with the reason of its signal', async () => {
    const backlog = new Backlog(1)
    const part = backlog.open(() => {})
    part.add(1)
    const stop = new AbortController()
    const wait = part.room(stop.signal)
    stop.abort(new Error('stopped by us'))
    await expect(wait).rejects.toThrow('stopped by us')
  })
})
