import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Where Debian puts Chromium; CHROMIUM_PATH names another place. */
export const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

/** Programs that some files of `npm run soak` need, and whether this machine has them. */
const PROGRAMS = {
  Chromium: existsSync(CHROMIUM),
  promtool: spawnSync('promtool', ['--version']).status === 0,
}

type Program = keyof typeof PROGRAMS

/** Programs that are missing here: the tests that need them are skipped. */
export const MISSING = (Object.keys(PROGRAMS) as Program[]).filter((name) => !PROGRAMS[name])

/** Names what is missing before the first test. */
export default function setup(): void {
  for (const name of MISSING) console.warn(`There is no ${name} here: its tests are SKIPPED.`)
}
