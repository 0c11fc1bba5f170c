import { expect, test } from 'vitest'
import type { Database } from '../../src/core/database/pool.ts'
import { inCommitSlot } from '../../src/core/sync/commit/buffer.ts'

test('three commits are made at a time, in the order they came, and one that fails gives its lane back', async () => {
  const database = {} as Database
  const begun: number[] = []
  let under = 0
  let most = 0
  const ends = Array.from({ length: 7 }, () => deferred())
  const commits = ends.map(({ promise }, number) =>
    inCommitSlot(database, async () => {
      begun.push(number)
      most = Math.max(most, ++under)
      await promise.finally(() => under--)
    }),
  )
  const settled = Promise.allSettled(commits)
  ends[1]?.reject(new Error('lost'))
  await expect(commits[1]).rejects.toThrow('lost')
  expect(begun).toEqual([0, 1, 2, 3])
  for (const { resolve } of ends) resolve()
  expect((await settled).filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(most).toBe(3)
})

function deferred() {
  let resolve: () => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<void>((ok, fail) => {
    resolve = ok
    reject = fail
  })
  return { promise, resolve, reject }
}
