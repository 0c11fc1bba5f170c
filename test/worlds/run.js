// Ten worlds of 60 nights; `npm run worlds -- --worlds 3 --nights 20 --seed 7` for others.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '10' },
    nights: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 30)) },
  },
})
const root = join(import.meta.dirname, '../..')
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  ['run', '--config', 'test/vitest.config.ts', 'test/worlds/worlds.soak.test.ts'],
  {
    stdio: 'inherit',
    cwd: root,
    env: {
      ...process.env,
      WORLDS: values.worlds,
      WORLD_NIGHTS: values.nights,
      WORLD_SEED: values.seed,
    },
  },
)
process.exit(status ?? 1)
