import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { createLog, linesTo, logOfRun, RepeatedFault } from '../src/base/log.ts'
import { printable } from '../src/base/printable.ts'
import { ownFolder } from './helpers/own-folder.ts'

const QUOTING = `cannot read "S3CRET "of\nmany" W0RDS" here`

type Line = Record<string, unknown>

/** A log and the lines that it has written. */
function heardLog(level = 'info') {
  const texts: string[] = []
  const log = createLog(level, { write: (text) => texts.push(text) })
  return { log, texts, last: () => JSON.parse(texts.at(-1) ?? '') as Line }
}

function loggedError(error: unknown): { line: Line; text: string } {
  const { log, texts, last } = heardLog()
  log.warn({ err: error }, 'failed')
  return { line: last()['err'] as Line, text: texts.join('') }
}

describe('a log line', () => {
  test('is JSON on one line with the level as a word and the time in ISO 8601, and steers no terminal', () => {
    const { log, texts, last } = heardLog()
    log.info({ itemId: 7 }, 'a\u009b31m b\u2028 c\u202e d\u001b e\nf')
    expect(texts[0]).toMatch(/\}\n$/)
    expect(texts[0]?.trimEnd()).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
    expect(last()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      itemId: 7,
      msg: 'a\u009b31m b\u2028 c\u202e d\u001b e\nf',
    })
  })

  test('below the level is not written', () => {
    const { log, texts } = heardLog('warn')
    log.info('nothing')
    expect(texts).toEqual([])
  })

  test.each([
    'apiKey',
    'authToken',
    'token',
    'password',
    'headers',
    'url',
    'connectionString',
    'databaseUrl',
    'redisUrl',
    'queueDatabaseUrl',
    'catalogDatabaseUrl',
  ])('censors the member %s, down to the third level', (name) => {
    const { log, texts, last } = heardLog()
    const held = { [name]: 'S3CRET', id: 1 }
    log.info({ ...held, a: held, b: { c: held } }, 'told')
    expect(texts[0]).not.toContain('S3CRET')
    const censored = { [name]: '[secret]', id: 1 }
    expect(last()).toMatchObject({ ...censored, a: censored, b: { c: censored } })
  })

  test('names its run once, also where the log was given the run before', () => {
    const { log, texts } = heardLog()
    const ofRun = logOfRun(log, 'r1')
    expect(logOfRun(ofRun, 'r1')).toBe(ofRun)
    ofRun.info('one')
    logOfRun(ofRun, 'r2').info('two')
    expect(texts[0]?.split('"runId":"r1"')).toHaveLength(2)
    expect(texts[1]).toContain('"runId":"r2"')
  })
})

describe('lines that cannot be written', () => {
  let fifo: string
  beforeEach(() => {
    fifo = join(ownFolder(), 'fifo')
    execFileSync('mkfifo', [fifo])
  })

  const openReader = () => openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK)
  const messages = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((each) => JSON.parse(each) as Line)
      .map(({ msg, lines }) => (lines === undefined ? msg : { lines, msg }))

  test('are counted while the reader is gone, and the count comes before the next line', () => {
    const first = openReader()
    const fd = openSync(fifo, constants.O_WRONLY)
    const log = createLog('info', linesTo(fd))
    closeSync(first)
    for (const word of ['one', 'two', 'three']) log.info(word)
    const reader = openReader()
    log.info('four')
    log.info('five')
    closeSync(fd)
    const lost = { lines: 3, msg: 'log lines could not be written' }
    expect(messages(readFileSync(reader, 'utf8'))).toEqual([lost, 'four', 'five'])
    closeSync(reader)
  })

  test('while the reader is slow leave no half line behind', () => {
    const reader = openReader()
    const fd = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK)
    const log = createLog('info', linesTo(fd))
    const long = 'long'.repeat(30_000)
    for (const word of [long, 'one', 'two']) log.info(word)
    const head = Buffer.alloc(65_536)
    const read = readSync(reader, head)
    log.info('three')
    closeSync(fd)
    const text = head.toString('utf8', 0, read) + readFileSync(reader, 'utf8')
    const lost = { lines: 2, msg: 'log lines could not be written' }
    expect(messages(text)).toEqual([long, lost, 'three'])
    closeSync(reader)
  })

  test('end nothing where the disk is full', () => {
    const fd = openSync('/dev/full', 'w')
    const log = createLog('info', linesTo(fd))
    log.info('one')
    closeSync(fd)
  })
})

describe('an error in a log line', () => {
  test('is its name, message, code and stack, and no other member', () => {
    const error = Object.assign(new RangeError('too far'), {
      code: 'E_FAR',
      command: 'AUTH S3CRET',
    })
    const { line, text } = loggedError(error)
    const { stack = '' } = error
    expect(line).toEqual({ name: 'RangeError', message: 'too far', code: 'E_FAR', stack })
    expect(text).not.toContain('S3CRET')
  })

  test('without a code has none, and with a cause has its code', () => {
    expect(loggedError(new Error('plain')).line).not.toHaveProperty('code')
    const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    expect(loggedError(new Error('no answer', { cause })).line).toMatchObject({
      code: 'ECONNRESET',
    })
    const own = Object.assign(new Error('own', { cause }), { code: 'E_OWN' })
    expect(loggedError(own).line).toMatchObject({ code: 'E_OWN' })
  })

  test.each([
    ['of PostgreSQL, class 22', Object.assign(new Error(QUOTING), { code: '22P02' })],
    ['with such a cause', new Error(QUOTING, { cause: { code: '22008' } })],
    ['with that of a parser as cause', new Error(QUOTING, { cause: new SyntaxError('x') })],
  ])('%s is told without what it quotes, in the stack too', (_of, error) => {
    const { line, text } = loggedError(error)
    expect(line['message']).toBe('cannot read "..." here')
    expect(line['stack']).toContain('cannot read "..." here')
    expect(text).not.toMatch(/S3CRET|W0RDS/)
  })

  test.each(['23505', 'x22P02', '22P02x'])('with the code %s keeps its message', (code) => {
    const { line } = loggedError(Object.assign(new Error(QUOTING), { code }))
    expect(line['message']).toBe(QUOTING)
  })

  test('without a stack, or that is no Error, is logged too', () => {
    const error = Object.assign(new SyntaxError(QUOTING), { stack: undefined })
    const message = 'cannot read "..." here'
    expect(loggedError(error).line).toEqual({ name: 'SyntaxError', message })
    expect(loggedError('just words').line).toEqual({ message: 'just words' })
  })
})

test('a fault that repeats is logged when it begins, once a minute, and when it is over', () => {
  const { log, texts } = heardLog()
  let nowMs = 0
  const fault = new RepeatedFault(log, 'heartbeat', () => nowMs)
  fault.recovered()
  for (; nowMs < 150_000; nowMs += 10) fault.failed(new Error(`at ${nowMs}`))
  fault.failed(fault.error)
  fault.recovered()
  fault.recovered()
  fault.failed(new Error('again'))
  expect(texts.map((text) => JSON.parse(text))).toMatchObject([
    { level: 'warn', msg: 'heartbeat fails', err: { message: 'at 0' } },
    { level: 'warn', msg: 'heartbeat still fails', err: { message: 'at 60000' }, times: 6001 },
    { level: 'warn', msg: 'heartbeat still fails', err: { message: 'at 120000' }, times: 12_001 },
    { level: 'info', msg: 'heartbeat works again', times: 15_000, lastedMs: 150_000 },
    { level: 'warn', msg: 'heartbeat fails', err: { message: 'again' } },
  ])
})

describe('a text of others', () => {
  test('is shown with escapes for what steers a terminal, and is else as it was', () => {
    expect(printable('\u001b[31m\n日本 👍🏽')).toBe('\\u001b[31m\\u000a日本 👍🏽')
  })

  test('keeps the characters that it is told to, and those alone', () => {
    expect(printable('a\nb\tc\nd', '\n')).toBe('a\nb\\u0009c\nd')
  })

  test('is the same value within a JSON text, and is safe however it is made', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff)), (units) => {
        const text = String.fromCharCode(...units)
        expect(JSON.parse(printable(JSON.stringify(text)))).toBe(text)
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
      }),
    )
  })
})
