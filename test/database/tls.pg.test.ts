import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { querySource } from '../../src/features/catalog/query.ts'
import { checkDatabase } from '../../src/core/database/connection-errors.ts'
import { UsageError } from '../../src/base/errors.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import { databaseAddress } from '../../src/settings/database-address.ts'
import { buildCommand } from '../cli/built-command.ts'
import { openTestDatabase } from '../helpers/database.ts'
import { startLike } from '../helpers/own-server.ts'
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from '../helpers/private-authority.ts'
import type { Server } from '../helpers/servers.ts'

const SETTINGS = {
  ssl: 'on',
  ssl_cert_file: 'server.crt',
  ssl_key_file: 'server.key',
  hba_file: 'tls_hba.conf',
}
const FILES = {
  'server.crt': SERVER_CERTIFICATE,
  'server.key': SERVER_KEY,
  // Without TLS only to one database, by which the server is known to be up.
  'tls_hba.conf': 'hostssl all all 127.0.0.1/32 trust\nhostnossl postgres all 127.0.0.1/32 trust\n',
}

const command = await buildCommand()
const started = await startLike(inject('postgresUrl'), SETTINGS, FILES)
if (started === null) throw new Error('The programs of the tests’ PostgreSQL are not here.')
const server: Server = started
const authority: string = join(command.directory, 'ca.pem')
await writeFile(authority, AUTHORITY)
afterAll(() => server.close())

/** An address of the server. Its certificate is that of `localhost`. */
function address(words: string, { host = 'localhost', database = 'postgres' } = {}): string {
  const { port } = new URL(server.url)
  return `postgres://postgres@${host}:${port}/${database}?${words}`
}

/** Whether the connection of an address is encrypted, as the server says. */
async function isEncrypted(url: string): Promise<boolean | undefined> {
  const rows = await openTestDatabase(databaseAddress.parse(url)).rows<{ ssl: boolean }>(
    'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
  )
  return rows[0]?.ssl
}

/** Opens the tables' database as a command does at its start. */
async function check(url: string): Promise<void> {
  await checkDatabase(openTestDatabase(databaseAddress.parse(url)).pool)
}

const UNVERIFIED =
  'its certificate cannot be verified (unable to verify the first certificate). Name the certificate of its authority in DATABASE_URL (sslrootcert=FILE), or accept any certificate (sslmode=no-verify).'

test.each<[words: string, encrypted: boolean]>([
  ['', false],
  ['sslmode=disable', false],
  ['ssl=false', false],
  ['sslmode=no-verify', true],
  ['ssl=no-verify', true],
  ...['allow', 'prefer', 'require', 'verify-ca', 'verify-full'].map((mode): [string, boolean] => [
    `sslmode=${mode}&sslrootcert=CA`,
    true,
  ]),
  ['ssl=true&sslrootcert=CA', true],
  ['sslrootcert=CA', true],
  ['sslmode=require&sslnegotiation=postgres&sslrootcert=CA', true],
])('"%s" connects to a server of a private authority; encrypted: %s', async (words, encrypted) => {
  expect(await isEncrypted(address(words.replace('CA', authority)))).toBe(encrypted)
})

test.each([
  'sslmode=prefer',
  'sslmode=require',
  'sslmode=verify-ca',
  'sslmode=verify-full',
  'ssl=true',
  'sslmode=require&sslrootcert=system',
  'sslmode=require&uselibpqcompat=true',
])('"%s" verifies: an unknown authority is refused, with both remedies', async (words) => {
  const failed = check(address(words))
  await expect(failed).rejects.toThrow(UsageError)
  await expect(failed).rejects.toThrow(UNVERIFIED)
})

test('the host is compared with the certificate, but for verify-ca', async () => {
  const otherHost = (mode: string) =>
    address(`sslmode=${mode}&sslrootcert=${authority}`, { host: '127.0.0.1' })
  const failed = check(otherHost('require'))
  await expect(failed).rejects.toThrow(UsageError)
  await expect(failed).rejects.toThrow(/its certificate is that of another host\. .* DATABASE_URL/)
  expect(await isEncrypted(otherHost('verify-ca'))).toBe(true)
})

test('a server that insists on TLS, and one that has none, are told by what to change', async () => {
  await expect(check(address('', { database: 'template1' }))).rejects.toThrow(
    /no entry for this user and host without TLS\. Add sslmode=require to DATABASE_URL\.$/,
  )
  const { port, username } = new URL(inject('postgresUrl'))
  const plain = `postgres://${username}@127.0.0.1:${port}/postgres?sslmode=require`
  await expect(check(plain)).rejects.toThrow(/it does not support TLS, which DATABASE_URL requires/)
})

test('the same for the queue and the catalog, by their own settings', async () => {
  const url = databaseAddress.parse(address('sslmode=require'))
  await expect(migrateQueue({ kind: 'postgres', url })).rejects.toThrow(
    UNVERIFIED.replace('DATABASE_URL', 'QUEUE_DATABASE_URL'),
  )
  await expect(querySource(url, 'select 1').lines()[Symbol.asyncIterator]().next()).rejects.toThrow(
    `The database in CATALOG_DATABASE_URL cannot be reached: ${UNVERIFIED.replace('DATABASE_URL', 'CATALOG_DATABASE_URL')}`,
  )
})

test.each(['prefer', 'require', 'verify-ca', 'no-verify'])(
  'a command at sslmode=%s prints no warning, for the tables, the queue, the catalog and psql',
  async (mode) => {
    const url = address(`sslmode=${mode}&sslrootcert=${authority}`)
    const environment = {
      DATABASE_URL: url,
      QUEUE_DATABASE_URL: url,
      CATALOG_DATABASE_URL: url,
      CATALOG_SQL: "select 'acme' as organization_id",
    }
    for (const args of [['migrate'], ['catalog', 'refresh']])
      expect(await command.runProcess(args, environment)).toMatchObject({ code: 0, stderr: '' })
    const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
    expect(await command.runProcess(['psql', '-Atc', text], environment)).toEqual({
      code: 0,
      stdout: 't\n',
      stderr: '',
    })
  },
)
