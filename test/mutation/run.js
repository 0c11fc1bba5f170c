// Changes what decides, one place at a time, and tells which changes no test notices: a table by file, then each survivor.
//   npm run mutation                    every module of modules.js, then the statements
//   npm run mutation -- retry scope     these modules alone
//   npm run mutation -- sql             the mutants of SQL and Lua, made by hand (statement-mutants.js)
//   npm run mutation -- --fresh retry   without what the last run of the module found
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { MODULES } from './modules.js'
import { mutateStatements } from './statements.js'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/collab-sync-mutation')
const all = [...Object.keys(MODULES), 'sql']

const words = process.argv.slice(2)
const named = words.filter((word) => word !== '--fresh')
const unknown = named.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`no such module: ${unknown.join(', ')}; there are ${all.join(', ')}`)
  process.exit(2)
}

mkdirSync(cache, { recursive: true })
const mutants = []
for (const name of named.length > 0 ? named : all)
  mutants.push(...(name === 'sql' ? await mutateStatements(root) : await mutateModule(name)))
report(mutants)

/** @param {string} name of a module */
async function mutateModule(name) {
  // Read by vitest.config.js. Stryker's own `testFiles` runs no test at all for a mutant of a file's top level.
  process.env.MUTATED_MODULE = name
  const results = await new Stryker({
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
      '!src/**',
      '!test/**',
      '!sql/**',
      'test/http/generated-client',
    ],
    incremental: true,
    incrementalFile: join(cache, `${name}.json`),
    force: words.includes('--fresh'),
    reporters: ['dots'],
    allowConsoleColors: false,
    logLevel: 'warn',
  }).runMutationTest()
  // An incremental report keeps files that are mutated no more.
  const files = MODULES[name].mutate.map((file) => join(root, file))
  const now = results.filter(({ fileName }) => files.includes(fileName))
  return now.map(({ fileName, location: { start }, status, mutatorName, replacement }) => ({
    file: fileName.replace(`${root}/`, ''),
    status,
    what: `${start.line}:${start.column} ${mutatorName} ${replacement ?? ''}`,
  }))
}

/** @param {{ file: string, status: string, what: string }[]} mutants */
function report(mutants) {
  const lines = mutants
    .filter(({ status }) => status !== 'Killed')
    .map(
      ({ file, status, what }) => `${status} ${file}:${what.replaceAll(/\s+/g, ' ').slice(0, 160)}`,
    )
  writeFileSync(join(cache, 'alive.txt'), `${lines.join('\n')}\n`)
  console.log(`\n${lines.join('\n')}\n`)
  const files = [...new Set(mutants.map(({ file }) => file))]
  console.table([...files.map((file) => row(file, mutants)), row('all', mutants)])
}

function row(name, mutants) {
  const of = (...among) =>
    mutants.filter(
      ({ file, status }) => (name === 'all' || file === name) && among.includes(status),
    ).length
  const [killed, timeout, survived] = [of('Killed'), of('Timeout'), of('Survived')]
  const uncovered = of('NoCoverage')
  const count = killed + timeout + survived + uncovered
  const percent = ((100 * (killed + timeout)) / count).toFixed(1)
  return { name, mutants: count, killed, timeout, survived, uncovered, percent }
}
