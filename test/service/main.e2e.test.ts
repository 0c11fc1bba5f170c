import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectedComments } from './expected.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { createWorld } from '../../src/demo/world.ts'
import { call } from './call.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const place = { organizationId: 'org-0', documentId: 'doc-0', annotationId: 'ann-0' }

interface Started {
  url: string
  apiKey: string
  authToken: string
  controlUrl: string
  annotations: number
}

let folder: string
let main: string
const children: ChildProcess[] = []

// Built into a folder of its own, so that the test neither trusts an old build nor replaces one.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stand-in-'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        rootDir: root,
        outDir: folder,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: [],
      files: [join(root, 'test/service/main.ts')],
    }),
  )
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await run(join(root, 'node_modules/.bin/tsc'), ['--project', join(folder, 'tsconfig.json')])
  main = join(folder, 'test/service/main.js')
})

afterAll(async () => {
  for (const child of children) child.kill()
  await rm(folder, { recursive: true })
})

async function start(...flags: string[]): Promise<{ child: ChildProcess; started: Started }> {
  const child = spawn(process.execPath, [main, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  if (!child.stdout) throw new Error('no stdout')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, started: JSON.parse(line) as Started }
}

async function control(started: Started, order?: object) {
  const request = order === undefined ? {} : { method: 'POST', body: JSON.stringify(order) }
  const response = await fetch(started.controlUrl, request)
  const answer = (await response.json()) as Record<string, unknown>
  return { status: response.status, ...answer } as Record<string, unknown>
}

describe('the stand-in as a process', () => {
  test('serves the world of its flags, and writes its catalog', async () => {
    const file = join(folder, 'catalog.ndjson')
    const { started } = await start('--organizations', '2', '--seed', '9', '--catalog', file)
    expect(started.annotations).toBe(160)
    const world = createWorld({
      seed: 9,
      organizations: 2,
      documentsPerOrganization: 8,
      annotationsPerDocument: 10,
      commentsPerAnnotation: 5,
      usersPerOrganization: 25,
      groupsPerOrganization: 4,
    })
    const answer = await call(started, 'comments', place)
    expect(answer.body.result?.data).toHaveLength(world.comments(place)?.length ?? -1)
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    expect(lines.filter((line) => line.includes('annotationId'))).toHaveLength(160)
  })

  test('follows its control address: changes, latency, faults, token, counts', async () => {
    const { started } = await start('--log-calls', '10')
    const order = { count: 40, seed: 3 }
    const changed = await control(started, { changes: order, latencyMs: 5 })
    const world = createWorld({
      seed: 1,
      organizations: 3,
      documentsPerOrganization: 8,
      annotationsPerDocument: 10,
      commentsPerAnnotation: 5,
      usersPerOrganization: 25,
      groupsPerOrganization: 4,
    })
    expect(changed.changes).toEqual(randomChanges(world, order))
    expect(changed.latencyMs).toBe(5)
    const edited = (changed.changes as { kind: string }[]).find((one) => one.kind === 'edit')
    const { organizationId, documentId, annotationId } = edited as unknown as typeof place
    const where = { organizationId, documentId, annotationId }
    const served = await call(started, 'comments', where)
    const expected = [...expectedComments(world)].filter(
      (row) =>
        row.organizationId === organizationId &&
        row.documentId === documentId &&
        row.annotationId === annotationId,
    )
    expect(served.body.result?.data).toHaveLength(expected.length)
    expect(served.body.result?.data).toEqual(
      expect.arrayContaining(expected.map((row) => row.comment)),
    )

    await control(started, { faults: [{ kind: 'forbidden', match: { operation: 'users' } }] })
    expect((await call(started, 'users', { organizationId: 'org-0' })).status).toBe(403)
    await control(started, { faults: [{ kind: 'empty-list', match: { operation: 'users' } }] })
    const empty = await call(started, 'users', { organizationId: 'org-0' })
    expect(empty.body.result?.data).toEqual([])
    await control(started, { faults: [], authToken: 'changed' })
    expect((await call(started, 'comments', place)).status).toBe(401)
    const stats = await control(started)
    expect(stats).toMatchObject({ total: 4, byOperation: { users: 2, comments: 2 } })
    expect(stats.cpuMs).toBeGreaterThan(0)
    const log = (await (await fetch(`${started.controlUrl}/log`)).json()) as { status: number }[]
    expect(log.map((one) => one.status)).toEqual([200, 403, 200, 401])
    expect((await control(started, { resetCalls: true })).total).toBe(0)
  })

  test('refuses an order that it does not know, and goes on', async () => {
    const { started } = await start()
    expect(await control(started, { lateness: 4 })).toMatchObject({
      status: 400,
      error: 'Error: no such switch: lateness',
    })
    expect((await fetch(started.controlUrl, { method: 'POST', body: '{' })).status).toBe(400)
    expect((await call(started, 'comments', place)).status).toBe(200)
  })

  test('ends on SIGTERM, and with its stdin when told so', async () => {
    const { child: told } = await start()
    told.kill('SIGTERM')
    expect(await once(told, 'exit')).toEqual([0, null])
    const { child: bound } = await start('--exit-with-stdin')
    bound.stdin?.end()
    expect(await once(bound, 'exit')).toEqual([0, null])
  })

  test('names a flag that is wrong', async () => {
    const wrong = run(process.execPath, [main, '--users', 'many'])
    await expect(wrong).rejects.toThrow(/--users <n>.*'many' is invalid/)
  })
})
