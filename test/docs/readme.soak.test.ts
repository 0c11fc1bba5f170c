import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import { argumentsOf, sectionOf, shownIn } from './readme-blocks.ts'

/** The demo prints and stores what README.md shows. */

const hasPsql = spawnSync('psql', ['--version']).status === 0
const command = await buildCommand()
const home: string = await mkdtemp(join(tmpdir(), 'collab-sync-readme-'))
const settings = { COLLAB_SYNC_HOME: home }
const [demo, rows, ...others] = shownIn(sectionOf('You should see'))

afterAll(async () => {
  await command.remove()
  await rm(home, { recursive: true, force: true })
})

test('the demo prints the run that README.md shows', async () => {
  expect(others).toEqual([])
  expect(demo?.command).toBe('npm run demo')
  const { code, stdout } = await command.runProcess(['demo'], settings)
  expect(code).toBe(0)
  expect(stdout).toMatch(demo?.output ?? /^$/)
})

test.skipIf(!hasPsql)('its tables have the rows that README.md shows', async () => {
  const { code, stdout } = await command.runProcess(argumentsOf(rows?.command ?? ''), settings)
  expect(code).toBe(0)
  expect(stdout).toMatch(rows?.output ?? /^$/)
})
