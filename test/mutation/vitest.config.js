import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { MODULES } from './modules.js'

const { tests } = MODULES[process.env.MUTATED_MODULE]

/** The tests of the module that run.js mutates just now. */
export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: {
    include: [...tests, 'test/mutation/loads.test.js'],
    // As in the project `quick`: they keep no state in modules, and loading these is most of what a mutant costs.
    isolate: false,
    testTimeout: 180_000,
  },
})
