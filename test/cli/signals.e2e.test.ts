import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { ANY_SERVICE, buildCommand } from './built-command.ts'
import type { Environment, Running } from './built-command.ts'

/**
 * Every command ends by a signal, whole. That it exits, and is not killed, is what has the first process of a container end:
 * the kernel keeps from it the signals that it does not hear.
 */

const run = promisify(execFile)

let locks: pg.Client
const command = await buildCommand()
const database = await createTestDatabase()
const settings: Environment = {
  ...ANY_SERVICE,
  DATABASE_URL: database.url,
}
beforeEach(async () => {
  locks = new pg.Client(database.url)
  await locks.connect()
})
afterEach(() => locks.end())

test.each([
  ['migrate', [], 'select pg_advisory_lock(4013071001)'],
  ['prune', ['--older-than', '1d'], 'begin; lock table sync.runs'],
  ['export', ['collab.comments', '--out', 'out.csv'], 'begin; lock table collab_store.comments'],
])('%s, while it waits for a lock', async (name, args, lock) => {
  await locks.query(lock)
  const running = command.start([name, ...args], settings)
  await sessionOf(name, "wait_event_type = 'Lock'")
  await expectStopped(running, 1)
  expect(readdirSync(command.directory)).toEqual([])
})

test('catalog import of an input that does not end loads nothing', async () => {
  const running = command.start(['catalog', 'import', '-'], settings)
  running.child.stdin?.write('{"organizationId":"acme"}\n')
  await sessionOf('catalog import', 'xact_start is not null')
  await expectStopped(running, 1)
  expect(await database.rows('select from collab.organizations')).toEqual([])
})

test('changes --follow says where to go on', async () => {
  const running = command.start(['changes', '--follow'], settings)
  await sessionOf('changes', "query ilike '%listen%'")
  running.child.kill('SIGTERM')
  const { code, stdout, stderr } = await running.ended
  expect({ code, stdout, stderr }).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^0 changes\. Continue with --after [\w-]+\n$/),
  })
})

test.each([
  ['worker', [], /"msg":"working"/, /"signal":"SIGTERM".*\n.*"msg":"stopped"/],
  ['serve', [], /"msg":"serving"/, /"signal":"SIGTERM".*\n.*"msg":"stopped"/],
  ['changes', ['--follow'], null, /^0 changes\. Continue with --after /],
])('%s of npx stops as by SIGTERM when npx has been killed', async (name, args, shown, stopped) => {
  const npx = { npm_command: 'exec', HTTP_PORT: '0' }
  const running = command.startBelowParent([name, ...args], { ...settings, ...npx })
  try {
    await (shown === null ? sessionOf(name, "query ilike '%listen%'") : running.shows(shown))
    running.child.kill('SIGKILL')
    // Its output ends with the last process that has it.
    expect((await running.ended).stderr).toMatch(stopped)
  } catch (error) {
    const { pid } = running.child
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    throw error
  }
})

test.each([
  [true, 'stopped\nthe end\n'],
  [false, 'the end\n'],
])('without its parent, a command stops if npm started it: %s', async (isStartedByNpm, shown) => {
  const { stdout } = await evaluate(`const { mock } = await import('node:test')
    mock.timers.enable()
    let parent = 7
    Object.defineProperty(process, 'ppid', { get: () => parent })
    handleSignals({ isGraceful: true, isStartedByNpm: ${isStartedByNpm} })
    onSignals(() => console.log('stopped'))
    parent = 8
    mock.timers.tick(4000)
    console.log('the end')`)
  expect(stdout).toBe(shown)
})

test('two signals within a second are one, as Ctrl-C under npx sends them', async () => {
  const { stdout } = await evaluate(`let nowMs = 5000
    Object.defineProperty(performance, 'now', { value: () => nowMs })
    handleSignals({ isGraceful: true })
    onSignals(() => console.log('first', nowMs), () => console.log('second', nowMs))
    for (nowMs of [5000, 5001, 5999, 7000]) process.emit('SIGINT', 'SIGINT')`)
  expect(stdout).toBe('first 5000\nsecond 7000\n')
})

test('a process that cannot stop exits eight seconds after the first signal', async () => {
  const ended = evaluate(`const { mock } = await import('node:test')
    mock.timers.enable()
    handleSignals({ isGraceful: true })
    onSignals(() => console.log('stopping'))
    process.emit('SIGTERM', 'SIGTERM')
    mock.timers.tick(7999)
    console.log('still stopping')
    mock.timers.tick(1)
    console.log('never')`)
  await expect(ended).rejects.toMatchObject({
    code: 1,
    stdout: 'stopping\nstill stopping\n',
    stderr: expect.stringContaining('SIGTERM: did not stop within 8 s, so the process exits now'),
  })
})

test('what begins at the end of a process, as an exporter of traces does, is completed', async () => {
  const { stdout } = await evaluate(`const { readFile } = await import('node:fs/promises')
    process.once('beforeExit', () => readFile('${signals()}').then(() => console.log('flushed')))
    handleSignals({ isGraceful: true })`)
  expect(stdout).toBe('flushed\n')
})

function signals(): string {
  return join(command.directory, '../dist/src/cli/signals.js')
}

/** Runs a program with the functions of `src/cli/signals.ts`. */
function evaluate(program: string) {
  const imported = `const { handleSignals, onSignals } = await import('${pathToFileURL(signals()).href}')`
  return run(process.execPath, ['--input-type=module', '--eval', `${imported}\n${program}`])
}

async function expectStopped(running: Running, code: number): Promise<void> {
  running.child.kill('SIGTERM')
  expect(await running.ended).toMatchObject({
    code,
    stderr: expect.stringContaining('SIGTERM: stopped. Incomplete work was undone.\n'),
  })
}

/** Waits until a session of the command is in a state. */
function sessionOf(name: string, state: string): Promise<unknown> {
  return until(`${name}: ${state}`, async () => {
    const rows = await database.rows(
      `select from pg_stat_activity where application_name like $1 and datname = current_database() and ${state}`,
      `collab-sync ${name}%`,
    )
    return rows.length > 0
  })
}
