import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { rmSync, utimesSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { EnvironmentError, UsageError } from '../../src/base/errors.ts'
import {
  openEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../src/worker/embedded/open-embedded-postgres.ts'
import { removeHome } from '../helpers/remove-home.ts'
import { ask, copyHome, isRoot, serverPid, temporaryDirectory } from './machine.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let directory: string
let home: string
let opened: EmbeddedPostgres[]

beforeEach(() => {
  directory = temporaryDirectory()
  home = join(directory, 'home')
  opened = []
})

afterEach(async () => {
  for (const postgres of opened) await postgres.close()
  removeHome(home)
})

async function openHere(): Promise<EmbeddedPostgres> {
  const postgres = await openEmbeddedPostgres({ home })
  opened.push(postgres)
  return postgres
}

/** Where it does not matter who made the cluster. */
async function openCopy(): Promise<EmbeddedPostgres> {
  await copyHome(home)
  return openHere()
}

it('makes a cluster with both databases, stops it, and finds its data again', async () => {
  const first = await openHere()
  expect(first.created).toBe(true)
  expect(new URL(first.url).pathname).toBe('/collab_sync')
  expect(await ask(first.urlOf('collab_sync_queue'), 'select current_database()')).toBe(
    'collab_sync_queue',
  )
  await ask(first.url, `create table kept as select 'Привет, 世界' as words`)
  const pid = serverPid(join(home, 'server'))
  await first.close()
  await first.close()
  expect(existsSync(join(home, 'server', 'data', 'postmaster.pid'))).toBe(false)
  // It is no child of ours, and ends just after it has removed its file.
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false)
  await expect(ask(first.url, 'select 1')).rejects.toThrow('ECONNREFUSED')

  const second = await openHere()
  expect(second.created).toBe(false)
  expect(await ask(second.url, 'select words from kept')).toBe('Привет, 世界')
})

it('serves two who opened it in one process until the second has closed', async () => {
  const first = await openCopy()
  const second = await openHere()
  expect(second.url).toBe(first.url)
  await first.close()
  expect(await ask(second.url, 'select 1')).toBe('1')
  await second.close()
  await expect(ask(second.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

it('keeps data durable, times in UTC and text in UTF-8 by the built-in locale', async () => {
  const { url } = await openCopy()
  const settings = `select string_agg(name || '=' || setting, ' ' order by name) from pg_settings
    where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'TimeZone', 'log_timezone',
      'server_encoding', 'autovacuum_naptime', 'max_connections')`
  expect(await ask(url, settings)).toBe(
    'TimeZone=UTC autovacuum_naptime=10 fsync=on full_page_writes=on log_timezone=UTC ' +
      'max_connections=200 server_encoding=UTF8 synchronous_commit=on',
  )
  const locale = `select datlocprovider::text || ' ' || datlocale from pg_database where datname = 'collab_sync'`
  expect(await ask(url, locale)).toBe('b C.UTF-8')
})

it('listens on the loopback address only and makes no socket file', async () => {
  const { url } = await openCopy()
  expect(await ask(url, 'show listen_addresses')).toBe('127.0.0.1')
  expect(await ask(url, 'show unix_socket_directories')).toBe('')
})

it('lets nobody in without the password', async () => {
  const { url } = await openCopy()
  const password = new URL(url).password
  const wrong = url.replace(password, 'guessed')
  await expect(ask(wrong, 'select 1')).rejects.toThrow('password authentication failed')
  await expect(ask(url.replace(`:${password}`, ''), 'select 1')).rejects.toThrow(/password/)
  expect(
    await ask(url, `select string_agg(distinct auth_method, ',') from pg_hba_file_rules`),
  ).toBe('scram-sha-256')
})

it('keeps the password in a file of mode 0600 and nowhere else', async () => {
  const { url } = await openCopy()
  const password = new URL(url).password
  expect(statSync(join(home, 'password')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(home, 'password'), 'utf8').trim()).toBe(password)
  const holding = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(password))
  expect(holding).toEqual([join(home, 'password')])
  const pid = serverPid(join(home, 'server'))
  if (process.platform !== 'linux') return
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(password)
})

it('gives the server an environment without our secrets', async () => {
  process.env['COLLAB_API_KEY'] = 'a-secret-key'
  try {
    await openCopy()
  } finally {
    delete process.env['COLLAB_API_KEY']
  }
  if (process.platform !== 'linux') return
  const environment = readFileSync(`/proc/${serverPid(join(home, 'server'))}/environ`, 'utf8')
  expect(environment).toContain('LC_ALL=C')
  expect(environment).not.toContain('a-secret-key')
})

it('starts beside a stale postmaster.pid whose process id is another process of its user by now', async () => {
  const first = await openCopy()
  await ask(first.url, 'create table kept as select 7 as n')
  await first.close()
  const data = join(home, 'server', 'data')
  const { uid, gid } = statSync(data)
  // PostgreSQL itself ignores one of another user.
  const stranger = spawn('sleep', ['300'], isRoot ? { uid, gid } : {})
  try {
    const stale = [stranger.pid, data, 1, 5432, '', '127.0.0.1', '', 'ready', '']
    writeFileSync(join(data, 'postmaster.pid'), stale.join('\n'))
    const second = await openHere()
    expect(await ask(second.url, 'select n from kept')).toBe('7')
  } finally {
    stranger.kill()
  }
})

it('takes another port when the one of a stale postmaster.pid is taken', async () => {
  await (await openCopy()).close()
  const stranger = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  const { port } = stranger.address() as { port: number }
  const stale = [999_999_999, join(home, 'server/data'), 1, port, '', '127.0.0.1', '', 'ready', '']
  writeFileSync(join(home, 'server', 'data', 'postmaster.pid'), stale.join('\n'))
  try {
    const second = await openHere()
    expect(new URL(second.url).port).not.toBe(String(port))
    expect(await ask(second.url, 'select 1')).toBe('1')
  } finally {
    stranger.close()
  }
})

it('refuses a home that another machine keeps in use, and takes one it left', async () => {
  mkdirSync(home)
  const file = join(home, 'machine')
  writeFileSync(file, 'another-host pid:[1]\n')
  const touching = setInterval(() => utimesSync(file, new Date(), new Date()), 100)
  try {
    await expect(openHere()).rejects.toThrow(
      /COLLAB_SYNC_HOME .* is in use on another machine or container \(another-host/,
    )
  } finally {
    clearInterval(touching)
  }
  expect(existsSync(join(home, 'server'))).toBe(false)
  const minuteAgo = new Date(Date.now() - 60_000)
  utimesSync(file, minuteAgo, minuteAgo)
  const postgres = await openHere()
  expect(postgres.created).toBe(true)
  expect(readFileSync(file, 'utf8')).toContain(hostname())
  await postgres.close()
  expect(existsSync(file)).toBe(false)
})

it('leaves data of another major version alone and names both', async () => {
  await (await openCopy()).close()
  const versionFile = join(home, 'server', 'data', 'PG_VERSION')
  writeFileSync(versionFile, '17\n')
  const before = readdirSync(join(home, 'server'), { recursive: true }).toSorted()
  const refused = openHere()
  await expect(refused).rejects.toThrow(EnvironmentError)
  await expect(refused).rejects.toThrow(/is of PostgreSQL 17, .* contains PostgreSQL 18\.\d/)
  expect(readdirSync(join(home, 'server'), { recursive: true }).toSorted()).toEqual(before)
  expect(readFileSync(versionFile, 'utf8')).toBe('17\n')
})

it('says that the password file is not the server’s, and does not overwrite data', async () => {
  await (await openCopy()).close()
  const password = readFileSync(join(home, 'password'))
  writeFileSync(join(home, 'password'), 'another\n')
  await expect(openHere()).rejects.toThrow(/The password in .*password is not that of/)
  expect(existsSync(join(home, 'server', 'data', 'postmaster.pid'))).toBe(false)
  writeFileSync(join(home, 'password'), password)
  expect((await openHere()).created).toBe(false)
})

it('names COLLAB_SYNC_HOME when it is a file or cannot be written', async () => {
  writeFileSync(home, '')
  const refused = openHere()
  await expect(refused).rejects.toThrow(UsageError)
  await expect(refused).rejects.toThrow(/COLLAB_SYNC_HOME \(.*home\) is not a directory/)
  await expect(openEmbeddedPostgres({ home: join(home, 'below') })).rejects.toThrow(/\(ENOTDIR\)/)
})

it('reports what the server said when it does not start, without the password', async () => {
  const first = await openCopy()
  await first.close()
  writeFileSync(join(home, 'server', 'data', 'postgresql.auto.conf'), `nonsense_setting = on\n`)
  const refused = openHere()
  await expect(refused).rejects.toThrow(EnvironmentError)
  await expect(refused).rejects.toThrow(/nonsense_setting.*DATABASE_URL/s)
  await expect(refused).rejects.not.toThrow(new URL(first.url).password)
})

it('reports the HINT of PostgreSQL, which its log leaves out', async () => {
  await (await openCopy()).close()
  writeFileSync(join(home, 'server', 'data', 'postgresql.auto.conf'), 'shared_buffers = 64TB\n')
  await expect(openHere()).rejects.toThrow(
    /"64TB"\nHINT: {2}Value exceeds integer range\.\nFATAL: {2}.* contains errors\. See .*DATABASE_URL/s,
  )
  expect(readFileSync(join(home, 'postgres.log'), 'utf8')).not.toContain('HINT')
})

it('starts on a volume whose fsGroup gives the group all rights at every mount', async () => {
  await (await openCopy()).close()
  const data = join(home, 'server', 'data')
  chmodSync(data, 0o2770)
  expect(await ask((await openHere()).url, 'select 1')).toBe('1')
  expect(statSync(data).mode & 0o7777).toBe(0o2750)
})

it('clears up an unfinished cluster that a killed first start left', async () => {
  await (await openCopy()).close()
  mkdirSync(join(home, 'server', 'data-0badf00d.new'))
  rmSync(join(home, 'server', 'data'), { recursive: true })
  expect((await openHere()).created).toBe(true)
  expect(readdirSync(join(home, 'server'))).toEqual(['data'])
})

it.runIf(isRoot)('runs as an unprivileged user who owns only the server directory', async () => {
  await openCopy()
  const { uid } = statSync(join(home, 'server', 'data'))
  expect(uid).not.toBe(0)
  expect(statSync(`/proc/${serverPid(join(home, 'server'))}`).uid).toBe(uid)
  expect(statSync(join(home, 'server')).mode & 0o777).toBe(0o700)
  expect(statSync(join(home, 'password')).uid).toBe(0)
})
