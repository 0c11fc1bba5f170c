// Compiles the program and the fuzzer as they are now into a cache of their own, then starts it: Node 20 runs no TypeScript.
// The statements are copied too, so that an edit does not change what is being tried.
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/collab-sync-fuzz')

rmSync(cache, { recursive: true, force: true })
const compiled = run(join(root, 'node_modules/.bin/tsc'), [
  '-p',
  join(import.meta.dirname, 'tsconfig.json'),
])
if (compiled !== 0) process.exit(compiled)
for (const path of ['package.json', 'sql'])
  cpSync(join(root, path), join(cache, path), { recursive: true })
process.exit(run(process.execPath, [join(cache, 'test/fuzz/main.js'), ...process.argv.slice(2)]))

function run(command, parameters) {
  const { status } = spawnSync(command, parameters, { stdio: 'inherit', cwd: root })
  return status ?? 1
}
