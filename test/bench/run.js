// Compiles the program and the suite as they are now into a cache of their own, bundles the command there as `npm run build`
// does, then starts the suite: Node 20 runs no TypeScript, and `dist/` must not carry benchmarks. The statements are copied
// too, so that an edit does not change what is being measured.
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/collab-sync-bench')

rmSync(cache, { recursive: true, force: true })
const compiled = run(join(root, 'node_modules/.bin/tsc'), [
  '-p',
  join(import.meta.dirname, 'tsconfig.json'),
])
if (compiled !== 0) process.exit(compiled)
const bundle = ['run', '--silent', 'bundle', '--', '--dir', join(cache, 'dist/cli')]
const bundled = run('npm', bundle, ['ignore', 'ignore', 'inherit'])
if (bundled !== 0) process.exit(bundled)
for (const path of ['package.json', 'sql'])
  cpSync(join(root, path), join(cache, path), { recursive: true })
process.exit(
  run(process.execPath, [
    '--expose-gc',
    join(cache, 'test/bench/main.js'),
    ...process.argv.slice(2),
  ]),
)

function run(command, parameters, stdio = 'inherit') {
  const { status } = spawnSync(command, parameters, { stdio, cwd: root })
  return status ?? 1
}
