import { describe, expect, test } from 'vitest'
import { cronPattern, timeZone } from '../../src/documents/schedule.ts'
import { databaseAddress } from '../../src/settings/database-address.ts'
import * as parse from '../../src/settings/parse.ts'

type Parser = { safeParse(text: string): { success: boolean; data?: unknown } }

/** What each text means; undefined where it is refused. */
function meant(parser: Parser, texts: readonly string[]): unknown[] {
  return texts.map((text) => parser.safeParse(text).data)
}

function refused(parser: Parser, texts: readonly string[]): string[] {
  return texts.filter((text) => !parser.safeParse(text).success)
}

function complaint(parser: Parser, text: string): string | undefined {
  const { error } = parser.safeParse(text) as { error?: { issues: { message: string }[] } }
  return error?.issues.map(({ message }) => message).join()
}

describe('a number', () => {
  test('is within its bounds, which are taken, and written with digits alone', () => {
    const whole = parse.wholeNumber(2, 7)
    expect(meant(whole, ['1', '2', '7', '8'])).toEqual([undefined, 2, 7, undefined])
    const odd = ['', ' 5', '5 ', '5.0', '+5', '0x5', '5e0', '-5', '0000000000000005']
    expect(refused(whole, odd)).toEqual(odd)
    expect(complaint(whole, 'x')).toBe('must be a whole number from 2 to 7')
  })

  test('may have a decimal point where that means something', () => {
    const decimal = parse.decimalNumber(0.5, 2.25)
    expect(meant(decimal, ['0.5', '0.49', '1', '2.25', '2.26', '01.125'])).toEqual([
      0.5,
      undefined,
      1,
      2.25,
      undefined,
      1.125,
    ])
    const odd = ['x1', '1x', '1.x', '1.', '.5', '1.5.5', '-1', '']
    expect(refused(decimal, odd)).toEqual(odd)
    expect(complaint(decimal, 'x')).toBe('must be a number from 0.5 to 2.25')
  })

  test('that is a share is a fraction up to 1, and a percentage above or where it says so', () => {
    const texts = ['0.25', '1', '1.5', '12.75%', '1%', '0.5%', '100', '100.5', '1000%']
    expect(meant(parse.share, texts)).toEqual([
      0.25,
      1,
      0.015,
      0.1275,
      0.01,
      0.005,
      1,
      undefined,
      undefined,
    ])
    expect(refused(parse.share, ['', '%', 'x5', '5x', '5%%'])).toHaveLength(5)
  })
})

describe('a word', () => {
  test('of a switch is 1, 0, true or false', () => {
    expect(meant(parse.flag, ['1', 'true', '0', 'false'])).toEqual([true, true, false, false])
    expect(refused(parse.flag, ['', 'TRUE', 'yes', '10'])).toHaveLength(4)
  })

  test('of a list is one of it, which the complaint names', () => {
    const words = parse.oneOf('keep', 'drop')
    expect(meant(words, ['keep', 'drop', 'keepdrop', ''])).toEqual([
      'keep',
      'drop',
      undefined,
      undefined,
    ])
    expect(complaint(words, 'x')).toBe('must be one of keep, drop')
  })

  test('of a member of a comment leads to it by names, and to none that says something else', () => {
    const good = ['createdAt', 'meta.created_at', 'data.$date.x-y', 'erstellt.für', '_seconds']
    expect(meant(parse.memberPath, good)).toEqual(good)
    const odd = ['', '.', 'a.', '.a', 'a..b', 'a b', 'a.0', '0', '-a', 'a\n', 'x'.repeat(201)]
    const others = [
      'lastUpdated',
      'lastUpdated.seconds',
      'commentId',
      'status',
      'type',
      'commentText',
    ]
    expect(refused(parse.memberPath, [...odd, ...others])).toEqual([...odd, ...others])
    expect(refused(parse.memberPath, ['lastUpdatedAt', 'x'.repeat(200), 'from.at'])).toEqual([])
  })

  test('of operations is users, comments or both', () => {
    const texts = ['users', ' comments , users', 'users,likes', 'users,', '']
    expect(meant(parse.operations, texts)).toEqual([
      ['users'],
      ['users', 'comments'],
      undefined,
      undefined,
      undefined,
    ])
    expect(complaint(parse.operations, 'x')).toBe(
      'must be users, comments, or both with a comma between',
    )
  })
})

describe('an address', () => {
  test('begins with one of its schemes in any case, and stays as it is written', () => {
    const good = ['redis://u:p%40@h/1', 'RediSS://h', 'redis://h:1?family=6']
    expect(meant(parse.redisAddress, good)).toEqual(good)
    const odd = ['redis:/h', 'mysql://h', 'x redis://h', 'redis://u:100%@h', 'redis']
    expect(refused(parse.redisAddress, odd)).toEqual(odd)
    expect(complaint(parse.redisAddress, 'x')).toBe(
      'must be an address that starts with redis:// or rediss:// (special characters in a password are written as %XX)',
    )
  })

  test('of a database is what pg takes, also that of a socket', () => {
    const good = [
      'postgres://u:p%40@h/d',
      'PostgreSQL://h',
      'postgres://h:1/d?sslmode=verify-full',
      'postgres://user@/db?host=/var/run/postgresql',
      'postgres:///db?host=/cloudsql/a:b:c&user=u&password=p%23',
      'postgres://%2Fvar%2Frun/db',
      'socket:/var/run/postgresql?db=db',
      '/var/run/postgresql db',
    ]
    expect(meant(databaseAddress, good)).toEqual(good)
    const odd = ['postgres:/h', 'mysql://h', 'x postgres://h', 'postgres://u:a#b@h/d', 'postgres']
    expect(refused(databaseAddress, odd)).toEqual(odd)
    expect(complaint(databaseAddress, 'x')).toBe(
      'must be an address that starts with postgres:// or postgresql:// (special characters in a password are written as %XX)',
    )
  })

  test('of a database says of TLS what pg takes without a warning, and keeps the rest as it is', () => {
    const file = import.meta.filename
    const written = (query: string) => databaseAddress.parse(`postgres://u:a,b@h/d?${query}`)
    expect(
      ['prefer', 'require', 'verify-full', 'verify-ca'].map((mode) => written(`sslmode=${mode}`)),
    ).toEqual(Array.from({ length: 4 }, () => 'postgres://u:a,b@h/d?sslmode=verify-full'))
    expect(written('a=%23+&sslmode=require&sslrootcert=system&options=-c%20b%3Dc')).toBe(
      'postgres://u:a,b@h/d?a=%23+&options=-c%20b%3Dc&sslmode=verify-full',
    )
    expect(written(`sslrootcert=${file}&sslmode=verify-ca`)).toBe(
      `postgres://u:a,b@h/d?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${encodeURIComponent(file)}`,
    )
  })

  test.each([
    [
      'h/d?sslmode=require&sslrootcert=/nowhere/ca.pem',
      'names in sslrootcert the file /nowhere/ca.pem, which cannot be read (ENOENT)',
    ],
    ['h/d?sslkey=/', 'names in sslkey the file /, which cannot be read (EISDIR)'],
    [
      'h/d?sslmode=s3cret',
      'has an sslmode that is none of allow, prefer, require, verify-full, verify-ca, no-verify, disable',
    ],
    [
      'u:p@h1:5432,h2:5432/d',
      'names several hosts, and one is supported: name that of the primary',
    ],
    ['h1,h2/d', 'names several hosts, and one is supported: name that of the primary'],
    ['/d?host=h1,h2', 'names several hosts, and one is supported: name that of the primary'],
    [
      'h/d?target_session_attrs=read-write',
      'has target_session_attrs, which is not supported: name the host of the primary, and leave it out',
    ],
  ])('of a database, %s, says what is wrong', (rest, fault) => {
    expect(complaint(databaseAddress, `postgres://${rest}`)).toBe(fault)
  })

  test('of the service loses the slashes at its end, and holds neither credentials nor a query', () => {
    expect(meant(parse.serviceAddress, ['https://h/a//', 'http://h', 'HTTPS://H/a/b'])).toEqual([
      'https://h/a',
      'http://h',
      'https://h/a/b',
    ])
    expect(['h', 'ftp://h'].map((text) => complaint(parse.serviceAddress, text))).toEqual([
      'must be an address that starts with https:// or http://',
      'must be an address that starts with https:// or http://',
    ])
    for (const text of ['https://u:p@h', 'https://u@h', 'https://:p@h'])
      expect(complaint(parse.serviceAddress, text)).toBe('must not hold a user name or password')
    for (const text of ['https://h?a', 'https://h/#a', 'https://h/?'])
      expect(complaint(parse.serviceAddress, text)).toBe(
        'must not hold a query or fragment (? or #)',
      )
  })

  test('of a range has bits that its family knows', () => {
    const good = ['10.0.0.0/8', '10.0.0.1', '::1', 'fd00::/128', '0.0.0.0/1', '1.2.3.4/32', '::/1']
    for (const text of good) expect(meant(parse.addressRanges, [text])).toEqual([[text]])
    expect(meant(parse.addressRanges, ['10.0.0.1 ,\t::1'])).toEqual([['10.0.0.1', '::1']])
    const odd = [
      '10.0.0.0/0',
      '10.0.0.0/33',
      '::/129',
      '/8',
      'x/8',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      '',
    ]
    expect(refused(parse.addressRanges, odd)).toEqual(odd)
    expect(refused(parse.addressRanges, ['10.0.0.0/1234', '10.0.0.1 h'])).toHaveLength(2)
  })

  test('of an interface is a name or an IP address', () => {
    const good = [
      'localhost',
      'a',
      'a-b.c',
      '127.0.0.1',
      '::',
      '1a',
      `a${'b'.repeat(251)}c`,
      '1.2.x',
    ]
    expect(meant(parse.hostName, good)).toEqual(good)
    const odd = [
      '',
      '-a',
      'a-',
      '.a',
      'a.',
      'a b',
      'a:1',
      '1.2.3',
      '12',
      `a${'b'.repeat(252)}c`,
      'ä',
    ]
    expect(refused(parse.hostName, odd)).toEqual(odd)
  })
})

describe('what is sent as a header', () => {
  test('has a name that no request has anyway', () => {
    const good = ['X-Key', "!#$%&'*+-.^_`|~09azAZ", 'x-te']
    expect(meant(parse.headerName, good)).toEqual(good)
    const own = [
      'Accept-Encoding',
      'connection',
      'Content-Length',
      'content-type',
      'expect',
      'Host',
    ]
    const others = ['keep-alive', 'TE', 'trailer', 'Transfer-Encoding', 'upgrade']
    const odd = [...own, ...others, '', 'a b', 'a:', 'ä']
    expect(refused(parse.headerName, odd)).toEqual(odd)
  })

  test('has a value in printable ASCII', () => {
    expect(meant(parse.headerValue, [' ~a b'])).toEqual([' ~a b'])
    expect(refused(parse.headerValue, ['', 'a\n', '\na', 'a\x7f', 'ä'])).toHaveLength(5)
  })

  test('is a token of 16 characters without spaces', () => {
    const token = '!~34567890123456'
    expect(meant(parse.accessToken, [token])).toEqual([token])
    const odd = [token.slice(1), `${token} `, ` ${token}`, `${token.slice(1)}ü`, `a b${token}`]
    expect(refused(parse.accessToken, odd)).toEqual(odd)
  })
})

describe('a time', () => {
  test('to start at is a cron pattern of five or six fields, or a word for one', () => {
    const good = [
      '0 2 * * *',
      '5  0 2 * * *',
      '@daily',
      '0\t2 * * 1-5',
      '0 2 * MAR THU',
      '5/15 * * * *',
    ]
    expect(meant(cronPattern, good)).toEqual(good)
    const odd = ['5', '* * * *', '* * * * * * *', '@sometimes', '61 * * * *', '']
    odd.push(
      'H 2 * * *',
      '0 H(0-7) * * *',
      '0 2 * * 1H',
      '0 2 30 2 *',
      '2027-01-01T00:00:00',
      '* * * * * *',
    )
    expect(refused(cronPattern, odd)).toEqual(odd)
  })

  test('zone is one that IANA names', () => {
    const good = ['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires']
    expect(meant(timeZone, good)).toEqual(good)
    expect(
      refused(timeZone, ['+02:00', 'Mars/Olympus', '', '+01', '/UTC', 'Factory']),
    ).toHaveLength(6)
  })
})

test('a path under which a proxy serves is one that can stand in front of any path', () => {
  expect(meant(parse.basePath, ['/a', '/sync/b.c~d'])).toEqual(['/a', '/sync/b.c~d'])
  const odd = ['/', 'sync', '/sync/', '//sync', '/a/../b', '/a?b', 'https://h/sync']
  expect(refused(parse.basePath, odd)).toEqual(odd)
})

test('a text is any without a NUL, a prefix of keys a short one without spaces', () => {
  expect(meant(parse.text, ['any text', 'a\0b'])).toEqual(['any text', undefined])
  expect(complaint(parse.text, '\0')).toBe('must not hold a NUL character')
  const prefix = 'p'.repeat(100)
  expect(meant(parse.keyPrefix, [prefix, '{a}:b'])).toEqual([prefix, '{a}:b'])
  expect(refused(parse.keyPrefix, ['', `${prefix}p`, 'a b', 'a\0', '\ta'])).toHaveLength(5)
})
