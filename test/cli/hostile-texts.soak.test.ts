import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { pino } from 'pino'
import { openQueue } from '../../src/core/queue/queue.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { json, openFaultServer } from '../service/fault-server.ts'
import type { FaultServer } from '../service/fault-server.ts'
import { ANY_SERVICE, buildCommand } from './built-command.ts'
import type { Environment } from './built-command.ts'

/** What ids and the service's own words may do to a terminal, a log, or a line of `status`. */

/** Steers a terminal, forges a line, turns the order of letters, in one. */
const STEERING = '\u001b[2J\u001b[31m\u001b]0;title\u0007\u009b2J\r\n\u2028All is well.\u202e\u2066'
const ORGANIZATION = `acme${STEERING}`
const STEERS = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

const command = await buildCommand()
const database = await createTestDatabase()
const service: FaultServer = await openFaultServer()
service.usually = json(400, {
  error: { status: `BAD${STEERING}`, message: `Error${STEERING}` },
})
const settings: Environment = {
  DATABASE_URL: database.url,
  ...ANY_SERVICE,
  COLLAB_API_URL: service.url,
}
const lines = [
  { organizationId: ORGANIZATION, documentId: ORGANIZATION, annotationId: ORGANIZATION },
  { organizationId: ORGANIZATION, organizationUserGroupId: ORGANIZATION },
]
const catalog = lines.map((line) => JSON.stringify(line)).join('\n')
const imported = await command.runProcess(['catalog', 'import', '-'], settings, catalog)
expect(imported).toMatchObject({ code: 0 })
const ran = await command.run(['run', '--organization', ORGANIZATION], settings)
expect(ran.code).not.toBe(2)
expectHarmless(ran.stdout)
const { rows } = await database.pool.query('select run_id from sync.runs')
const runId: string = rows[0].run_id
await database.pool.query(
  `insert into sync.rejected_records (run_id, operation, organization_id, is_whole, reason, record, digest) values ($1, 'users', $2, true, $2, $2, 'x')`,
  [runId, ORGANIZATION],
)
await database.pool.query(
  `insert into sync.held (run_id, batch_key, scope_key, users_before, operation, kind, content_digest, organization_id, missing_user_ids)
  values ($1, 1, 1, 9, 'users', 'organization', '', $2, array[$2])`,
  [runId, ORGANIZATION],
)
await database.pool.query(`update sync.runs set problem = $2, rejected = 1 where run_id = $1`, [
  runId,
  `stopped${STEERING}`,
])

function expectHarmless(text: string): void {
  const lines = text.split('\n')
  for (const line of lines) expect(line).not.toMatch(STEERS)
  expect(lines.filter((line) => /^\s*All is well\./.test(line))).toEqual([])
}

describe('texts of others steer no terminal and forge no line', () => {
  test.each([
    ['status'],
    ['status RUN'],
    ['run --dry-run'],
    ['verify --sample 10'],
    ['doctor'],
    ['catalog show'],
    [`show no${STEERING}`],
  ])('%j', async (line) => {
    const args = line.split(' ').map((word) => (word === 'RUN' ? runId : word))
    const { stdout, stderr } = await command.run(args, settings)
    expect(stdout + stderr).toMatch(/\S/)
    expectHarmless(stdout)
    expectHarmless(stderr)
  })

  test.each([['status'], ['run', '--dry-run']])(
    '%j --json is one document, with escapes for them and the ids as they are',
    async (...args) => {
      const { stdout } = await command.run([...args, '--json'], settings)
      expectHarmless(stdout)
      const id = JSON.stringify(ORGANIZATION).slice(1, -1)
      expect(JSON.stringify(JSON.parse(stdout))).toContain(id)
    },
  )

  test('on a terminal our own colours are all that there is', async () => {
    const node = [process.execPath, `${command.directory}/../dist/cli/main.js`, 'status', runId]
    const { stdout } = await promisify(execFile)('script', ['-qec', node.join(' '), '/dev/null'], {
      env: {
        ...process.env,
        ...settings,
        TERM: 'xterm-256color',
        NO_COLOR: undefined,
        CI: undefined,
      },
    })
    expect(stdout).toContain('\u001b[1m')
    const escape = '\u001b'
    const codes = [...stdout.matchAll(new RegExp(`${escape}(\\[\\d+m)?`, 'g'))].map(
      ([, code]) => code,
    )
    expect(codes.filter((code) => code === undefined || code === '[2J')).toEqual([])
    // The service's red is not ours: it stands there as text.
    expect(stdout).toContain('\\u001b[31m')
    expectHarmless(
      stdout.replaceAll(new RegExp(`${escape}\\[\\d+m`, 'g'), '').replaceAll('\r\n', '\n'),
    )
  })
})

test('the log of a worker has nothing of a foreign job but its name, and nothing that steers a terminal', async () => {
  const worker = command.start(['worker'], { ...settings, LOG_LEVEL: 'debug' })
  await worker.shows(/"msg":"working"/)
  const queue = await openQueue({ kind: 'postgres', url: database.url }, pino({ level: 'silent' }))
  try {
    const data = { runId: { secret: 'SECRET-A' }, itemId: 'SECRET-B', body: 'SECRET-C' }
    await queue.bull.requests.add(`foreign${STEERING}`, data, { attempts: 1 })
    await queue.bull.requests.add('sync-batch', data, { attempts: 1 })
    await worker.shows(/"job":"foreign[^\n]*job failed/)
    await worker.shows(/"job":"sync-batch"[^\n]*job failed/)
  } finally {
    await queue.close()
    worker.child.kill('SIGTERM')
  }
  const { stderr } = await worker.ended
  expect(stderr).not.toContain('SECRET')
  for (const line of stderr.trimEnd().split('\n')) {
    expect(line).not.toMatch(STEERS)
    expect(() => JSON.parse(line)).not.toThrow()
  }
})
