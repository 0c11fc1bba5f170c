// Mutates what decides (modules.js) and prints, file by file, how many of the mutants the unit tests killed.
//   npm run mutation                    every module
//   npm run mutation -- retry scope     these alone
//   npm run mutation -- --fresh retry   without what the last run of the module found
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { MODULES } from './modules.js'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/collab-sync-mutation')
const KILLED_MIN = 0.85

const words = process.argv.slice(2)
const names = words.filter((word) => word !== '--fresh')
const unknown = names.filter((name) => !(name in MODULES))
if (unknown.length > 0) {
  console.error(
    `no such module: ${unknown.join(', ')}; there are ${Object.keys(MODULES).join(', ')}`,
  )
  process.exit(2)
}

mkdirSync(cache, { recursive: true })
const results = []
for (const name of names.length > 0 ? names : Object.keys(MODULES))
  results.push(...(await mutate(name)))
report(results)

/** @param {string} name */
async function mutate(name) {
  // Read by vitest.config.js. Stryker's own `testFiles` runs no test at all for a mutant of a module's top level.
  process.env.MUTATED_MODULE = name
  return await new Stryker({
    mutate: MODULES[name].mutate,
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.js', related: false },
    plugins: ['@stryker-mutator/vitest-runner'],
    coverageAnalysis: 'perTest',
    concurrency: 1,
    // A mutant that only takes longer on a busy machine is no finding.
    timeoutMS: 10_000,
    timeoutFactor: 3,
    // Stryker reads it with the API of an older TypeScript; Vite compiles without it.
    tsconfigFile: 'none',
    ignorePatterns: [
      '**',
      '!package.json',
      '!tsconfig.json',
      '!test/tsconfig.json',
      '!src/**',
      '!test/**',
      'test/http/generated-client',
      '!sql/**',
    ],
    incremental: true,
    incrementalFile: join(cache, `${name}.json`),
    force: words.includes('--fresh'),
    reporters: ['dots'],
    allowConsoleColors: false,
    logLevel: 'warn',
  }).runMutationTest()
}

function report(mutants) {
  const lines = mutants
    .filter(({ status }) => status !== 'Killed')
    .map(({ fileName, location: { start }, status, mutatorName, replacement }) => {
      const shown = (replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 100)
      return `${fileName.replace(`${root}/`, '')}:${start.line}:${start.column} ${status} ${mutatorName} ${shown}`
    })
  writeFileSync(join(cache, 'alive.txt'), `${lines.join('\n')}\n`)
  console.log(`\n${lines.join('\n')}\n`)
  const files = [...new Set(mutants.map(({ fileName }) => fileName.replace(`${root}/`, '')))]
  const rows = [...files, 'all'].map((file) => {
    const of = (...among) =>
      mutants.filter(
        ({ fileName, status }) =>
          (file === 'all' || fileName.replace(`${root}/`, '') === file) && among.includes(status),
      ).length
    const dead = of('Killed') + of('Timeout')
    const all = dead + of('Survived', 'NoCoverage')
    return {
      file,
      mutants: all,
      killed: of('Killed'),
      timeout: of('Timeout'),
      survived: of('Survived'),
      uncovered: of('NoCoverage'),
      errors: of('RuntimeError', 'CompileError'),
      percent: ((100 * dead) / all).toFixed(1),
    }
  })
  console.table(rows)
}
