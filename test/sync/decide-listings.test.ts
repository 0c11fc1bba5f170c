import { describe, expect, test } from 'vitest'
import { CallError } from '../../src/base/errors.ts'
import { decideListings } from '../../src/core/sync/compare/listings.ts'
import type { UsersResult } from '../../src/core/sync/fetch/result.ts'
import { answeringTables } from '../helpers/answering-tables.ts'

type Kind = 'organization' | 'document' | 'group'

function listing(
  kind: Kind,
  key: number,
  userIds: readonly string[],
  more: Partial<UsersResult> = {},
): UsersResult {
  return {
    outcome: 'users',
    scope: { kind, key },
    records: userIds.map((userId) => ({ userId })),
    mayLackUsers: false,
    rejectedIds: new Set<string>(),
    isListing: true,
    incomplete: null,
    ...more,
  } as unknown as UsersResult
}

const ids = (count: number, start = 0) => Array.from({ length: count }, (_, n) => `u${start + n}`)
const stored = (key: number, userIds: readonly string[], removed = false) =>
  userIds.map((userId) => [key, userId, removed])

const AT = new Date('2026-11-20T02:00:00Z')

async function decide(
  results: readonly UsersResult[],
  members: readonly unknown[][],
  limit = 0.5,
  baseline: readonly unknown[][] = [],
) {
  const { client, asked } = answeringTables({
    'members/read-document-users': members,
    'members/read-user-group-members': members,
    'users/read-listed': members.map(([, userId]) => [userId]),
    'held/baseline': baseline,
  })
  return { decisions: await decideListings(client, results, { limit, at: AT }), asked }
}

describe('a full listing', () => {
  test.each(['document', 'group', 'organization'] as const)(
    'of a %s is compared with its own members',
    async (kind) => {
      const { decisions } = await decide([listing(kind, 7, ['u1', 'u2'])], stored(7, ['u0', 'u1']))
      expect(decisions).toMatchObject([
        {
          changes: { joined: ['u2'], missing: ['u0'], before: 2, cameBack: 0 },
          isSuspicious: false,
        },
      ])
    },
  )

  test('is read with the others of its kind at once, and nothing else is asked', async () => {
    const results = [
      listing('document', 1, ['u0']),
      listing('document', 2, ['u5']),
      listing('group', 3, ['u0'], { isListing: false }),
    ]
    const { decisions, asked } = await decide(results, [
      ...stored(1, ['u0']),
      ...stored(2, ['u6'], true),
    ])
    expect(decisions.map(({ result }) => result.scope.key)).toEqual([1, 2])
    expect(decisions[1]?.changes).toEqual({ joined: ['u5'], cameBack: 0, missing: [], before: 0 })
    expect(asked).toEqual([['members/read-document-users', [[1, 2]]]])
  })

  test('of an organization that nobody asked for is not read', async () => {
    const { decisions, asked } = await decide([], [])
    expect([decisions, asked]).toEqual([[], []])
  })

  test('does not miss whoever was in it but could not be stored', async () => {
    const answer = listing('document', 1, ['u0'], { rejectedIds: new Set(['u1']) })
    const { decisions } = await decide([answer], stored(1, ['u0', 'u1', 'u2']))
    expect(decisions[0]?.changes.missing).toEqual(['u2'])
  })
})

describe('a listing that lost many', () => {
  const suspicious = async (answer: UsersResult, before: readonly string[], limit = 0.5) =>
    (await decide([answer], stored(1, before), limit)).decisions[0]?.isSuspicious

  test('is suspicious beyond the limit that is set', async () => {
    expect(await suspicious(listing('document', 1, ids(10)), ids(40))).toBe(true)
    expect(await suspicious(listing('document', 1, ids(10)), ids(40), 0.9)).toBe(false)
  })

  test('is suspicious where it may lack users who are there, and somebody is missing', async () => {
    const part = { mayLackUsers: true }
    expect(await suspicious(listing('document', 1, ids(39), part), ids(40))).toBe(true)
    expect(await suspicious(listing('document', 1, ids(40), part), ids(40))).toBe(false)
    expect(await suspicious(listing('document', 1, ids(39)), ids(40))).toBe(false)
  })

  test('is suspicious where it lost too many of what it held before, or a removal is disputed', async () => {
    const judge = async (mostMembers: number, disputed: readonly string[], count = 30) => {
      const baseline = [['document', 1, mostMembers, disputed]]
      const { decisions } = await decide(
        [listing('document', 1, ids(count))],
        stored(1, ids(31)),
        0.5,
        baseline,
      )
      return decisions[0]?.isSuspicious
    }
    expect(await judge(60, [])).toBe(false)
    expect(await judge(61, [])).toBe(true)
    expect(await judge(31, ['u30'])).toBe(true)
    expect(await judge(31, ['u29'])).toBe(false)
    expect(await judge(100, ['u30'], 31)).toBe(false)
  })

  test('removes nobody anyway where it may be incomplete', async () => {
    const incomplete = new CallError('some records', { kind: 'unknown' })
    expect(await suspicious(listing('document', 1, [], { incomplete }), ids(40))).toBe(false)
  })
})
