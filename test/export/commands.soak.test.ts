import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import { expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { Environment } from '../cli/built-command.ts'
import { transaction } from '../../src/core/database/pool.ts'
import { createTestDatabase, onServer, urlWith } from '../helpers/database.ts'
import { fillComments } from './fill-comments.ts'

/** Many times what fits into a pipe. */
const COMMENTS = 60_000
const suffix = randomBytes(4).toString('hex')

const command = await buildCommand()
const database = await createTestDatabase()
await fillComments(database, COMMENTS)
const settings: Environment = { DATABASE_URL: database.url }

test('export writes a file, says what to ask for next time, and with --json says it in one document', async () => {
  const out = join(command.directory, 'comments.parquet')
  const args = ['export', 'reporting.comments', '--format', 'parquet', '--out', out]
  const plain = await command.run(args, settings)
  expect(plain).toMatchObject({ code: 0, stdout: '' })
  expect(plain.stderr).toMatch(
    /^60,000 rows of reporting\.comments as of \S+Z, in .*--since \S+Z$/m,
  )
  const json = await command.run([...args, '--json'], settings)
  expect(json).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(json.stdout)).toMatchObject({
    object: 'reporting.comments',
    rows: COMMENTS,
    isWhole: true,
    format: 'parquet',
    out,
  })
  const { num_rows: rows } = await parquetMetadataAsync(await asyncBufferFromFile(out))
  expect(Number(rows)).toBe(COMMENTS)
})

test('export writes to standard output, which a pipe may close when it has enough', async () => {
  const { stdout, code } = await command.run(
    ['export', 'collab.organizations', '--no-bom'],
    settings,
  )
  expect(code).toBe(0)
  expect(stdout).toBe(
    'organization_id,active,checked_at,failing_since,is_stale,in_catalog,name\r\no,true,,,true,true,\r\n',
  )

  const running = command.start(['export', 'collab.comments', '--format', 'ndjson'], settings)
  const head = spawn('head', ['-n', '2'], { stdio: ['pipe', 'pipe', 'inherit'] })
  running.child.stdout?.removeAllListeners('data')
  running.child.stdout?.pipe(head.stdin)
  head.stdin.on('error', () => running.child.stdout?.destroy())
  const lines: Buffer[] = []
  head.stdout.on('data', (part: Buffer) => lines.push(part))
  await once(head, 'close')
  running.child.stdout?.destroy()
  expect(Buffer.concat(lines).toString().trimEnd().split('\n')).toHaveLength(2)
  expect((await running.ended).code).toBe(0)
})

test('a reader that takes its time holds the export back, and gets all of it', async () => {
  const running = command.start(['export', 'collab.comments', '--no-bom'], settings)
  const { stdout } = running.child
  if (!stdout) throw new Error('no stdout')
  stdout.pause()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  stdout.resume()
  const { code, stdout: text } = await running.ended
  expect(code).toBe(0)
  expect(text.split('\r\n').length - 2).toBe(COMMENTS)
})

test('members of collab_reader export what they may read and follow the feed, nobody else does', async () => {
  const [reader, nobody] = ['reader', 'nobody'].map((name) => `cs_export_${name}_${suffix}`)
  await onServer((server) =>
    server.query(
      `create role ${reader} login password 'x' in role collab_reader; create role ${nobody} login password 'x'`,
    ),
  )
  try {
    const as = (username: string | undefined, ...args: string[]) =>
      command.run(args, {
        DATABASE_URL: urlWith(database.url, { username: username ?? '', password: 'x' }),
      })
    const organizations = await as(reader, 'export', 'collab.organizations', '--no-bom')
    expect(organizations).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/--since \S+Z$/m),
    })
    expect(organizations.stdout).toBe(
      'organization_id,active,checked_at,failing_since,is_stale,in_catalog,name\r\no,true,,,true,true,\r\n',
    )
    expect((await as(reader, 'changes', '--limit', '3')).stdout.trimEnd().split('\n')).toHaveLength(
      3,
    )
    for (const args of [['export', 'collab.comments'], ['changes']]) {
      const refused = await as(nobody, ...args)
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toMatch(/permission denied/)
    }
    await database.pool.query(
      `with run as (insert into sync.runs (trigger, status, started_at) values ('cli', 'running', now()) returning run_id)
      insert into sync.run_items (run_id, kind, state, claimed_at) select run_id, 'sync-batch', 'pending', now() - interval '1 hour' from run`,
    )
    const { rows } = await transaction(database.pool, async (client) => {
      await client.query(`set local role ${reader}`)
      return client.query(
        `select next_since < now() - interval '59 minutes' as held_back from reporting.export_times()`,
      )
    })
    expect(rows).toEqual([{ held_back: true }])
  } finally {
    await database.pool.query('delete from sync.run_items; delete from sync.runs')
    await onServer((server) => server.query(`drop role ${reader}, ${nobody}`))
  }
})

test('wrong use of the commands for data is one sentence and exit code 2', async () => {
  for (const [args, message] of [
    [['export', 'comments', '--out', 'x'], 'is in two schemas'],
    [['export', 'collab.comments', '--format', 'xlsx'], 'Allowed choices are csv, ndjson, parquet'],
    [['export', 'collab.comments', '--since', 'yesterday'], 'It must be like 2026-11-20'],
    [['export', 'collab.comments', '--since', '2026-11-20T10:00:00'], 'It must be like 2026-11-20'],
    [['export', 'collab.comments', '--json'], '--json needs --out FILE'],
    [['erase', 'user', 'nobody', '--reason', 'x'], 'nothing was erased'],
    [['erase', 'user', 'nobody'], '--reason'],
    [['erase', 'user', 'nobody', '--reason', ' '], '--reason is empty'],
    [['prune'], '--older-than'],
    [['prune', '--older-than', '400'], 'such as 400d'],
    [['prune', '--older-than', '0d'], 'such as 400d'],
  ] as const) {
    const { code, stdout, stderr } = await command.run([...args], settings)
    expect({ code, stdout }, args.join(' ')).toEqual({ code: 2, stdout: '' })
    expect(stderr.trim()).toContain(message)
    expect(stderr.trim().split('\n'), stderr).toHaveLength(1)
  }
})

test('erase prints the proof, and prune what it deleted', async () => {
  const erased = await command.run(
    ['erase', 'user', 'user-7', '--reason', 'by letter', '--json'],
    settings,
  )
  expect(erased.code).toBe(0)
  expect(JSON.parse(erased.stdout)).toMatchObject({
    comments: COMMENTS / 100,
    erasureId: expect.any(Number),
  })
  const plain = await command.run(['erase', 'user', 'user-8', '--reason', 'by letter'], settings)
  expect(plain.stdout).toMatch(/comments +600, and 0 earlier versions/)
  const out = join(command.directory, 'users.csv')
  await command.run(['export', 'collab.comments', '--out', out], settings)
  expect(readFileSync(out, 'utf8')).not.toContain('user-7,')
  const pruned = await command.run(['prune', '--older-than', '400d', '--json'], settings)
  expect(JSON.parse(pruned.stdout)).toMatchObject({ runs: 0, commentVersions: 0 })
})
