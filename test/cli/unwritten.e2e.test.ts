import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../helpers/database.ts'
import { until } from '../helpers/until.ts'
import { ANY_SERVICE, buildCommand } from './built-command.ts'
import type { Environment } from './built-command.ts'
import type { Ended } from './hosted-commands.ts'

/** Output and logs that a full disk, or a limit, does not take. */

const run = promisify(execFile)

const SENTENCE = 'The output could not be written (ENOSPC: no space left on device).\n'

const command = await buildCommand()
const database = await createTestDatabase()

test.each([[['status', '--json']], [['export', 'collab.organizations', '--out', '-']]])(
  '%j is done, but exits with 4',
  async (args) => {
    expect(await shell('"$@" > /dev/full', args).ended).toMatchObject({ code: 4, stderr: SENTENCE })
  },
)

test('changes that could not be written are not counted', async () => {
  await command.run(['catalog', 'add', '--organization', 'acme'], { DATABASE_URL: database.url })
  const { code, stderr } = await shell('"$@" > /dev/full', ['changes']).ended
  expect({ code, stderr }).toEqual({ code: 4, stderr: SENTENCE })
})

test('a command that fails keeps its exit code', async () => {
  const { code, stderr } = await shell('"$@" > /dev/full', ['doctor', '--json']).ended
  expect({ code, stderr }).toEqual({ code: 2, stderr: SENTENCE })
})

test('a reader that has enough is no error', async () => {
  const ended = await shell('{ "$@"; echo $? >&2; } | head -1', ['dictionary']).ended
  expect(ended).toEqual({ code: 0, stdout: '# Dictionary\n', stderr: '0\n' })
})

test('a disk that takes only the beginning of the output is noticed', async () => {
  // A process that handles this signal gets short writes at the limit, as on a disk that is nearly full.
  const handler = encodeURIComponent("process.on('SIGXFSZ', () => {})")
  const NODE_OPTIONS = `--import=data:text/javascript,${handler}`
  const { ended } = shell('ulimit -f 8; "$@" > out', ['dictionary'], { NODE_OPTIONS })
  expect(await ended).toMatchObject({ code: 4, stderr: expect.stringContaining('EFBIG') })
  expect(statSync(join(command.directory, 'out')).size).toBeGreaterThan(0)
})

test('a worker works on, and ends in order, while its log cannot be written', async () => {
  const worker = shell('exec "$@" 2> /dev/full', ['worker'])
  await until('it reports that it is alive', async () => {
    const { rows } = await database.pool.query('select from sync.workers')
    return rows.length > 0
  })
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, stdout: '', stderr: '' })
})

/** Starts a command within a line of shell, where it is `"$@"`. */
function shell(line: string, args: readonly string[], environment: Environment = {}) {
  const main = join(command.directory, '../dist/cli/main.js')
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    ...ANY_SERVICE,
    ...environment,
  }
  const words = ['-c', line, 'sh', process.execPath, main, ...args]
  const running = run('sh', words, { cwd: command.directory, env })
  const ended = running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  )
  return { child: running.child, ended }
}
