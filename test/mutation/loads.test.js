import { expect, test } from 'vitest'
import { MODULES } from './modules.js'

// A module that cannot be loaded fails no test, since none of its file's tests runs: Stryker would call that a survivor.
const files = MODULES[process.env.MUTATED_MODULE].mutate

test.each(files)('%s can be loaded', async (file) => {
  expect(await import(`../../${file}`)).toBeDefined()
})
