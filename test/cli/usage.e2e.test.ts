import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createEmptyDatabase, createTestDatabase } from '../helpers/database.ts'
import { ANY_SERVICE, buildCommand } from './built-command.ts'

const command = await buildCommand()
const database = await createTestDatabase()
const settings: Record<string, string> = { DATABASE_URL: database.url }

test.each([
  [[], 'docs/DICTIONARY.md'],
  [['--format', 'dbt'], 'sql/dbt/models/sources.yml'],
])('dictionary %j prints %s of the package, and needs no database', async (args, page) => {
  expect(await command.run(['dictionary', ...args], { DATABASE_URL: 'no address' })).toEqual({
    code: 0,
    stdout: await readFile(page, 'utf8'),
    stderr: '',
  })
})

describe('wrong use ends with 2, one sentence on stderr and nothing on stdout', () => {
  test.each([
    [['runn'], /^Unknown command 'runn' \(Did you mean run\?\)\n$/],
    [['run', '--organisation', 'x'], /^Unknown option '--organisation' .*--organization/],
    [['cancel'], /^Missing required argument 'run'\.\n$/],
    [['run', '--comment', '1e3'], /--comment <n>.*'1e3' is invalid.*2\^53/],
    [['enqueue', '--organization', 'o', '--comment', '1'], /^--comment needs --annotation\.\n$/],
    [['run', '--failed-of', 'abcdef', '--user', 'u'], /^--failed-of cannot be combined/],
    [['enqueue', '--failed-of', 'abcdef', '--failing'], /^--failed-of cannot be combined/],
    [['status', '--failures'], /^--failures needs a RUN\./],
    [['status', 'abcdef', '--cursor', 'x'], /^--cursor needs --failures or --changes\./],
    [['status', '--limit', '0'], /--limit <n>.*whole number from 1/],
    [['show'], /^Give ORGANIZATION, or --find TEXT\.\n$/],
    [['show', 'acme', '--find', 'x'], /^--find cannot be combined with IDs\.\n$/],
    [['show', '--find', 'x', '--user'], /^Option '--find <text>' cannot be used with .*--user/],
    [['show', '--find', ''], /^--find must not be empty\.\n$/],
    [['show', 'acme', '--seconds', '5'], /^--seconds needs --find\.\n$/],
    [['show', '--find', 'x', '--seconds', '61'], /^--seconds must be a whole number from 1 to 60/],
    [['show', '--user', 'acme'], /^--user needs ORGANIZATION and one ID\.\n$/],
    [['show', 'acme', '--limit', '501'], /^--limit must be a whole number from 1 to 500\.\n$/],
    [
      ['show', 'acme', 'plan', 'ann-1', '-7'],
      /^Nothing is stored about comment "-7" of acme \/ plan \/ ann-1\./,
    ],
    [
      ['schedule', 'set', '61 * * * *'],
      /^PATTERN must be a cron pattern of five fields .*, or six with seconds first/,
    ],
    [
      ['schedule', 'set', '0 0 31 2 *'],
      /^PATTERN must match a date that exists, because otherwise it is never due\.\n$/,
    ],
    [['rejected', '--run', 'abc'], /^--run must be the ID of a run/],
    [['run', '--failed-of', 'abc', '--dry-run'], /^--failed-of must be the ID of a run/],
    [['history', '--limit', '501'], /^--limit must be a whole number from 1 to 500\.\n$/],
    [['catalog', 'list', '--cursor', 'x'], /^--cursor must be the nextCursor/],
    [['accept', '--listing', '1'], /^Listing 1 has no open held removal\.\n$/],
    [['schedule', 'set', '0 2 * * *', '--tz', 'Mars'], /^--tz must be an IANA time zone/],
    [['catalog', 'import', '/no/such/file'], /^\/no\/such\/file cannot be read/],
    [['status', '00000000'], /^There is no run "00000000"/],
    [['status', 'abc'], /^RUN must be the ID of a run/],
    [['cancel', '00000000-0000-0000-0000-000000000000'], /^There is no run/],
    [['changes', '--after', 'x'], /./],
    [['changes', '--objects', 'comments'], /./],
    [['changes', '--limit', '0'], /./],
    [['verify', '--sample', '3', '--organization', 'x'], /--sample/],
    [['rejected', 'set-aside', '1'], /--reason/],
    [['rejected', 'set-aside', '1', '--run', 'abcdef', '--reason', 'x'], /Give either IDs/],
    [['rejected', 'restore', 'one'], /ID must be a number/],
    [['rejected', 'restore', '999999999'], /Only 0 of 1 IDs are/],
    [['hint', '--organization', 'a'], /--document is missing\./],
    [
      ['hint', '--organization', 'a', '--organization', 'b', '--document', 'd'],
      /--document needs exactly one organization in --organization\./,
    ],
    [
      ['hint', '--organization', 'a', '--document', 'd', '--user', 'u'],
      /Unknown option '--user'\./,
    ],
    [['token', 'add', 'x'], /rights/],
    [['token', 'add', 'x', '--rights', 'all'], /read, operate, admin/],
    [['token', 'add', 'a b', '--rights', 'read'], /^The name of a token must be/],
    [['token', 'add', 'x'.repeat(65), '--rights', 'read'], /^The name of a token must be/],
    [['token', 'remove', 'nobody'], /^There is no token "nobody"\.\n$/],
  ])('%j', async (args, sentence) => {
    const ended = await command.run(args, { ...ANY_SERVICE, ...settings })
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) })
    expect(ended.stderr.trimEnd()).not.toContain('\n')
  })
})

test('a retry of what fails, when nothing fails, ends with 0 and says so', async () => {
  const reason = 'Nothing fails in this scope: everything in the catalog.'
  const environment = { ...ANY_SERVICE, ...settings }
  for (const args of [['run'], ['run', '--dry-run'], ['enqueue', '--wait']]) {
    const { code, ...output } = await command.run([...args, '--failing'], environment)
    // The output of enqueue contains only IDs.
    const [said, other] = args[0] === 'run' ? ['stdout', 'stderr'] : ['stderr', 'stdout']
    expect({ code, ...output }).toEqual({ code: 0, [said]: `${reason}\n`, [other]: '' })
    expect(await command.json([...args, '--failing'], environment)).toEqual({
      code: 0,
      document: { runId: null, reason },
    })
  }
})

describe('help', () => {
  test.each([
    [['--help'], /Exit codes:/],
    [['run', '--help'], /Examples:/],
    [['help', 'catalog'], /import \[options\] <file>/],
    [['token', 'add', '--help'], /--rights <rights> .*\n.*\(required\)/],
    [['--version'], /^\d+\.\d+\.\d+\n$/],
  ])('%j is on stdout, exit 0, without any setting', async (args, text) => {
    expect(await command.run(args)).toEqual({
      code: 0,
      stdout: expect.stringMatching(text),
      stderr: '',
    })
  })

  test('without a command it is on stderr, exit 2', async () => {
    expect(await command.run([])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/Usage:/),
    })
  })
})

describe('settings', () => {
  test('every missing setting is named with an example, and nothing is done', async () => {
    const { code, stdout, stderr } = await command.run(['run', '--json'], settings)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^COLLAB_API_URL is not set\. Example: /),
      expect.stringMatching(
        /^COLLAB_API_KEY is not set, and neither is COLLAB_API_KEY_FILE\. Example: /,
      ),
      expect.stringMatching(/^COLLAB_AUTH_TOKEN is not set, .*COLLAB_AUTH_TOKEN_FILE/),
    ])
  })

  test('the file .env is read, and the environment wins over it', async () => {
    const file = join(command.directory, '.env')
    await writeFile(file, `DATABASE_URL=${database.url}\nSYNC_CRON=not a cron\n`)
    try {
      expect(await command.run(['status'])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^SYNC_CRON must/),
      })
      const { document } = await command.json(['status'], { SYNC_CRON: '5 4 * * *' })
      expect(document).toMatchObject({ schedule: { cron: '5 4 * * *' } })
    } finally {
      await writeFile(file, '')
    }
  })
})

describe('what cannot be reached ends with 1 and says what to do, without a password', () => {
  test.each([
    ['PostgreSQL', ['status'], { DATABASE_URL: 'postgres://u:pass%20word@127.0.0.1:9/d' }],
    ['Redis', ['enqueue'], { REDIS_URL: 'redis://:pass%20word@127.0.0.1:9' }],
  ])('%s, by %j', async (what, args, environment) => {
    const { code, stdout, stderr } = await command.run(args, { ...settings, ...environment })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^${what} .*127\\.0\\.0\\.1:9.*[Ii]s it running`))
    expect(stderr).not.toMatch(/pass.{1,3}word|\n {4}at /)
  })
})

describe('before migrate, commands do nothing and say what to do first, exit 2', () => {
  const READING = [
    ['status'],
    ['psql', '-c', 'select 1'],
    ['catalog', 'import', '-', '--dry-run'],
    ['run', '--dry-run'],
    ['status', '--demo'],
    ['serve', '--demo'],
  ]

  test.each(READING)('%s %s makes no embedded PostgreSQL', async (...args) => {
    const home = join(command.directory, 'no-home')
    const ended = await command.run(args, { ...ANY_SERVICE, COLLAB_SYNC_HOME: home })
    const first = args.includes('--demo') ? 'demo' : 'migrate'
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(
      new RegExp(`^(There is no|The demo has not run).*\\bcollab-sync ${first}\\b.*\\n$`),
    )
    expect(existsSync(home)).toBe(false)
  })

  test('tables that are not there yet send to migrate; a worker waits for them', async () => {
    const empty = await createEmptyDatabase()
    const environment = { ...ANY_SERVICE, DATABASE_URL: empty.url }
    for (const args of [['status'], ['run'], ['enqueue']])
      expect(await command.run(args, environment), args.join(' ')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/has no tables .*`collab-sync migrate`/),
      })
    const worker = command.start(['worker'], { ...environment, SYNC_CONCURENCY: '3' })
    await worker.shows(/has no tables .*cannot start yet/)
    expect(await command.json(['migrate'], { DATABASE_URL: empty.url })).toMatchObject({
      code: 0,
      document: { queue: 'postgres', applied: expect.arrayContaining(['001_catalog']) },
    })
    await worker.shows(/"msg":"working"/)
    worker.child.kill('SIGTERM')
    const { code, stderr } = await worker.ended
    expect(code).toBe(0)
    expect(stderr.match(/SYNC_CONCURENCY[^"]*/g)).toEqual([
      'SYNC_CONCURENCY is not a setting; did you mean SYNC_CONCURRENCY?',
    ])
  })
})

test('a catalog comes from standard input too, and a wrong line is told by its number with nothing loaded', async () => {
  const lines = ['{"organizationId":"a"}', '{"organizationId":"a","annotationId":"x"}']
  const wrong = await command.runProcess(['catalog', 'import', '-'], settings, lines.join('\n'))
  expect(wrong).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/line 2 is wrong: annotationId needs/),
  })
  expect(await command.run(['catalog', 'show'], settings)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^The catalog is empty/),
  })
  const right = await command.runProcess(['catalog', 'import', '-', '--json'], settings, lines[0])
  expect(JSON.parse(right.stdout)).toMatchObject({
    lines: 1,
    organizations: { added: 1 },
    catalog: { active: { organizations: 1, annotations: 0 } },
  })
})
