import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('npm test passes on the PostgreSQL of the package, too', async () => {
  // A run of its own: nothing of this one's.
  const {
    VITEST: _,
    VITEST_WORKER_ID: __,
    VITEST_POOL_ID: ___,
    TEST: ____,
    FORCE_COLOR: _____,
    ...rest
  } = process.env
  const env = { ...rest, TEST_DATABASE_URL: 'embedded', NO_COLOR: '1' }
  const ended = promisify(execFile)('npm', ['test'], { env, maxBuffer: 2 ** 26 })
  const { stdout } = await ended.catch((error: { stdout: string }) => error)
  expect(stdout).toMatch(/Tests +\d+ passed/)
  expect(stdout, stdout).not.toMatch(/ FAIL /)
})
