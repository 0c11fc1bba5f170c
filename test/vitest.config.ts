import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'

/** Loaded before each test file, of `npm run soak` too. */
export const SETUP = ['test/statements/check-rows.ts', 'test/helpers/close-opened.ts']

/** `npm test`: every test file but those of `npm run soak`. What belongs where: test/README.md. */
export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/**/*.soak.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: [...SETUP, 'test/helpers/fixed-seed.ts'],
    reporters: ['default', 'test/helpers/skipped-tests.ts'],
    pool: 'forks',
    maxWorkers: Math.min(4, availableParallelism()),
    // Modules are loaded once for all files of a process, and so is their state (docs/decisions/2026-11-22-tests-by-cpu.md).
    isolate: false,
    // Ends a test that hangs. `until` gives up before, and says what it saw.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
  },
})
