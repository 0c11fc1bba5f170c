// The long searches: the soak files of generated answers, poisoned nights and random worlds, for longer or with a given seed.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const HELP = `npm run fuzz -- --minutes N [--seed N]
npm run fuzz -- --nights N [--seed N]
npm run worlds [-- --worlds N] [--nights N] [--seed N]

  --minutes N  generated answers against the model for so long; each generation takes the next seed
  --nights N   so many poisoned nights of two workers, half of them on each queue; of a world: its nights (60)
  --worlds N   so many random worlds, whose reports are compared with what the calls returned (10)
  --seed N     begins with this seed

README.md in test/fuzz and test/worlds. The servers are those of npm test.`

const text = { type: 'string' }
const { values } = parseArgs({
  options: { minutes: text, nights: text, worlds: text, seed: text, help: { type: 'boolean' } },
})
const { minutes, nights, worlds, seed } = values
const searches = [
  [worlds, 'worlds/worlds', { WORLDS: worlds, WORLD_NIGHTS: nights ?? '60', WORLD_SEED: seed }],
  [minutes, 'fuzz/fuzz', { FUZZ_MINUTES: minutes, FUZZ_SEED: seed }],
  [nights, 'fuzz/nights', { FUZZ_NIGHTS: nights, FUZZ_SEED: seed }],
]
const [, name, settings] = searches.find(([asked]) => asked !== undefined) ?? []

if (name === undefined || values.help) {
  console.log(HELP)
} else {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  const root = join(import.meta.dirname, '../..')
  const { status } = spawnSync(
    join(root, 'node_modules/.bin/vitest'),
    ['run', '--config', 'test/soak/vitest.config.ts', `test/${name}.soak.test.ts`],
    { stdio: 'inherit', cwd: root, env: { ...process.env, ...Object.fromEntries(given) } },
  )
  process.exitCode = status ?? 1
}
