import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { MODULES } from './modules.js'

const { tests } = MODULES[process.env.MUTATED_MODULE]

/** The tests of the module that run.js mutates just now. */
export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: { include: [...tests, 'test/mutation/loads.test.js'], testTimeout: 180_000 },
})
