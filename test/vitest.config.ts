import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** One whole sync, among what is quick. */
const SYNC = 'test/sync/format-change.pg.test.ts'
/** Loads the program a second time into its process, whose schemas (zod keeps one registry) are then there twice. */
const LOADS_TWICE = 'test/sync/every-call.pg.test.ts'

export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: ['test/statements/check-rows.ts'],
    pool: 'forks',
    // Two for a core: a third of the time of files with servers is waiting.
    maxWorkers: 4,
    // Half of what files compute was loading the same modules again for each. What they keep there is for all files.
    isolate: false,
    // Ends a test that hangs; how long one takes on a busy machine is no finding.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 30_000 } },
    // Each file is in one of them, by its name.
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/!(*.pg|*.redis|*.e2e).test.ts', SYNC],
        },
      },
      {
        extends: true,
        test: {
          name: 'servers',
          include: ['test/**/*.{pg,redis,e2e}.test.ts'],
          exclude: [SYNC, LOADS_TWICE, '**/node_modules/**'],
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: [LOADS_TWICE], isolate: true },
      },
    ],
  },
})
