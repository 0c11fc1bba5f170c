import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { misspeltSettings } from '../../src/settings/near-names.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { readDemoSettings } from '../../src/settings/demo.ts'
import type { Environment } from '../../src/settings/environment.ts'
import type { SettingNeed } from '../../src/settings/settings.ts'
import { SETTING_LIST } from '../../src/settings/table.ts'
import { ownFolder } from '../helpers/own-folder.ts'
import { faultsOf as faultsIn, SECRET, SERVICE } from './faults.ts'
import { settingsPage } from './settings-page.ts'

let directory: string
beforeEach(() => {
  directory = ownFolder()
})

function read(environment: Environment, need: SettingNeed[] = ['service', 'database', 'queue']) {
  return readSettings(environment, { need, directory })
}

const faultsOf = (environment: Environment, need?: SettingNeed[]) =>
  faultsIn(environment, need, directory)

describe('what is read', () => {
  test('the least that the service needs gives every default', () => {
    expect(read(SERVICE)).toMatchObject({
      collabApiUrl: 'https://api.example.com/base',
      apiKey: 'key-1',
      authToken: 'token-1',
      allowHttp: false,
      databasePoolSize: 12,
      httpTrustedProxies: ['127.0.0.0/8', '::1'],
      operations: ['users', 'comments'],
      shrinkLimit: 0.5,
      heldAcceptAfter: null,
      freshnessPromiseMs: 93_600_000,
    })
    expect(read(SERVICE)).not.toHaveProperty('databaseUrl')
  })

  test('every setting of the table can be set to its example', () => {
    const examples = SETTING_LIST.filter(
      ({ member }) => !/^(apiKey|authToken)File$/.test(member),
    ).map(({ setting }) => [
      setting.name,
      setting.command ? SECRET : (setting.example ?? setting.default),
    ])
    const settings = read(Object.fromEntries(examples), ['service', 'database', 'queue', 'http'])
    for (const { member } of SETTING_LIST)
      if (!/^(apiKey|authToken)File$/.test(member)) expect(settings).toHaveProperty(member)
  })

  test('an empty setting counts as unset', () => {
    const settings = read({ ...SERVICE, REDIS_URL: '', SYNC_RETRIES: ' ' })
    expect(settings).not.toHaveProperty('redisUrl')
    expect(settings.retries).toBe(5)
  })

  test('the file .env is read, the environment wins, and process.env stays as it was', () => {
    writeFileSync(
      join(directory, '.env'),
      'SYNC_CONCURRENCY=3\nSYNC_RETRIES=9 # nine\nREDIS_URL=redis://file\nCATALOG_SQL="select 1\nas x"\nDATABASE_URL=postgres://h/d\n',
    )
    const before = { ...process.env }
    const settings = read({ ...SERVICE, SYNC_RETRIES: '2', REDIS_URL: '' })
    expect(settings).toMatchObject({ concurrency: 3, retries: 2, catalogSql: 'select 1\nas x' })
    expect(settings).not.toHaveProperty('redisUrl')
    expect(process.env).toEqual(before)
  })

  test('the origin of each value is known, and secrets are only said to be set', () => {
    const file = join(directory, 'key')
    writeFileSync(file, 'k')
    writeFileSync(
      join(directory, '.env'),
      'SYNC_CONCURRENCY=3\nSYNC_RETRIES=9\nREDIS_URL=redis://h',
    )
    const { COLLAB_API_KEY: _, ...others } = SERVICE
    const given = { ...others, COLLAB_API_KEY_FILE: file, SYNC_RETRIES: '', SYNC_TZ: 'Asia/Tokyo' }
    const rows = new Map(
      read(given, ['service', 'queue']).configuration.map(({ name, ...rest }) => [name, rest]),
    )
    const row = (value: string | null, origin: string, isHidden = false) => ({
      value,
      origin,
      isHidden,
    })
    expect(rows.get('SYNC_TZ')).toEqual(row('Asia/Tokyo', 'environment'))
    expect(rows.get('SYNC_CONCURRENCY')).toEqual(row('3', '.env'))
    expect(rows.get('SYNC_RETRIES')).toEqual(row('5', 'default', true))
    expect(rows.get('REDIS_URL')).toEqual(row('set', '.env'))
    expect(rows.get('COLLAB_API_KEY')).toEqual(row('set', 'file'))
    expect(rows.get('SYNC_RATE_LIMIT')).toEqual(row(null, 'default'))
    expect(rows.has('DATABASE_URL')).toBe(false)
  })

  test('quotes that stand around a value of the environment are not part of it', () => {
    const settings = read({ ...SERVICE, COLLAB_API_KEY: '"abc"', COLLAB_AUTH_TOKEN: " 'a\"b' " })
    expect(settings).toMatchObject({ apiKey: 'abc', authToken: 'a"b' })
    expect(read({ ...SERVICE, COLLAB_API_KEY: '"a' }).apiKey).toBe('"a')
  })

  test('the demo has a home of its own within that of a person, and nothing else of theirs', () => {
    const environment = {
      COLLAB_SYNC_HOME: directory,
      DATABASE_URL: 'nonsense',
      DATABASE_URL_FILE: '/nowhere',
      REDIS_URL: 'redis://h',
      HTTP_PORT: '9000',
    }
    const settings = readDemoSettings(environment, { need: ['database', 'queue', 'http'] })
    expect(settings).toMatchObject({ home: join(directory, 'demo'), httpPort: 9000 })
    expect(settings).not.toHaveProperty('databaseUrl')
    expect(settings).not.toHaveProperty('redisUrl')
  })

  test('a secret may be in a file of its own, which must be readable and not empty', () => {
    const file = join(directory, 'secret')
    // As Windows PowerShell writes it.
    writeFileSync(file, Buffer.from('\uFEFFredis://:secret@h\r\n', 'utf16le'))
    expect(read({ REDIS_URL_FILE: file }, ['queue']).redisUrl).toBe('redis://:secret@h')
    expect(faultsOf({ ...SERVICE, COLLAB_AUTH_TOKEN_FILE: file, REDIS_URL_FILE: '/no' })).toEqual([
      'COLLAB_AUTH_TOKEN and COLLAB_AUTH_TOKEN_FILE are both set: keep one of them.',
      'REDIS_URL_FILE names a file that cannot be read (ENOENT).',
    ])
    writeFileSync(file, ' \n')
    expect(faultsOf({ REDIS_URL_FILE: file }, ['queue'])).toEqual([
      'REDIS_URL_FILE names an empty file.',
    ])
  })

  test('lines of .env that cannot be read are named by number, beside what is missing', () => {
    writeFileSync(join(directory, '.env'), 'COLLAB_API_URL=https://x.example\nCOLLAB_API_KEY "k"\n')
    expect(faultsOf({ COLLAB_AUTH_TOKEN: 't' }, ['service'])).toEqual([
      `The file ${join(directory, '.env')} has lines that cannot be read (2): write NAME=value, in UTF-8, with a quote at both ends of the value or at none.`,
      expect.stringMatching(/^COLLAB_API_KEY is not set/),
    ])
  })

  test('a .env that cannot be read is told by its path', () => {
    rmSync(directory, { recursive: true })
    writeFileSync(directory, '')
    expect(faultsOf({}, [])[0]).toMatch(/\.env cannot be read \(ENOTDIR\)/)
  })
})

describe('what is refused', () => {
  test('all faults come in one message, each naming the setting, what was wrong and an example', () => {
    expect(faultsOf({ SYNC_CONCURRENCY: 'many', SYNC_TZ: 'Mars/Olympus' })).toEqual([
      'COLLAB_API_URL is not set. Example: COLLAB_API_URL=https://api.example.com',
      'COLLAB_API_KEY is not set, and neither is COLLAB_API_KEY_FILE. Example: COLLAB_API_KEY=your-api-key',
      'COLLAB_AUTH_TOKEN is not set, and neither is COLLAB_AUTH_TOKEN_FILE. Example: COLLAB_AUTH_TOKEN=your-auth-token',
      'SYNC_TZ must be an IANA time zone, not "Mars/Olympus". Example: SYNC_TZ=Europe/Berlin',
      'SYNC_CONCURRENCY must be a whole number from 1 to 1024, not "many". Example: SYNC_CONCURRENCY=16',
    ])
  })

  // docs/SETTINGS.md has what each setting accepts, and parse.test.ts what that means.
  const settings = SETTING_LIST.map(({ setting }) => setting)
  const strict = settings.filter(({ parse }) => !parse.safeParse('? ?').success)
  test.each(strict)('$name refuses what it cannot mean', ({ name }) => {
    const need: SettingNeed[] = ['service', 'database', 'queue', 'http']
    const faults = faultsOf({ ...SERVICE, NOTIFY_SECRET: SECRET, [name]: '? ?' }, need)
    const own = faults.filter((fault) => fault.startsWith(`${name} must `))
    expect(own).toEqual([
      expect.stringMatching(new RegExp(`\\. (Example: ${name}=.|Create one with: .)`)),
    ])
  })

  test('a token of serve that is easy to guess names the setting or its file, and a command', () => {
    const faults = (environment: Environment) => faultsOf(environment, ['http'])
    const rest =
      'is easy to guess, because it has too few different characters, repeats a pattern or is a sequence. Create one with: openssl rand -hex 32'
    const weak = 'kR3vXq8Z'.repeat(2)
    expect(faults({ HTTP_TOKEN: weak })).toEqual([`HTTP_TOKEN ${rest}`])
    const file = join(directory, 'token')
    writeFileSync(file, `${weak}\n`)
    expect(faults({ HTTP_TOKEN_FILE: file })).toEqual([`HTTP_TOKEN (from HTTP_TOKEN_FILE) ${rest}`])
    expect(faultsOf({ HTTP_TOKEN: weak }, ['database'])).toEqual([])
  })

  test('http:// to another machine needs COLLAB_ALLOW_HTTP=1', () => {
    const plain = { ...SERVICE, COLLAB_API_URL: 'http://10.0.0.7:8080' }
    expect(faultsOf(plain)[0]).toMatch(
      /^COLLAB_API_URL must start with https:.*COLLAB_ALLOW_HTTP=1/,
    )
    expect(read({ ...plain, COLLAB_ALLOW_HTTP: '1' }).collabApiUrl).toBe('http://10.0.0.7:8080')
    for (const host of ['localhost', '127.0.0.1:9', '127.8.8.8', '[::1]:80'])
      expect(faultsOf({ ...SERVICE, COLLAB_API_URL: `http://${host}` })).toEqual([])
    expect(faultsOf({ ...SERVICE, COLLAB_API_URL: 'http://127.0.0.1.example.com' })).toHaveLength(1)
  })

  test('key and token cannot share a header', () => {
    const faults = faultsOf({ ...SERVICE, COLLAB_AUTH_TOKEN_HEADER: 'X-Service-Api-Key' })
    expect(faults[0]).toMatch(/^COLLAB_AUTH_TOKEN_HEADER must differ/)
  })

  test('a catalog query needs a database of the user, and a catalog database needs a query', () => {
    const query = { CATALOG_SQL: 'select 1' }
    expect(faultsOf(query, [])[0]).toMatch(/^CATALOG_DATABASE_URL is not set, but CATALOG_SQL is/)
    expect(faultsOf({ ...query, DATABASE_URL: 'postgres://h/d' }, [])).toEqual([])
    expect(faultsOf({ CATALOG_DATABASE_URL: 'postgres://h/d' }, [])[0]).toMatch(
      /^CATALOG_SQL is not set/,
    )
    expect(faultsOf({}, ['catalog'])).toHaveLength(1)
  })

  test('settings of a part that the command does not use do not stop it', () => {
    expect(faultsOf({ COLLAB_API_URL: 'nonsense', REDIS_URL: 'nonsense' }, ['database'])).toEqual(
      [],
    )
  })
})

describe('secrets', () => {
  test('no text that might hold a credential comes back in a message', () => {
    const secret = fc.stringMatching(/^s3cr[a-z]{6}$/)
    const places = fc.constantFrom<(secret: string) => Environment>(
      (word) => ({ DATABASE_URL: `postgres:/u:${word}@h:port/d` }),
      (word) => ({ DATABASE_URL: word }),
      (word) => ({ REDIS_URL: `rediss://:${word}@h:99999` }),
      (word) => ({ QUEUE_DATABASE_URL: `u:${word}@h` }),
      (word) => ({ CATALOG_SQL: 'x', CATALOG_DATABASE_URL: `http://u:${word}@h` }),
      (word) => ({ COLLAB_API_URL: `https://u:${word}@h` }),
      (word) => ({ COLLAB_API_URL: `h?key=${word}` }),
      (word) => ({ COLLAB_API_KEY: `${word}\n` + 'x' }),
      (word) => ({ COLLAB_AUTH_TOKEN: `${word}ü` }),
      (word) => ({ COLLAB_API_KEY_HEADER: `x-service-api-key: ${word}` }),
    )
    fc.assert(
      fc.property(secret, places, (word, place) => {
        const faults = faultsOf({ ...SERVICE, ...place(word) })
        expect(faults.length).toBeGreaterThan(0)
        expect(faults.join()).not.toContain(word)
      }),
    )
  })
})

test('docs/SETTINGS.md is what the table says (update it with: npm run generate)', async () => {
  await expect(settingsPage()).toMatchFileSnapshot('../../docs/SETTINGS.md')
})

test('.env.example is valid, as it is and with every comment removed from a setting', () => {
  const example = readFileSync(join(import.meta.dirname, '../../.env.example'), 'utf8')
  for (const text of [example, example.replace(/^# (?=[A-Z_]+=)/gm, '')]) {
    writeFileSync(join(directory, '.env'), text)
    // `serve` refuses the example of a token.
    const { collabApiUrl } = read({ HTTP_TOKEN: SECRET }, ['service', 'database', 'queue', 'http'])
    expect(collabApiUrl).toBe('https://api.example.com')
    expect(misspeltSettings({}, directory)).toEqual([])
  }
})

test('every setting is used by something', () => {
  const root = join(import.meta.dirname, '../../src')
  const texts = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/^settings.(?!settings\.ts)/.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8'))
  const unused = SETTING_LIST.filter(
    ({ member }) => !texts.some((text) => new RegExp(`\\b${member}\\b`).test(text)),
  )
  expect(unused.map(({ setting }) => setting.name)).toEqual([])
})

test.each([
  ['SYNC_CONCURENCY', 'SYNC_CONCURRENCY'],
  ['SYNC_RATE_LIMITS', 'SYNC_RATE_LIMIT'],
  ['COLLAB_AUTH_TOKEN_FIEL', 'COLLAB_AUTH_TOKEN_FILE'],
  ['REDIS_URI', 'REDIS_URL'],
  ['HTTP_PROXY', null],
  ['DATABASE_SSL', null],
  ['RACES', null],
  ['SYNC_TZ', null],
  ['COLLAB_API_KEY_FILE', null],
])('%s in the environment or .env: did you mean %s?', (name, meant) => {
  const expected = meant === null ? [] : [`${name} is not a setting; did you mean ${meant}?`]
  expect(misspeltSettings({ [name]: 'x' }, directory)).toEqual(expected)
  expect(misspeltSettings({ [name]: '' }, directory)).toEqual([])
  writeFileSync(join(directory, '.env'), `${name}=x\n`)
  expect(misspeltSettings({}, directory)).toEqual(expected)
})
