import { randomBytes } from 'node:crypto'
import fs, {
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
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prune } from '../../src/features/privacy/prune.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { UsageError } from '../../src/base/errors.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { exportByState, lockState } from '../../src/features/export/state.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { fillComments } from './fill-comments.ts'
import { differences, exportKilled, NO_DIFFERENCES, readCopies, Warehouse } from './warehouse.ts'

const EDIT = `update collab_store.comments set comment_text = $1 where comment_id = $2`

let command: BuiltCommand
let database: TestDatabase
beforeAll(async () => {
  command = await buildCommand()
  database = await createTestDatabase()
  await fillComments(database, 2000)
})
afterAll(async () => {
  await command?.remove()
  await database?.drop()
})

let places = 0
/** A folder for one test. */
function place(): string {
  const path = join(command.directory, `state-${(places += 1)}`)
  mkdirSync(path)
  return path
}

function run(args: string[], url = database.url) {
  return command.run(['export', ...args], { DATABASE_URL: url })
}

function linesOf(file: string): Record<string, unknown>[] {
  const text = readFileSync(file, 'utf8').trimEnd()
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line))
}

test('a warehouse that is loaded by exports that are killed at random, beside writers that overtake each other, equals the table', async () => {
  const { warehouse, comments, kills, loads, written } = await exportKilled(
    database.pool,
    { writers: 3, kills: 3, rowsEach: 8, atLeast: 2000, directory: place() },
    (args) => command.start(args, { DATABASE_URL: database.url }).child,
  )
  try {
    expect(await differences(warehouse, database.pool, comments)).toEqual(NO_DIFFERENCES)
    expect(kills).toBeGreaterThanOrEqual(3)
    expect(loads).toBeGreaterThan(2)
    expect(written).toBeGreaterThan(2000)
  } finally {
    warehouse.close()
  }
})

describe('all that a copy may be kept of equals the tables after', () => {
  const PERSON = { userId: 'zzyzx-17', name: 'Wilhelmine Zzyzx', email: 'w@zzyzx.example' }
  let live: Live
  let warehouse: Warehouse
  let directory: string
  beforeAll(async () => {
    live = await openLive('none')
    warehouse = await Warehouse.open()
    directory = place()
  })
  afterAll(async () => {
    warehouse?.close()
    await live?.close()
  })

  /** Exports what changed of each, and loads it. */
  async function follow(): Promise<void> {
    const { pool } = live.database
    for (const copy of await readCopies(pool)) {
      const out = join(directory, `${copy.name}-${randomBytes(4).toString('hex')}`)
      const request = { object: copy.name, organizationId: null, since: null, out } as const
      const rest = { format: 'parquet', formulas: false, byteOrderMark: false } as const
      await exportByState(pool, { ...request, ...rest }, join(directory, `${copy.name}.state`))
      await warehouse.load(copy, out)
      expect(await differences(warehouse, pool, copy)).toEqual(NO_DIFFERENCES)
    }
  }

  test('an import and a first run', async () => {
    await live.importCatalog()
    await follow()
    const [here = ''] = live.world.organizationIds()
    const [documentId = ''] = live.world.documentIds(here)
    live.world.putUser(here, PERSON)
    live.world.putDocumentUsers(here, documentId, [PERSON.userId])
    await live.run()
    await follow()
  })

  test('runs that find all kinds of changes', async () => {
    for (let round = 0; round < 3; round++) {
      randomChanges(live.world, { count: 60, seed: round })
      await live.run()
      await follow()
    }
  })

  test('an import that prunes', async () => {
    const [first, ...lines] = [...catalogLines(live.world)].toReversed()
    expect(first).toBeDefined()
    const source = listSource('world', lines)
    await importCatalog(live.database.pool, source, { prune: true, acceptsAll: true })
    await follow()
  })

  test('an erasure, after which nothing in the warehouse names the person', async () => {
    const { pool } = live.database
    const asked = { userId: PERSON.userId, organizationId: null, reason: 'asked' }
    await eraseUser(pool, asked)
    await follow()
    for (const copy of await readCopies(pool))
      expect((await warehouse.rows(copy)).join().toLowerCase()).not.toContain('zzyzx')
    const [here = ''] = live.world.organizationIds()
    live.world.putUser(here, { ...PERSON })
    await live.run()
    await follow()
  })
})

test('a file that was complete when its export was killed is written again by the next', async () => {
  const directory = place()
  const [out, state] = [join(directory, 'out'), join(directory, 'state')]
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

describe('in every format', () => {
  test.each(['ndjson', 'csv', 'parquet'])('%s: once each row that changed', async (format) => {
    const directory = place()
    const [out, state] = [join(directory, 'out'), join(directory, 'state')]
    const args = ['comments', '--format', format, '--no-bom', '--json', '--out', out]
    const first = JSON.parse((await run([...args, '--state', state])).stdout)
    expect(first).toMatchObject({ object: 'collab.comments', rows: 2000, after: null })
    for (const text of ['once', 'twice']) await database.pool.query(EDIT, [text + format, 7])
    const changed = await run([...args, '--after', first.cursor])
    expect(JSON.parse(changed.stdout)).toMatchObject({ rows: 1, after: first.cursor })
    if (format === 'ndjson')
      expect(linesOf(out)).toMatchObject([
        { comment_id: 7, comment_text: 'twicendjson', is_gone: false },
      ])
    if (format === 'csv') expect(readFileSync(out, 'utf8').split('\r\n')[1]).toMatch(/,false$/)
  })
})

test('of what is gone the key is told, of a person without the id', async () => {
  const directory = place()
  const { pool } = database
  await pool.query(`insert into collab_store.users (organization_key, source, listed, first_seen_at, changed_at, digest, user_id)
    select organization_key, 3, true, now(), now(), '\\x00', 'gone' from collab_store.organizations where organization_id = 'o'`)
  const exported = async (object: string, ...flags: string[]) => {
    const out = join(directory, object)
    const { stdout } = await run([object, '--format', 'ndjson', '--out', out, '--json', ...flags])
    return { lines: linesOf(out), cursor: JSON.parse(stdout).cursor as string }
  }
  const cursors = {
    users: await exported('users', '--state', join(directory, 'u.state')),
    comments: await exported('comments', '--state', join(directory, 'c.state')),
  }
  const person = cursors.users.lines.find((line) => line['user_id'] === 'gone')?.['person']
  await pool.query(`delete from collab_store.comments where comment_id = 11;
    delete from collab_store.users where user_id = 'gone'`)
  await expect
    .poll(async () => (await exported('comments', '--after', cursors.comments.cursor)).lines)
    .toMatchObject([
      { organization_id: 'o', document_id: 'd', comment_id: 11, comment_text: null, is_gone: true },
    ])
  expect((await exported('users', '--after', cursors.users.cursor)).lines).toMatchObject([
    { organization_id: 'o', user_id: null, person, is_gone: true },
  ])
})

describe('what cannot be is one sentence with exit code 2, and changes nothing:', () => {
  let directory: string
  let state: string
  let args: string[]
  beforeAll(async () => {
    directory = place()
    state = join(directory, 'state')
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
    ['', /is no state of an export/],
    ['{"export": "collab.us', /is no state of an export/],
    ['{"cursor": "5d0c2e7b91aa-1-1-0-0"}', /is no state of an export/],
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
      /is of collab\.users, not of collab\.comments/,
    )
    expect(await refused([...args, out, '--organization', 'o'])).toMatch(
      /is of collab\.users, not of collab\.users of the organization "o"/,
    )
    const older = join(directory, 'older')
    writeFileSync(older, readFileSync(state, 'utf8').replace('"email",', ''))
    expect(await refused(['users', '--state', older, '--out', out])).toMatch(
      /The columns of collab\.users are others than in the export before: remove the state file/,
    )
    expect(await refused(['users', '--state', directory, '--out', out])).toMatch(/is no state/)
    expect(await refused(['users', '--state', join(directory, 'no/x'), '--out', out])).toMatch(
      /cannot be written \(ENOENT\)/,
    )
  })

  test('a file of the export before that nobody has taken away', async () => {
    expect(await refused([...args, join(directory, 'first')])).toMatch(
      /of the export before is still there: load it and remove it/,
    )
  })

  test('a pipe, a device, the state file itself, a view of reporting, two ways at once', async () => {
    for (const out of ['-', '/dev/null'])
      expect(await refused([...args, out])).toMatch(/needs --out FILE/)
    expect(await refused([...args, state])).toMatch(/name the same file/)
    const out = join(directory, 'x')
    expect(await refused(['reporting.comments', '--after', 'x', '--out', out])).toMatch(
      /The feed of changes tells nothing of "reporting\.comments"\. It tells of: .*collab\.comments/,
    )
    expect(await refused([...args, out, '--after', 'x'])).toMatch(/leave out --after/)
    expect(await refused([...args, out, '--since', '2026-01-01'])).toMatch(/give one of them/)
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
    try {
      expect(await refused([...args, join(directory, 'x')], other.url)).toMatch(
        /another feed.* remove the state file \S+state, and load into an empty table/,
      )
    } finally {
      await other.drop()
    }
    await database.pool.query(EDIT, ['pruned', 9])
    await expect
      .poll(async () => (await prune(database.pool, new Date(Date.now() + 1000))).changes)
      .toBeGreaterThan(0)
    expect(await refused([...args, join(directory, 'x')])).toMatch(/too old: prune has deleted/)
  })
})

test('an export that was stopped for so long that another took over gives no file and leaves the state', async () => {
  const directory = place()
  const [out, state] = [join(directory, 'out'), join(directory, 'state')]
  const request = {
    object: 'comments',
    organizationId: null,
    since: null,
    format: 'ndjson',
  } as const
  const rest = { formulas: false, byteOrderMark: false }
  let isTaken = false
  const onRows = () => {
    if (isTaken) return
    isTaken = true
    rmdirSync(`${state}.lock`)
    mkdirSync(`${state}.lock`)
  }
  const exporting = exportByState(database.pool, { ...request, ...rest, out }, state, { onRows })
  await expect(exporting).rejects.toThrow(/Another export took over the state file/)
  await expect(exporting).rejects.not.toThrow(UsageError)
  expect(readdirSync(directory)).toEqual(['state.lock'])
})

test('a state file that cannot be locked is refused: two exports at once could lose changes', async () => {
  const state = join(place(), 'state')
  const utimes = (...args: unknown[]) =>
    (args.at(-1) as (error: Error) => void)(
      Object.assign(new Error('EPERM: refused'), { code: 'EPERM' }),
    )
  const locking = lockState(state, { ...fs, utimes } as typeof fs)
  await expect(locking).rejects.toThrow(UsageError)
  await expect(locking).rejects.toThrow(
    `The state file ${state} cannot be locked (EPERM): name one on another file system.`,
  )
  expect(existsSync(`${state}.lock`)).toBe(false)
})
