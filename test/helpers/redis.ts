import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'

/**
 * The Redis of this test run; undefined where there is none (locally only: in CI the run fails), so
 * that a suite says `describe.skipIf(!redisUrl())`.
 */
export function redisUrl(): string | undefined {
  return inject('redisUrl') || undefined
}

/** A key prefix that no other test file has; the run removes its keys. */
export function randomPrefix(): string {
  return `test-${inject('runId')}-${randomBytes(6).toString('hex')}`
}
