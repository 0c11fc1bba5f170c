import { afterEach, expect, test } from 'vitest'
import { createWorld } from '../../src/demo/world.ts'
import { call } from './call.ts'
import { startStandIn } from './stand-in.ts'
import type { StandIn, StandInOptions } from './stand-in.ts'

const options = {
  seed: 11,
  organizations: 1,
  documentsPerOrganization: 2,
  annotationsPerDocument: 2,
  commentsPerAnnotation: 3,
  usersPerOrganization: 5,
  groupsPerOrganization: 1,
}
const place = { organizationId: 'org-0', documentId: 'doc-0', annotationId: 'ann-0' }
const running: StandIn[] = []

afterEach(async () => {
  for (const standIn of running.splice(0)) await standIn.close()
})

async function start(more: Partial<StandInOptions> = {}): Promise<StandIn> {
  const standIn = await startStandIn({ world: createWorld(options), ...more })
  running.push(standIn)
  return standIn
}

test('The record of calls counts every call by operation and keeps what was asked and answered', async () => {
  const standIn = await start()
  await call(standIn, 'users', { organizationId: 'org-0' })
  await call(standIn, 'comments', place)
  await call(standIn, 'comments', { ...place, annotationId: 'nowhere' })
  await call(standIn, 'comments', {})
  expect(standIn.calls.total).toBe(4)
  expect(standIn.calls.byOperation).toEqual({ users: 1, comments: 3 })
  expect(standIn.calls.log.map((one) => [one.operation, one.data, one.status])).toEqual([
    ['users', { organizationId: 'org-0' }, 200],
    ['comments', place, 200],
    ['comments', { ...place, annotationId: 'nowhere' }, 404],
    ['comments', null, 400],
  ])
  standIn.calls.reset()
  expect(standIn.calls.total).toBe(0)
  expect(standIn.calls.log).toEqual([])
})

test('The record of calls keeps the newest calls only, or none', async () => {
  const bounded = await start({ logCalls: 5 })
  for (let count = 0; count < 23; count++) await call(bounded, 'comments', place)
  expect(bounded.calls.total).toBe(23)
  expect(bounded.calls.log.length).toBeGreaterThanOrEqual(5)
  expect(bounded.calls.log.length).toBeLessThan(10)
  const none = await start({ logCalls: 0 })
  await call(none, 'comments', place)
  expect(none.calls.log).toEqual([])
})

test('The record of calls sees how many were in flight at once, and how many came in one second', async () => {
  const standIn = await start({ latencyMs: 150 })
  await Promise.all(Array.from({ length: 7 }, () => call(standIn, 'comments', place)))
  expect(standIn.calls.maxInFlight).toBe(7)
  expect(standIn.calls.maxInOneSecond).toBe(7)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await call(standIn, 'comments', place)
  expect(standIn.calls.maxInOneSecond).toBe(7)
  expect(standIn.calls.meanPerSecond()).toBeGreaterThan(0)
  expect(standIn.calls.meanPerSecond()).toBeLessThan(7.1)
  expect(standIn.calls.inFlight).toBe(0)
})
