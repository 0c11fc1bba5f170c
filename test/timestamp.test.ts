import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readTimestamp, readWritten } from '../src/base/timestamp.ts'

const exact = (iso: string) => ({ iso, isExact: true })
const close = (iso: string) => ({ iso, isExact: false })
const two = (number: number) => String(number).padStart(2, '0')

describe('a time as documented', () => {
  test('every day of a year is one, and the day after each month’s last is none', () => {
    for (const year of [2023, 2024, 1900, 2000]) {
      for (let month = 1; month <= 12; month += 1) {
        const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
        const at = (day: number) => readTimestamp(`${year}-${two(month)}-${two(day)}T01:02:03.004Z`)
        for (let day = 1; day <= last; day += 1)
          expect(at(day)).toEqual(exact(`${year}-${two(month)}-${two(day)}T01:02:03.004Z`))
        expect([at(0), at(last + 1)]).toEqual([null, null])
      }
    }
  })

  test('whatever the milliseconds, it is what Date writes', () => {
    const [min, max] = [
      Date.parse('0001-01-01T00:00:00.000Z'),
      Date.parse('9999-12-31T23:59:59.999Z'),
    ]
    fc.assert(
      fc.property(fc.integer({ min, max }), (ms) => {
        const iso = new Date(ms).toISOString()
        expect(readTimestamp(iso)).toEqual(exact(iso))
        expect(readTimestamp(ms)).toEqual(close(iso))
      }),
    )
  })
})

describe('a time that is written otherwise', () => {
  test.each([
    ['2026-01-02T03:04:05z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02T03:04:05,678Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05.678901Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02 03:04:05.678+02', '2026-01-02T01:04:05.678Z'],
    ['2026-01-02T03:04-0130', '2026-01-02T04:34:00.000Z'],
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T24:00:00.000Z', '2026-01-03T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(readTimestamp(text)).toEqual(close(iso))
  })

  test('of any offset is the instant that it names', () => {
    const of = { h: fc.integer({ min: 0, max: 14 }), m: fc.integer({ min: 0, max: 59 }) }
    fc.assert(
      fc.property(fc.constantFrom('+', '-'), of.h, of.m, fc.boolean(), (sign, h, m, hasColon) => {
        const offsetMs = (sign === '+' ? 1 : -1) * (h * 60 + m) * 60_000
        const text = `2026-06-15T12:00:00.000${sign}${two(h)}${hasColon ? ':' : ''}${two(m)}`
        const iso = new Date(Date.parse('2026-06-15T12:00:00.000Z') - offsetMs).toISOString()
        expect(readTimestamp(text)).toEqual(close(iso))
      }),
    )
  })

  test.each([0, 1.9, -1, 1767323045678])('the milliseconds %d are one', (ms) => {
    expect(readTimestamp(ms)).toEqual(close(new Date(ms).toISOString()))
  })
})

describe('what is no time', () => {
  test.each([
    null,
    {},
    NaN,
    Date.parse('0001-01-01T00:00:00.000Z') - 1,
    Date.parse('9999-12-31T23:59:59.999Z') + 1,
    '',
    '2026',
    '1767323045678',
    '2026-1-2',
    '2026-13-01',
    '2026-02-30',
    '2026-01-02T24:00:00.001Z',
    '2026-01-02T23:59:60.000Z',
    '0000-01-01T00:00:00.000Z',
    'x2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05Zx',
    '2026-01-02T03',
    '2026-01-02Z',
    '2026-01-02T03:04:05+02:3',
    '2026-01-02T03:04:05+25:00',
    '9999-12-31T23:59:59-00:01',
    '12026-01-02T03:04:05.678Z',
  ])('%j', (value) => {
    expect(readTimestamp(value)).toBeNull()
  })
})

describe('when a comment says that it was written', () => {
  const AT = Date.parse('2026-01-02T03:04:05.678Z')
  const ISO = '2026-01-02T03:04:05.678Z'
  const WHOLE = '2026-01-02T03:04:05.000Z'
  const seconds = Math.floor(AT / 1000)

  test.each([
    ['2026-01-02T03:04:05Z', WHOLE],
    ['2026-01-02T05:04:05.678901+02:00', ISO],
    [{ _seconds: seconds, _nanoseconds: 678_999_999 }, ISO],
    [{ seconds, nanos: 678_000_000 }, ISO],
    [{ seconds, nanos: 'many' }, WHOLE],
    [99_999_999_999, '5138-11-16T09:46:39.000Z'],
    [100_000_000_000, '1973-03-03T09:46:40.000Z'],
  ])('%j is %s', (value, iso) => {
    expect(readWritten({ at: value }, ['at'])).toBe(iso)
    expect(readWritten({ meta: { at: value } }, ['meta', 'at'])).toBe(iso)
  })

  test.each([
    null,
    '2026-01-02',
    '1767323045678',
    0,
    Infinity,
    { seconds: 253_402_300_800 },
    { seconds: 0 },
    [seconds],
  ])('%j says nothing', (value) => {
    expect(readWritten({ at: value }, ['at'])).toBeNull()
  })

  test('a path leads through members of objects alone, and only their own', () => {
    for (const path of ['b', 'a.b', 'a.at.x', 'list.0', 'list.length', 'toString', '__proto__.at'])
      expect(readWritten({ a: { at: AT }, list: [AT] }, path.split('.'))).toBeNull()
    expect(readWritten(JSON.parse(`{"__proto__":{"at":${AT}}}`), ['__proto__', 'at'])).toBe(ISO)
    for (const record of [null, undefined, 'x', 1, [AT]])
      expect(readWritten(record, ['0'])).toBeNull()
  })

  test('whatever is there is a time that PostgreSQL and JavaScript have, or nothing', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (value) => {
        const iso = readWritten({ at: value }, ['at'])
        if (iso !== null) expect(new Date(iso).toISOString()).toBe(iso)
        if (iso !== null) expect(readTimestamp(iso)).toEqual(exact(iso))
      }),
    )
  })

  test('each form of a time is that time', () => {
    const [min, max] = [SECONDS_MAX, Date.parse('5000-01-01T00:00:00.000Z')]
    fc.assert(
      fc.property(fc.integer({ min, max }), (ms) => {
        const whole = Math.floor(ms / 1000)
        const nanos = (ms - whole * 1000) * 1_000_000
        const iso = new Date(ms).toISOString()
        for (const at of [iso, ms, { seconds: whole, nanos }, { _seconds: whole, _nanos: nanos }])
          expect(readWritten({ at }, ['at'])).toBe(iso)
        expect(readWritten({ at: whole }, ['at'])).toBe(new Date(whole * 1000).toISOString())
      }),
    )
  })
})

/** From here on a number of milliseconds is not taken for seconds. */
const SECONDS_MAX = 100_000_000_000
