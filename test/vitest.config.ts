import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** One whole sync, among what is quick. */
const SYNC = 'test/sync/format-change.pg.test.ts'

export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: ['test/statements/check-rows.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Ends a test that hangs; how long one takes on a busy machine is no finding.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 30_000 } },
    // Each file is in one of them, by its name.
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/!(*.pg|*.redis|*.e2e).test.ts', SYNC],
          // Half of what these compute was loading the same modules again for each file. They keep no state there.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'servers',
          include: ['test/**/*.{pg,redis,e2e}.test.ts'],
          exclude: [SYNC, '**/node_modules/**'],
        },
      },
    ],
  },
})
