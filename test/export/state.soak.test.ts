import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { prune } from '../../src/features/privacy/prune.ts'
import { UsageError } from '../../src/base/errors.ts'
import { exportByState } from '../../src/features/export/state.ts'
import { Copy, tableTexts } from '../changes/copy.ts'
import { countFromZero, countUp } from '../changes/count-up.ts'
import { buildCommand } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { fillComments } from './fill-comments.ts'

const EDIT = `update collab_store.comments set comment_text = $1 where comment_id = $2`

const command = await buildCommand()
const database = await createTestDatabase()
await fillComments(database, 2000)

let places = 0
/** A folder for one test, and the file and the state of its exports. */
function place() {
  const directory = join(command.directory, `state-${(places += 1)}`)
  mkdirSync(directory)
  return { directory, out: join(directory, 'out'), state: join(directory, 'state') }
}

function run(args: string[], url = database.url) {
  return command.run(['export', ...args], { DATABASE_URL: url })
}

function textsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').trimEnd()
  return text === '' ? [] : text.split('\n')
}

function linesOf(file: string): Record<string, unknown>[] {
  return textsOf(file).map((line) => JSON.parse(line))
}

test('a copy equals the table that is loaded from exports that are killed at random, beside writers that overtake each other', async () => {
  const { out, state } = place()
  const copy = new Copy()
  const args = ['export', 'comments', '--format', 'ndjson', '--out', out, '--state', state]
  await countFromZero(database.pool)
  let [kills, loads, tookMs, hasEnded] = [0, 0, 0, false]
  const writing = { writers: 3, rowsEach: 8 }
  const writers = countUp(database.pool, writing, (each) => kills >= 3 && each >= 2000)
  void writers.finally(() => void (hasEnded = true))
  const comments = async () =>
    (await tableTexts(database.pool)).filter((text) => text.startsWith('["comment"'))
  for (;;) {
    const isLast = hasEnded
    const startedAtMs = performance.now()
    const { child, ended } = command.start(args, { DATABASE_URL: database.url })
    // The first two are not killed, because their duration is not known yet.
    if (!isLast && loads > 1 && Math.random() < 0.6) {
      await Promise.race([once(child, 'close'), sleep(Math.random() * 1.2 * tookMs)])
      child.kill('SIGKILL')
    }
    const { code, stderr } = await ended
    if (code === null) {
      kills += 1
      continue
    }
    // The previous export was killed after its last step: its file is complete.
    const wasWhole = code === 2 && stderr.includes('of the previous export is still there')
    if (!wasWhole) {
      expect(stderr).toContain('collab.comments')
      expect(code).toBe(0)
      tookMs = performance.now() - startedAtMs
    }
    copy.load('comment', textsOf(out))
    rmSync(out)
    loads += 1
    if (isLast && copy.texts().join() === (await comments()).join()) break
  }
  expect([kills >= 3, loads > 2, (await writers) > 2000]).toEqual([true, true, true])
})

test('a file that was complete when its export was killed is written again by the next', async () => {
  const { out, state } = place()
  const args = ['comments', '--format', 'ndjson', '--out', out, '--state', state]
  await run(args)
  const before = readFileSync(state, 'utf8')
  rmSync(out)
  await database.pool.query(EDIT, ['seen twice', 9])
  await expect
    .poll(async () => {
      rmSync(out, { force: true })
      await run(args)
      return linesOf(out).length
    })
    .toBe(1)
  // As it is where the kill came before the state went on.
  writeFileSync(state, before)
  await run(args)
  expect(linesOf(out)).toMatchObject([{ comment_id: 9, comment_text: 'seen twice' }])
})

test.each(['csv', 'parquet'])('%s: once each row that changed after a cursor', async (format) => {
  const { out, state } = place()
  const args = ['comments', '--format', format, '--no-bom', '--json', '--out', out]
  const first = JSON.parse((await run([...args, '--state', state])).stdout)
  expect(first).toMatchObject({ object: 'collab.comments', rows: 2000, after: null })
  for (const text of ['once', 'twice']) await database.pool.query(EDIT, [text + format, 7])
  const changed = await run([...args, '--after', first.cursor])
  expect(JSON.parse(changed.stdout)).toMatchObject({ rows: 1, after: first.cursor })
  if (format === 'csv') expect(readFileSync(out, 'utf8').split('\r\n')[1]).toMatch(/,false$/)
})

describe('what cannot be is one sentence with exit code 2, and changes nothing:', () => {
  let directory: string
  let state: string
  let args: string[]
  beforeAll(async () => {
    ;({ directory, state } = place())
    args = ['users', '--format', 'ndjson', '--state', state, '--out']
    expect((await run([...args, join(directory, 'first')])).code).toBe(0)
  })

  /** @returns what it said */
  async function refused(flags: string[], url?: string): Promise<string> {
    const before = [readdirSync(directory).toSorted(), readFileSync(state, 'utf8')]
    const { code, stdout, stderr } = await run(flags, url)
    expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1])
    expect([readdirSync(directory).toSorted(), readFileSync(state, 'utf8')]).toEqual(before)
    return stderr
  }

  test.each([
    ['', /is not a state file/],
    ['{"export": "collab.us', /is not a state file/],
    ['{"cursor": "5d0c2e7b91aa-1-1-0-0"}', /is not a state file/],
  ])('a state file of %j', async (text, message) => {
    const other = join(directory, 'other')
    writeFileSync(other, text)
    expect(await refused(['users', '--state', other, '--out', join(directory, 'x')])).toMatch(
      message,
    )
    expect(readFileSync(other, 'utf8')).toBe(text)
  })

  test('a state file of another object, organization, or other columns, or a folder', async () => {
    const out = join(directory, 'x')
    expect(await refused(['comments', '--state', state, '--out', out])).toMatch(
      /is for collab\.users, not for collab\.comments/,
    )
    expect(await refused([...args, out, '--organization', 'o'])).toMatch(
      /is for collab\.users, not for collab\.users of the organization "o"/,
    )
    const older = join(directory, 'older')
    writeFileSync(older, readFileSync(state, 'utf8').replace('"email",', ''))
    expect(await refused(['users', '--state', older, '--out', out])).toMatch(
      /The columns of collab\.users have changed since the previous export: remove the state file/,
    )
    expect(await refused(['users', '--state', directory, '--out', out])).toMatch(
      /is not a state file/,
    )
    expect(await refused(['users', '--state', join(directory, 'no/x'), '--out', out])).toMatch(
      /cannot be written \(ENOENT\)/,
    )
  })

  test('the file of the previous export, which was not removed', async () => {
    expect(await refused([...args, join(directory, 'first')])).toMatch(
      /of the previous export is still there: load it and remove it/,
    )
  })

  test('a pipe, a device, the state file itself, a view of reporting, two ways at once', async () => {
    for (const out of ['-', '/dev/null'])
      expect(await refused([...args, out])).toMatch(/needs --out FILE/)
    expect(await refused([...args, state])).toMatch(/name the same file/)
    const out = join(directory, 'x')
    expect(await refused(['reporting.comments', '--after', 'x', '--out', out])).toMatch(
      /no table or view "reporting\.comments" in the feed of changes\. There are: .*collab\.comments/,
    )
    expect(await refused([...args, out, '--after', 'x'])).toMatch(/combined with --after/)
    expect(await refused([...args, out, '--since', '2026-01-01'])).toMatch(/cannot be combined/)
    expect(await refused(['users', '--after', 'x', '--out', out])).toMatch(/This is no cursor/)
  })

  test('a file that is in use by another export, until it is not any more', async () => {
    // As one whose lock never grows old, however late a busy machine looks.
    mkdirSync(`${state}.lock`)
    utimesSync(`${state}.lock`, new Date(), new Date(Date.now() + 3_600_000))
    const out = join(directory, 'waiting')
    expect(await refused([...args, out])).toMatch(/is in use by another export/)
    const waiting = run([...args, out])
    await sleep(500)
    expect(existsSync(out)).toBe(false)
    rmdirSync(`${state}.lock`)
    expect(await waiting).toMatchObject({ code: 0 })
    expect(existsSync(out)).toBe(true)
  })

  test('a cursor of another database, and one older than prune keeps', async () => {
    const other = await createTestDatabase()
    expect(await refused([...args, join(directory, 'x')], other.url)).toMatch(
      /another feed.* remove the state file \S+state, and load into an empty table/,
    )
    await database.pool.query(EDIT, ['pruned', 9])
    await expect
      .poll(async () => (await prune(database.pool, new Date(Date.now() + 1000))).changes)
      .toBeGreaterThan(0)
    expect(await refused([...args, join(directory, 'x')])).toMatch(/too old: prune has deleted/)
  })
})

test('an export that was stopped for so long that another took over gives no file and leaves the state', async () => {
  const { directory, out, state } = place()
  const all = { object: 'comments', organizationId: null, since: null, format: 'ndjson' } as const
  const request = { ...all, formulas: false, byteOrderMark: false, out }
  let isTaken = false
  const onRows = () => {
    if (isTaken) return
    isTaken = true
    rmdirSync(`${state}.lock`)
    mkdirSync(`${state}.lock`)
  }
  const exporting = exportByState(database.pool, request, state, { onRows })
  await expect(exporting).rejects.toThrow(/Another export took over the state file/)
  await expect(exporting).rejects.not.toThrow(UsageError)
  expect(readdirSync(directory)).toEqual(['state.lock'])
})

test('a state file that cannot be locked is refused', async () => {
  const { directory, state } = place()
  writeFileSync(`${state}.lock`, 'not a folder')
  utimesSync(`${state}.lock`, 0, 0)
  const { code, stderr } = await run(['users', '--out', join(directory, 'x'), '--state', state])
  expect([code, stderr]).toEqual([2, expect.stringMatching(/state cannot be locked \(ENOTDIR\)/)])
  expect(readdirSync(directory)).toEqual(['state.lock'])
})
