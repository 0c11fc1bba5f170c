import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import { ownFolder } from '../helpers/own-folder.ts'
import { argumentsOf, sectionOf, shownIn } from './readme-blocks.ts'

/** The demo prints and stores what README.md shows. */

const hasPsql = spawnSync('psql', ['--version']).status === 0
const command = await buildCommand()
const settings = { COLLAB_SYNC_HOME: ownFolder() }
const [demo, rows, ...others] = shownIn(sectionOf('You should see'))

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
