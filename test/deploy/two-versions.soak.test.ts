import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildCommand } from '../cli/built-command.ts'
import type { Environment } from '../cli/built-command.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { latch } from '../helpers/latch.ts'
import { QUEUE_KINDS, isMissing, openLoaded, settled } from '../helpers/live.ts'
import { builtProgram } from '../helpers/program.ts'
import { until } from '../helpers/until.ts'

/** What a later version might add: a column and a view, which 0.1.0 does not know. */
const ADDS = `alter table collab_store.comments add column language text;
create view collab.languages as select distinct language from collab_store.comments;`

const HTTP_TOKEN = 'a-token-of-the-two-versions-test-0123456789'

test.skipIf(isMissing('redis')).each(QUEUE_KINDS)(
  'an old worker, serve and commands continue beside newer tables that work with them, in the middle of a run (queue on %s)',
  async (kind) => {
    const live = await openLoaded(kind, { settings: { LOG_LEVEL: 'info' } })
    const environment = { ...live.environment }
    const old = await buildCommand()
    const next = await buildCommand(await laterVersion('0.2.0', `-- Works with: 0.1.0\n${ADDS}`))

    const { opened, open: letGo } = latch()
    live.standIn.setFaults([{ kind: 'held', until: opened }])
    const worker = old.start(['worker'], { ...environment, SYNC_CONCURRENCY: '2' })
    await worker.shows(/"msg":"working"/)
    const serve = old.start(['serve'], { ...environment, HTTP_PORT: '0', HTTP_TOKEN })
    const [, url = ''] = await serve.shows(/"address":"([^"]+)"/)
    const { document: run } = await old.json(['enqueue'], environment)
    await until('calls are held', () => live.standIn.calls.inFlight === 2)

    const migrated = await next.runProcess(['migrate'], environment)
    expect(migrated).toMatchObject({ code: 0 })
    const newer = next.start(['worker'], environment)
    await newer.shows(/"msg":"working"/)
    letGo()
    expect(await settled(live.database, run.runId)).toMatchObject({ status: 'succeeded' })
    await expectTablesEqual(live.database, live.world)

    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    for (const args of [['status'], ['migrate'], ['run'], ['verify']])
      expect(await old.runProcess(args, environment), args[0]).toMatchObject({ code: 0 })
    const { stdout } = await old.runProcess(['doctor'], environment)
    expect(stdout).toMatch(/^ok +tables +The tables are of version 0\.2\.0 \(\d+_later\), and/m)
    const again = old.start(['worker'], environment)
    await again.shows(/"msg":"working"/)

    for (const process of [worker, serve, newer, again]) {
      process.child.kill('SIGTERM')
      const { code, stderr } = await process.ended
      expect(code).toBe(0)
      expect(warnings(stderr)).toEqual([])
    }
  },
)

test('without the line, an old process that starts refuses newer tables, and changes nothing', async () => {
  const live = await openLoaded('postgres', { settings: { LOG_LEVEL: 'info' } })
  const old = await buildCommand()
  const environment = live.environment
  const serve = old.start(['serve'], { ...environment, HTTP_PORT: '0', HTTP_TOKEN })
  const [, url = ''] = await serve.shows(/"address":"([^"]+)"/)
  const next = await buildCommand(await laterVersion('0.2.0', ADDS))
  expect(await next.runProcess(['migrate'], environment)).toMatchObject({ code: 0 })

  const sentence =
    /The tables were made by a newer version of collab-sync, 0\.2\.0 \(\d+_later\)\. Update this program\./
  for (const args of [['status'], ['migrate'], ['run'], ['worker'], ['serve']]) {
    const ended = await old.runProcess(args, withPort(environment))
    expect(ended, args[0]).toMatchObject({ code: 2, stderr: expect.stringMatching(sentence) })
  }
  const ready = await fetch(`${url}/readyz`)
  expect(ready.status).toBe(503)
  expect(await ready.json()).toMatchObject({ postgresql: expect.stringMatching(sentence) })
  serve.child.kill('SIGTERM')
  expect((await serve.ended).code).toBe(0)
})

function withPort(environment: Environment): Environment {
  return { ...environment, HTTP_PORT: '0', HTTP_TOKEN }
}

/** A copy of the built program with another version and one migration more; removed at the end of the test. */
async function laterVersion(version: string, sql: string): Promise<string> {
  const program = await builtProgram()
  const folder = await mkdtemp(join(tmpdir(), 'later-'))
  closedAtEnd(() => rm(folder, { recursive: true, force: true }))
  for (const part of ['dist', 'sql'])
    await cp(join(program, part), join(folder, part), { recursive: true, dereference: true })
  for (const part of ['node_modules', 'docs'])
    await symlink(join(program, part), join(folder, part))
  const manifest = JSON.parse(await readFile(join(program, 'package.json'), 'utf8'))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
  await writeFile(join(folder, 'sql/migrations/900_later.sql'), sql)
  return folder
}

/** The lines of a log that a person would look at. */
function warnings(log: string): string[] {
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  return lines.filter((line) => JSON.parse(line).level >= 40 || /"level":"(warn|error)/.test(line))
}
