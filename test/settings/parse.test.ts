import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { cronPattern, timeZone } from '../../src/schemas/schedule.ts'
import { databaseAddress } from '../../src/settings/database-address.ts'
import * as parse from '../../src/settings/parse.ts'

interface Parser {
  safeParse(text: string): { data?: unknown; error?: { issues: { message: string }[] } | undefined }
}

/** Each text with its value; a list has texts that stay as they are. */
type Accepted = Record<string, unknown> | readonly string[]

const own =
  'Accept-Encoding connection Content-Length content-type expect Host keep-alive TE trailer'

test.each<[string, Parser, Accepted, refused: readonly string[]]>([
  [
    'a whole number',
    parse.wholeNumber(2, 7),
    { '2': 2, '7': 7 },
    ['1', '8', '', ' 5', '5 ', '5.0', '+5', '0x5', '5e0', '-5', '0000000000000005'],
  ],
  [
    'a decimal number',
    parse.decimalNumber(0.5, 2.25),
    { '0.5': 0.5, '1': 1, '2.25': 2.25, '01.125': 1.125 },
    ['0.49', '2.26', 'x1', '1x', '1.x', '1.', '.5', '1.5.5', '-1', ''],
  ],
  [
    'a share: a fraction up to 1, else a percentage',
    parse.share,
    { '0.25': 0.25, '1': 1, '1.5': 0.015, '12.75%': 0.1275, '1%': 0.01, '100': 1 },
    ['100.5', '1000%', '', '%', 'x5', '5x', '5%%'],
  ],
  [
    'a switch',
    parse.flag,
    { '1': true, true: true, '0': false, false: false },
    ['', 'TRUE', 'yes', '10'],
  ],
  ['one of some words', parse.oneOf('keep', 'drop'), ['keep', 'drop'], ['keepdrop', '']],
  [
    'a member of a comment that no other setting or column has',
    parse.memberPath,
    ['createdAt', 'meta.created_at', 'data.$date.x-y', 'erstellt.für', '_seconds', 'lastUpdatedAt'],
    [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      'a b',
      'a.0',
      '0',
      '-a',
      'a\n',
      'x'.repeat(201),
      'lastUpdated',
      'lastUpdated.seconds',
      'from',
      'from.userId',
      'commentId',
      'status',
      'type',
      'commentText',
    ],
  ],
  [
    'operations',
    parse.operations,
    { users: ['users'], ' comments , users': ['users', 'comments'] },
    ['users,likes', 'users,', ''],
  ],
  [
    'an address of Redis',
    parse.redisAddress,
    ['redis://u:p%40@h/1', 'RediSS://h', 'redis://h:1?family=6'],
    ['redis:/h', 'mysql://h', 'x redis://h', 'redis://u:100%@h', 'redis'],
  ],
  [
    'an address of PostgreSQL, also of a socket',
    databaseAddress,
    [
      'postgres://u:p%40@h/d',
      'PostgreSQL://h',
      'postgres://h:1/d?sslmode=verify-full',
      'postgres://user@/db?host=/var/run/postgresql',
      'postgres:///db?host=/cloudsql/a:b:c&user=u&password=p%23',
      'postgres://%2Fvar%2Frun/db',
      'socket:/var/run/postgresql?db=db',
      '/var/run/postgresql db',
    ],
    ['postgres:/h', 'mysql://h', 'x postgres://h', 'postgres://u:a#b@h/d', 'postgres'],
  ],
  [
    'an address of the service',
    parse.baseAddress,
    { 'https://h/a//': 'https://h/a', 'http://h': 'http://h', 'HTTPS://H/a/b': 'https://h/a/b' },
    ['h', 'ftp://h', 'https://u@h', 'https://:p@h', 'https://h?a', 'https://h/#a', 'https://h/?'],
  ],
  [
    'ranges of addresses',
    parse.addressRanges,
    {
      ...Object.fromEntries(
        ['10.0.0.0/8', '::1', 'fd00::/128', '0.0.0.0/1', '1.2.3.4/32', '::/1'].map((one) => [
          one,
          [one],
        ]),
      ),
      '10.0.0.1 ,\t::1': ['10.0.0.1', '::1'],
    },
    [
      '10.0.0.0/0',
      '10.0.0.0/33',
      '::/129',
      '/8',
      'x/8',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      '',
      '10.0.0.0/1234',
      '10.0.0.1 h',
    ],
  ],
  [
    'a name or address of an interface',
    parse.hostName,
    ['localhost', 'a', 'a-b.c', '127.0.0.1', '::', '1a', `a${'b'.repeat(251)}c`, '1.2.x'],
    ['', '-a', 'a-', '.a', 'a.', 'a b', 'a:1', '1.2.3', '12', `a${'b'.repeat(252)}c`, 'ä'],
  ],
  [
    'the name of a header that no request has anyway',
    parse.headerName,
    ['X-Key', "!#$%&'*+-.^_`|~09azAZ", 'x-te'],
    [...own.split(' '), 'Transfer-Encoding', 'upgrade', '', 'a b', 'a:', 'ä'],
  ],
  ['the value of a header', parse.headerValue, [' ~a b'], ['', 'a\n', '\na', 'a\x7f', 'ä']],
  [
    'a token of 16 characters',
    parse.accessToken,
    ['!~35a4b7890c2456', '0110100110010110100010111010010011101001011000101'],
    ['~35a4b7890c2456', '!~35a4b7890c2456 ', ' !~35a4b7890c2456', '~35a4b7890c2456ü'],
  ],
  [
    'a token that is not easy to guess',
    parse.accessToken,
    ['a-token-of-the-tests', 'kR3vXq8ZpLw2Tk', 'kR3vXq8ZpLw2Tn'].map((each) =>
      each.padEnd(16, 'x'),
    ),
    [
      'a'.repeat(16),
      'a'.repeat(1000),
      '1212112112122112',
      'abababababababab',
      'kR3vXq8Z'.repeat(2),
      'kR3vXq8ZpLw2'.repeat(3),
      'kR3vXq8ZpL'.repeat(9) + 'kR3',
      '0123456789abcdef',
      '1234567890abcdef',
      'fedcba9876543210',
      'zyxwvutsrqponmlkjihgfedcba',
      'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
      'aabbccddeeffgghhiijjkk',
      'acegikmoqsuwy0246',
      '12345678901234567890',
    ],
  ],
  [
    'a cron pattern of five or six fields, or a word for one',
    cronPattern,
    ['0 2 * * *', '5  0 2 * * *', '@daily', '0\t2 * * 1-5', '0 2 * MAR THU', '5/15 * * * *'],
    [
      '5',
      '* * * *',
      '* * * * * * *',
      '@sometimes',
      '61 * * * *',
      '',
      'H 2 * * *',
      '0 H(0-7) * * *',
      '0 2 * * 1H',
      '0 2 30 2 *',
      '2027-01-01T00:00:00',
      '* * * * * *',
    ],
  ],
  [
    'a time zone of IANA',
    timeZone,
    ['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires'],
    ['+02:00', 'Mars/Olympus', '', '+01', '/UTC', 'Factory'],
  ],
  [
    'a path of a proxy',
    parse.basePath,
    ['/a', '/sync/b.c~d'],
    ['/', 'sync', '/sync/', '//sync', '/a/../b', '/a?b', 'https://h/sync'],
  ],
  [
    'a length of time',
    parse.duration,
    { '75s': 75_000, '90m': 5_400_000, '1h30m': 5_400_000, '26h': 93_600_000, '2d': 172_800_000 },
    ['', '5', '0s', '1h1h', '367d', '1.5h', '-1h', ' 1h'],
  ],
  [
    'a signing secret of 24 to 64 bytes',
    parse.signingSecret,
    [24, 64].map((bytes) => `whsec_${Buffer.alloc(bytes).toString('base64')}`),
    ['whsec_', 'x', ...[23, 66].map((bytes) => `whsec_${Buffer.alloc(bytes).toString('base64')}`)],
  ],
  [
    'paths of fields',
    parse.memberPaths,
    {
      'user.photoUrl comment.from.photoUrl  user.photoUrl': 'comment.from.photoUrl user.photoUrl',
      'comment.attachments[].url': 'comment.attachments[].url',
      'comment.matrix[][] comment."a b".c': 'comment."a b".c comment.matrix[][]',
      'comment.readBy.*.at user."*" user.from.name': 'comment.readBy.*.at user."*" user.from.name',
    },
    [
      'photoUrl',
      'comment',
      'comment.',
      'comment..a',
      'comment.a[',
      'comment.a[0]',
      'comment."a',
      'comment.…',
      'person.name',
      'comment.commentId',
      'comment.lastUpdated.seconds',
      'comment.from',
      'comment.from.email',
      'comment.*',
      'comment.from.*',
      'user.userId',
      'user.photoUrl user.name',
    ],
  ],
  ['any text', parse.text, ['any text'], ['a\0b']],
  [
    'a prefix of keys',
    parse.keyPrefix,
    ['p'.repeat(100), '{a}:b'],
    ['', 'p'.repeat(101), 'a b', 'a\0', '\ta'],
  ],
])('%s', (_, parser, accepted, refused) => {
  const pairs = Array.isArray(accepted)
    ? accepted.map((text) => [text, text])
    : Object.entries(accepted)
  for (const [text, value] of pairs) expect(parser.safeParse(text).data, text).toEqual(value)
  for (const text of refused) expect(parser.safeParse(text).error, text).toBeDefined()
})

describe('an address of PostgreSQL', () => {
  test('says of TLS what pg takes without a warning, and keeps the rest as it is', () => {
    const file = import.meta.filename
    const written = (query: string) => databaseAddress.parse(`postgres://u:a,b@h/d?${query}`)
    for (const mode of ['prefer', 'require', 'verify-full', 'verify-ca'])
      expect(written(`sslmode=${mode}`)).toBe('postgres://u:a,b@h/d?sslmode=verify-full')
    expect(written('a=%23+&sslmode=require&sslrootcert=system&options=-c%20b%3Dc')).toBe(
      'postgres://u:a,b@h/d?a=%23+&options=-c%20b%3Dc&sslmode=verify-full',
    )
    expect(written(`sslrootcert=${file}&sslmode=verify-ca`)).toBe(
      `postgres://u:a,b@h/d?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${encodeURIComponent(file)}`,
    )
  })

  test.each([
    ['h/d?sslmode=require&sslrootcert=/nowhere/ca.pem', /in sslrootcert .*\/ca.pem,.* \(ENOENT\)/],
    ['h/d?sslkey=/', /in sslkey the file \/, .*\(EISDIR\)/],
    ['h/d?sslmode=s3cret', /^(?!.*s3cret).*sslmode.*allow, prefer, require, verify-full/],
    ['u:p@h1:5432,h2:5432/d', /several hosts/],
    ['h1,h2/d', /several hosts/],
    ['/d?host=h1,h2', /several hosts/],
    ['h/d?target_session_attrs=read-write', /target_session_attrs/],
  ])('%s is refused', (rest, fault) => {
    expect(databaseAddress.safeParse(`postgres://${rest}`).error?.issues[0]?.message).toMatch(fault)
  })
})

test('what openssl rand -hex 16 prints is always accepted as a token', () => {
  const printed = Array.from({ length: 20_000 }, () => randomBytes(16).toString('hex'))
  expect(printed.filter((each) => !parse.accessToken.safeParse(each).success)).toEqual([])
})
