// Applies each mutant of statement-mutants.js to a copy of the program and runs its tests there.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createVitest } from 'vitest/node'
import { STATEMENT_MUTANTS } from './statement-mutants.js'

const COPIED = ['package.json', 'tsconfig.json', 'src', 'jobs', 'sql', 'test']

/**
 * @param {string} root of the repository
 * @returns {Promise<{ file: string, status: string, what: string }[]>}
 */
export async function mutateStatements(root) {
  const parent = join(root, '.stryker-tmp')
  mkdirSync(parent, { recursive: true })
  const copy = mkdtempSync(join(parent, 'statements-'))
  for (const path of COPIED) cpSync(join(root, path), join(copy, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const vitest = await createVitest('test', {
    root: copy,
    config: join(copy, 'test/vitest.config.ts'),
    project: ['servers'],
    watch: false,
    bail: 1,
    maxWorkers: 1,
    testTimeout: TIMEOUT_MS,
    reporters: [{}],
  })
  try {
    const tests = new Set(STATEMENT_MUTANTS.flatMap((group) => group.tests))
    const failed = await failures(vitest, copy, [...tests])
    if (failed !== null) throw new Error(`A test fails without any mutant: ${failed}`)
    const results = []
    for (const { file, tests, mutants } of STATEMENT_MUTANTS) {
      for (const [from, to] of mutants) {
        const path = join(copy, file)
        const text = readFileSync(path, 'utf8')
        if (text.split(from).length !== 2)
          throw new Error(`${file} does not hold this once: ${from}`)
        writeFileSync(
          path,
          text.replace(from, () => to),
        )
        vitest.invalidateFile(path)
        const message = await failures(vitest, copy, tests)
        writeFileSync(path, text)
        vitest.invalidateFile(path)
        const status =
          message === null ? 'Survived' : /timed out/i.test(message) ? 'Timeout' : 'Killed'
        process.stdout.write(status[0])
        results.push({ file, status, what: ` ${from} -> ${to}` })
      }
    }
    return results
  } finally {
    await vitest.close()
    rmSync(copy, { recursive: true, force: true })
  }
}

/** A statement that waits for a lock for good ends its test so. */
const TIMEOUT_MS = 60_000

/** What the first test that fails says; null where none does. */
async function failures(vitest, copy, tests) {
  const specifications = await vitest.globTestSpecifications(tests.map((path) => join(copy, path)))
  if (specifications.length < tests.length) throw new Error(`not all found: ${tests.join(', ')}`)
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
  for (const module of testModules) {
    for (const each of module.children.allTests('failed'))
      return each.result().errors?.[0]?.message ?? 'failed'
    const [error] = module.errors()
    if (error !== undefined) return error.message
    if (module.state() === 'failed') return 'failed'
  }
  return unhandledErrors.length > 0 ? String(unhandledErrors[0]) : null
}
