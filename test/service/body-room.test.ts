import { describe, expect, test } from 'vitest'
import { BodyPlace, BodyRoom } from '../../src/service/body-memory.ts'

describe('the room for large bodies', () => {
  test('lets in what fits, in the order of asking, and the rest as others leave', () => {
    const room = new BodyRoom(100)
    const came: string[] = []
    const take = (name: string, bytes: number) => room.take(bytes, () => came.push(name))
    const leaveFirst = take('first', 60)
    const leaveSecond = take('second', 60)
    take('third', 10)
    expect(came).toEqual(['first'])
    leaveFirst()
    expect(came).toEqual(['first', 'second', 'third'])
    leaveFirst()
    take('fourth', 40)
    expect(came).toHaveLength(3)
    leaveSecond()
    expect(came).toEqual(['first', 'second', 'third', 'fourth'])
  })

  test('lets one that is larger than all of it come alone', () => {
    const room = new BodyRoom(100)
    const came: string[] = []
    const leaveSmall = room.take(1, () => came.push('small'))
    const leaveHuge = room.take(1_000_000, () => came.push('huge'))
    room.take(1, () => came.push('after it'))
    expect(came).toEqual(['small'])
    leaveSmall()
    expect(came).toEqual(['small', 'huge'])
    leaveHuge()
    expect(came).toEqual(['small', 'huge', 'after it'])
  })

  test('is not kept for a body that is given up while it waits', () => {
    const room = new BodyRoom(100)
    const came: string[] = []
    const leaveFirst = room.take(100, () => came.push('first'))
    const giveUp = room.take(100, () => came.push('given up'))
    room.take(50, () => came.push('third'))
    giveUp()
    expect(came).toEqual(['first'])
    leaveFirst()
    expect(came).toEqual(['first', 'third'])
  })
})

describe('the place of a body', () => {
  test('is entered when there is room and nothing else to wait for; a failure there is as good as an end', async () => {
    let end = (_reason: Error): void => {}
    const further = new Promise<void>((_, reject) => (end = reject))
    const room = new BodyRoom(100)
    const place = new BodyPlace(room, () => further)
    let isEntered = false
    const entering = place.enter(10).then(() => (isEntered = true))
    await Promise.resolve()
    expect(isEntered).toBe(false)
    end(new Error('the worker is stopping'))
    await entering
    const came: string[] = []
    room.take(95, () => came.push('next'))
    expect(came).toEqual([])
    place.leave()
    expect(came).toEqual(['next'])
  })
})
