import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import type { RunningHttp } from '../../src/http/start-http.ts'
import { startWorker } from '../../src/worker/worker.ts'
import type { RunningWorker } from '../../src/worker/worker.ts'
import { QUEUE_KINDS, isMissing, openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { BEARER, TOKEN, serveApp } from './served.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../..')
const WORKSPACE = join(import.meta.dirname, 'generated-client')
const OPTIONS = {
  strict: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2023', 'dom', 'dom.iterable'],
  typeRoots: [join(ROOT, 'node_modules/@types')],
  types: ['node'],
}

/** What was generated, and the program beside it. */
let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'generated-client-'))
  cpSync(join(WORKSPACE, 'client.js'), join(directory, 'client.js'))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }))
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'), 'dir')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A program of the workspace: the generator and its own TypeScript. */
async function workspaceProgram(name: string, args: string[]): Promise<void> {
  const program = join(WORKSPACE, 'node_modules/.bin', name)
  await run(program, args, { cwd: directory }).catch((error) => {
    throw new Error(`${name} fails:\n${error.stdout}${error.stderr}`)
  })
}

/** The document is the same on either queue, and the type check takes its time. */
let generated: Promise<void> | null = null

async function generate(http: RunningHttp): Promise<void> {
  const document = await fetch(`${http.url}/openapi.json`, { headers: BEARER })
  writeFileSync(join(directory, 'openapi.json'), await document.text())
  await workspaceProgram('openapi-typescript', ['openapi.json', '--output', 'openapi.d.ts'])
  await workspaceProgram('tsc', ['--project', '.'])
}

describe.each(QUEUE_KINDS)('with the queue on %s', (queue) => {
  let live: Live
  let http: RunningHttp
  let worker: RunningWorker

  beforeAll(async () => {
    if (isMissing(queue)) return
    live = await openLive(queue)
    await live.importCatalog()
    const app = await live.openApp()
    http = await serveApp(app)
    worker = await startWorker(app, jobs, { keepsSchedule: false })
  })
  afterAll(async () => {
    await worker?.stop()
    await http?.stop()
    await live?.close()
  })

  test('a client that a public generator makes of the document compiles, and does everything', async (context) => {
    if (isMissing(queue)) return context.skip()
    await (generated ??= generate(http))
    await live.run()
    const [failing = '', held = '', poisoned = ''] = live.world.organizationIds()
    live.standIn.setFaults([
      { kind: 'forbidden', match: { operation: 'users', organizationId: failing } },
      { kind: 'empty-list', match: { operation: 'users', organizationId: held } },
      { kind: 'poison', poison: 'string-record', match: { organizationId: poisoned } },
    ])
    const { stdout } = await run(process.execPath, ['client.js', http.url, TOKEN, failing], {
      cwd: directory,
    })
    const seen = JSON.parse(stdout)
    expect(seen).toMatchObject({
      events: ['run', 'end'],
      status: 'partial',
      causes: expect.arrayContaining([{ operation: 'users', httpStatus: 403 }]),
      failures: seen.failed,
      runs: ['http', 'cli'],
      retried: { isNew: true, cancelled: 409 },
      neverChecked: expect.any(Number),
      isActive: true,
      found: ['organization'],
      schedules: ['0 2 * * *', '30 1 * * *', null],
      faults: ['body scope.documentId'],
    })
    expect(seen.failed).toBeGreaterThan(0)
    expect(seen.rejected).toBeGreaterThan(0)
    expect(seen.heldUsers.removed).toBe(seen.heldUsers.missing)
  })
})
