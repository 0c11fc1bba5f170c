import { mergeConfig } from 'vitest/config'
import type { TestUserConfig } from 'vitest/config'
import npmTest, { SETUP } from '../vitest.config.ts'

const test: TestUserConfig = {
  globalSetup: ['test/soak/needs.ts'],
  // One file at a time: they kill processes and servers, and measure rates.
  fileParallelism: false,
  // Some load the program a second time, whose schemas (zod keeps one registry) are then there twice.
  isolate: true,
  testTimeout: 900_000,
  hookTimeout: 900_000,
}
const config = mergeConfig(npmTest, { test })
// mergeConfig joins lists. Seeds are new each time; fast-check prints that of a failure.
config.test.include = ['test/**/*.soak.test.ts']
config.test.exclude = ['**/node_modules/**']
config.test.setupFiles = SETUP

/** `npm run soak`. What belongs here: test/README.md. */
export default config
