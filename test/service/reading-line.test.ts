import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ReadingLine } from '../../src/service/body-memory.ts'

test('answers are read in their order, a few in one turn of the event loop, a long one alone', async () => {
  const line = new ReadingLine()
  const read: number[] = []
  const all = [20_000, 20_000, 100, 5_000_000, 100].map(async (bytes, place) => {
    await line.join(bytes)
    read.push(place)
  })
  expect(read).toEqual([])
  const turns: number[][] = []
  while (read.length < 5) {
    const before = read.length
    await nextTurn()
    if (read.length > before) turns.push(read.slice(before))
  }
  await Promise.all(all)
  expect(turns).toEqual([[0, 1], [2, 3], [4]])
})

test('there is room for so many answers without a permit, and for no more than eight megabytes of them', async () => {
  const line = new ReadingLine()
  expect(line.hasRoom(9_000_000, 2)).toBe(false)
  expect(line.hasRoom(7_000_000, 2)).toBe(true)
  const first = line.join(7_000_000)
  expect(line.hasRoom(2_000_000, 2)).toBe(false)
  expect(line.hasRoom(1_000, 2)).toBe(true)
  const second = line.join(1_000)
  expect(line.hasRoom(1_000, 2)).toBe(false)
  await Promise.all([first, second])
  expect(line.hasRoom(7_000_000, 2)).toBe(true)
})
