// Runs the soak files of generated responses or of random worlds for longer, or with a given seed.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const HELP = `npm run fuzz -- --minutes N [--seed N]
npm run worlds [-- --worlds N] [--nights N] [--seed N]

  --minutes N  compare the tables after generated responses with the model, for N minutes; each generation uses the next seed
  --worlds N   compare the reports of N random worlds with the responses of their calls (10)
  --nights N   nights of each world (60)
  --seed N     the first seed

See README.md in test/fuzz and test/worlds. The servers are those of npm test.`

const text = { type: 'string' }
const { values } = parseArgs({
  options: { minutes: text, nights: text, worlds: text, seed: text, help: { type: 'boolean' } },
})
const { minutes, nights = '60', worlds, seed } = values

if (values.help || (minutes ?? worlds) === undefined) {
  console.log(HELP)
} else {
  const [file, settings] =
    minutes === undefined
      ? ['worlds/worlds', { WORLDS: worlds, WORLD_NIGHTS: nights, WORLD_SEED: seed }]
      : ['fuzz/fuzz', { FUZZ_MINUTES: minutes, FUZZ_SEED: seed }]
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  const root = join(import.meta.dirname, '../..')
  const { status } = spawnSync(
    join(root, 'node_modules/.bin/vitest'),
    ['run', '--config', 'test/soak/vitest.config.ts', `test/${file}.soak.test.ts`],
    { stdio: 'inherit', cwd: root, env: { ...process.env, ...Object.fromEntries(given) } },
  )
  process.exitCode = status ?? 1
}
