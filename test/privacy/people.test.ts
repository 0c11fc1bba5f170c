import { describe, expect, test } from 'vitest'
import {
  emailPseudonymOf,
  erasedIn,
  hashEmail,
  hashName,
  isHashedEmail,
  pseudonymOf,
  wordsOf,
} from '../../src/features/privacy/people.ts'
import { RulesKeeper } from '../../src/features/privacy/rules.ts'
import type { PrivacyPolicy } from '../../src/features/privacy/rules.ts'
import { answeringTables } from '../helpers/answering-tables.ts'

const SALT = Buffer.from('a salt of a database')
const OTHER = Buffer.from('a salt of another one')

describe('what stands for a person', () => {
  test('is the same for one id in one database, and for no other', () => {
    expect(pseudonymOf(SALT, 'ann')).toMatch(/^erased:[0-9a-f]{32}$/)
    expect(pseudonymOf(SALT, 'ann')).toBe(pseudonymOf(SALT, 'ann'))
    expect(pseudonymOf(SALT, 'ann')).not.toBe(pseudonymOf(SALT, 'Ann'))
    expect(pseudonymOf(SALT, 'ann')).not.toBe(pseudonymOf(OTHER, 'ann'))
  })

  test('of an address is one whatever its case and the blanks around it', () => {
    const hash = hashEmail(SALT, 'ann@x.example')
    expect(hash).toMatch(/^hmac:[0-9a-f]{32}$/)
    expect(hashEmail(SALT, ' An\0n@X.example\n')).toBe(hash)
    expect(emailPseudonymOf(SALT, 'ann@x.example')).toBe(hash.replace('hmac:', 'erased:'))
    expect(emailPseudonymOf(SALT, hash)).toBe(hash.replace('hmac:', 'erased:'))
  })

  test('never is the same for an id, an address and a name with the same letters', () => {
    const digits = [pseudonymOf(SALT, 'ann'), hashEmail(SALT, 'ann'), hashName(SALT, 'ann')]
    expect(new Set(digits.map((each) => each.slice(-32))).size).toBe(3)
  })

  test('is the same in every version: databases hold it', () => {
    expect([
      pseudonymOf(SALT, 'ann'),
      hashEmail(SALT, 'ann@x.example'),
      hashName(SALT, 'Ann Bright'),
    ]).toEqual([
      'erased:d12d61e7f1a032dd8261e7c623113b8b',
      'hmac:442aad9074ce2452191876740edee960',
      'hmac:bfaa1330ed2e306c06319190e1c74e19',
    ])
  })

  test('that came hashed is known by its look alone', () => {
    const hash = `hmac:${'0a'.repeat(16)}`
    expect(isHashedEmail(hash)).toBe(true)
    const others = [
      `x${hash}`,
      `${hash}0`,
      hash.slice(0, -1),
      hash.toUpperCase(),
      'a@x.example',
      '',
    ]
    expect(others.filter(isHashedEmail)).toEqual([])
  })

  test('of a name are its words, whatever stands between them', () => {
    expect(wordsOf(' Zoë  O’Neil-Ü7, ')).toEqual(['zoë', 'o', 'neil', 'ü7'])
    expect(wordsOf('Zoe\u0308')).toEqual(['zoë'])
    expect(wordsOf('–!')).toEqual([])
    expect(hashName(SALT, 'Zoë O’Neil')).toBe(hashName(SALT, ' ZOË/o neil.'))
    expect(hashName(SALT, 'ab c')).not.toBe(hashName(SALT, 'a bc'))
  })
})

function erasure(userId: string, organizationId: string | null = null) {
  return {
    organizationId,
    pseudonym: pseudonymOf(SALT, userId),
    emailHashes: [hashEmail(SALT, `${userId}@x.example`)],
    nameHashes: [hashName(SALT, `${userId} Bright`)],
  }
}

describe('erased people', () => {
  test('are told by id, address and name, time and again', () => {
    const erased = erasedIn(SALT, [erasure('ann'), erasure('bob', 'o'), erasure('cid', 'p')], 'o')
    for (let n = 0; n < 2; n += 1) {
      const of = (userId: string) => [
        erased?.pseudonymOf(userId),
        erased?.pseudonymOfEmail(`${userId}@x.example`),
        erased?.hasName(`${userId} bright`),
      ]
      for (const userId of ['ann', 'bob'])
        expect(of(userId)).toEqual([
          pseudonymOf(SALT, userId),
          emailPseudonymOf(SALT, `${userId}@x.example`),
          true,
        ])
      expect(of('cid')).toEqual([null, null, false])
    }
  })

  test('are none where nobody is erased in an organization', () => {
    expect(erasedIn(SALT, [], 'o')).toBeNull()
    expect(erasedIn(SALT, [erasure('ann', 'p')], 'o')).toBeNull()
    expect(erasedIn(SALT, [erasure('ann')], 'o')).not.toBeNull()
  })

  test('are known without a name too', () => {
    const erased = erasedIn(SALT, [{ ...erasure('ann'), nameHashes: [] }], 'o')
    expect(erased?.hasName('ann bright')).toBe(false)
  })
})

describe('the rules of a claim', () => {
  const row = (erasureId: number, userId: string, organizationId: string | null = null) => {
    const { pseudonym, emailHashes, nameHashes } = erasure(userId, organizationId)
    return [erasureId, organizationId, pseudonym, emailHashes, nameHashes]
  }

  function open(policy: Partial<PrivacyPolicy> = {}, erasures: unknown[][] = []) {
    const { client, asked } = answeringTables({
      'privacy/erasures': erasures,
      'privacy/salt': [[SALT]],
    })
    const keeper = new RulesKeeper(client as never, { email: 'keep', raw: 'keep', ...policy })
    const of = (lastErasure: number | null) =>
      keeper.of({ lastErasure, writtenMember: 'a.b', reportTimeZone: 'UTC' })
    return { keeper, of, asks: () => asked.splice(0).map(([name]) => name) }
  }

  const DIGEST = Buffer.alloc(16, 7)

  test('with everything kept and nobody erased asks nothing and changes nothing', async () => {
    const { keeper, of, asks } = open()
    const rules = await of(null)
    expect(rules).toMatchObject({ emails: 'keep', writtenPath: ['a', 'b'] })
    expect([rules.redact('o'), rules.sealed(DIGEST), asks()]).toEqual([null, DIGEST, []])
    expect((await keeper.now()).redact('o')).toBeNull()
  })

  test('read erasures where another one is the last, and where there is no claim', async () => {
    const erasures = [row(1, 'ann', 'p')]
    const { keeper, of, asks } = open({}, erasures)
    const rules = await of(1)
    expect(asks()).toEqual(['privacy/erasures', 'privacy/salt'])
    expect(rules.redact('o')).toBeNull()
    expect(rules.redact('p')?.users({ userId: 'ann' })).toEqual({
      userId: pseudonymOf(SALT, 'ann'),
    })
    expect(await of(1)).toBe(rules)
    expect(asks()).toEqual([])
    erasures.push(row(2, 'bob'))
    const users = (await of(2)).redact('o')?.users
    expect(users?.({ userId: 'bob', name: 'B' })).toEqual({ userId: pseudonymOf(SALT, 'bob') })
    expect(rules.redact('o')).toBeNull()
    expect(asks()).toEqual(['privacy/erasures', 'privacy/salt'])
    expect((await keeper.now()).redact('o')).not.toBeNull()
    expect(asks()).toEqual(['privacy/erasures', 'privacy/salt'])
  })

  test.each([
    ['hash', 'a@x.example', hashEmail(SALT, 'a@x.example')],
    ['hash', ' ', ' '],
    ['hash', 17, undefined],
    ['drop', 'a@x.example', undefined],
    ['keep', 'a@x.example', 'a@x.example'],
  ] as const)('with PRIVACY_EMAIL=%s stores of %j: %s', async (email, address, stored) => {
    // Another setting too, so that there is something to redact where addresses are kept.
    const { of } = open({ email, raw: 'drop' })
    const redact = (await of(null)).redact('o')
    const user = redact?.users({ userId: 'u', email: address, plan: 'x' }) as object
    expect(user).toEqual({ userId: 'u', ...(stored !== undefined && { email: stored }) })
    expect(redact?.comments({ commentId: 1, from: { userId: 'u', email: address } })).toEqual({
      commentId: 1,
      from: user,
    })
    expect(redact?.text('words')).toBe('words')
  })

  test('with PRIVACY_RAW=keep stores undocumented members, unless they are nested too deep', async () => {
    const { of } = open({ email: 'drop' })
    const redact = (await of(null)).redact('o')
    expect(redact?.users({ userId: 'u', plan: 'x' })).toEqual({ userId: 'u', plan: 'x' })
    const nested = (depth: number, open = '[', inside = '1') =>
      JSON.parse(open.repeat(depth) + inside + (open === '[' ? ']' : '}').repeat(depth))
    expect(redact?.users({ x: nested(5000) })).toEqual({ x: nested(101, '[', '') })
    expect(redact?.users(nested(5000, '{"a":'))).toEqual(nested(101, '{"a":', '{}'))
    expect(redact?.comments({ commentId: 1, x: nested(90) })).toEqual({
      commentId: 1,
      x: nested(90),
    })
    expect(redact?.comments({ commentId: 1, x: { a: nested(5000), b: 2 } })).toMatchObject({
      x: { b: 2 },
    })
  })

  test('seals digests by its policy, and opens them again', async () => {
    const policies = [{ email: 'drop' }, { email: 'hash' }, { raw: 'drop' }] as const
    const sealed = new Set<string>()
    for (const policy of policies) {
      const { sealed: seal } = await open(policy).of(null)
      const digest = seal(DIGEST)
      expect(seal(digest)).toEqual(DIGEST)
      sealed.add(digest.toString('hex'))
    }
    expect(sealed.size).toBe(3)
    expect(sealed).not.toContain(DIGEST.toString('hex'))
    const erased = await open({}, [row(1, 'ann')]).of(1)
    expect(erased.sealed(DIGEST)).toEqual(DIGEST)
  })
})
