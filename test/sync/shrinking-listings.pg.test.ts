import { describe, expect, test } from 'vitest'
import { decideHeld } from '../../src/core/sync/held.ts'
import type { HeldDecision } from '../../src/core/sync/held.ts'
import { openLoaded } from '../helpers/live.ts'
import type { RunRow } from '../helpers/live.ts'

type Kind = 'organization' | 'document' | 'group'

const world = { organizations: 40, documentsPerOrganization: 1, groupsPerOrganization: 1 }
const none = { annotationsPerDocument: 0, usersPerOrganization: 0, skew: false }
const live = await openLoaded('none', { world: { ...world, ...none } })
const organizations: Iterator<string> = live.world.organizationIds()

test('the listing of a user group is held on the night when too many left within seven days', async () => {
  const listing = await newListing('group')
  expect(await listing.nights([18, 9, 1])).toEqual(['succeeded -0', 'succeeded -9', 'partial -0'])
  await listing.decide({ resolution: 'accepted', by: 'ann', reason: null })
  expect(await listing.nights([12, 11])).toEqual(['succeeded -0', 'succeeded -1'])
})

describe.each(['organization', 'document'] as const)('the listing of one %s', (kind) => {
  test('that loses half, and then a few, is never held, and each run counts who left', async () => {
    const listing = await newListing(kind)
    expect(await listing.nights([18, 9, 8, 8])).toEqual([
      'succeeded -0',
      'succeeded -9',
      'succeeded -1',
      'succeeded -0',
    ])
  })

  test.each([
    { sizes: [18, 9, 1], limit: '50%', heldOn: 3 },
    { sizes: [200, 150, 110, 90], limit: '50%', heldOn: 4 },
    { sizes: [200, 188, 176, 165], limit: '50%', heldOn: null },
    { sizes: [200, 188, 176, 165], limit: '10%', heldOn: 3 },
    // One response: more than ten, and more than the limit; or all.
    { sizes: [12, 2], limit: '50%', heldOn: null },
    { sizes: [22, 11], limit: '50%', heldOn: null },
    { sizes: [21, 10], limit: '50%', heldOn: 2 },
    { sizes: [1, 0], limit: '50%', heldOn: 2 },
    // Users who join meanwhile are no loss, and hide none.
    { sizes: [10, 30, 20, 12], limit: '50%', heldOn: 4 },
  ])('of $sizes users at $limit is held on night $heldOn', async ({ sizes, limit, heldOn }) => {
    const listing = await newListing(kind, limit)
    const nights = await listing.nights(heldOn === null ? sizes : sizes.slice(0, heldOn))
    expect(nights.findIndex((night) => night.startsWith('partial')) + 1).toBe(heldOn ?? 0)
    if (heldOn !== null) expect(await listing.size()).toBe(sizes[heldOn - 2])
  })

  test('stays held while the same response is repeated for eight nights', async () => {
    const listing = await newListing(kind)
    await listing.nights([200, 150, 110, 90])
    for (let night = 1; night <= 8; night++) {
      expect(await listing.night(90)).toBe('partial -0')
      expect(await listing.holds()).toEqual([{ missing: 20, repeats: night, resolution: null }])
    }
    expect(await listing.size()).toBe(110)
  })

  test('is held no more when all are back', async () => {
    const listing = await newListing(kind)
    await listing.nights([18, 9, 1])
    expect(await listing.night(9)).toBe('succeeded -0')
    expect(await listing.holds()).toEqual([{ missing: 8, repeats: 0, resolution: 'recovered' }])
  })

  test('is not held for one who leaves on the day after a removal was accepted', async () => {
    const listing = await newListing(kind)
    await listing.nights([200, 150, 110, 90])
    await listing.decide({ resolution: 'accepted', by: 'ann', reason: null })
    expect(await listing.nights([89, 88])).toEqual(['succeeded -1', 'succeeded -1'])
  })

  test('is not held for one who leaves after HELD_ACCEPT_AFTER applied a removal', async () => {
    const listing = await newListing(kind, '50%', { HELD_ACCEPT_AFTER: '2' })
    await listing.nights([200, 150, 110, 90])
    expect(await listing.nights([90, 89])).toEqual(['succeeded -20', 'succeeded -1'])
  })

  test('in which five of twenty are replaced each day is never held', async () => {
    const listing = await newListing(kind)
    for (let day = 0; day < 6; day++)
      expect(await listing.night(20, 5 * day)).toBe(`succeeded -${day === 0 ? 0 : 5}`)
  })

  test('whose removal was refused keeps its users when a name changes a week later', async () => {
    const listing = await newListing(kind)
    await listing.nights([200, 150, 110, 90])
    await listing.decide({ resolution: 'refused', by: 'ann', reason: 'their fault' })
    for (let night = 0; night < 8; night++) expect(await listing.night(90)).toBe('succeeded -0')
    listing.rename()
    expect(await listing.night(90)).toBe('partial -0')
    expect(await listing.size()).toBe(110)
  })
})

/** The status of its run, and how many left: `succeeded -9`. */
type Night = `${string} -${number}`

/** A listing of an organization that no other test has. */
async function newListing(kind: Kind, limit = '50%', more: Record<string, string> = {}) {
  const organizationId = organizations.next().value as string
  const { world } = live
  const [documentId = ''] = world.documentIds(organizationId)
  const [groupId = ''] = world.groupIds(organizationId)
  const idOf = (number: number) => `${organizationId}-${number}`
  const user = (number: number, name = `User ${number}`) => ({
    userId: idOf(number),
    name,
    email: `u${number}@example.com`,
  })
  const settings = { SYNC_SHRINK_LIMIT: limit, ...more }
  const put = (size: number, first: number) => {
    const ids = Array.from({ length: size }, (_, index) => idOf(first + index))
    const known = new Set((world.users(organizationId) ?? []).map(({ userId }) => userId))
    for (let number = first; number < first + size; number++)
      if (!known.has(idOf(number))) world.putUser(organizationId, user(number))
    if (kind === 'document') world.putDocumentUsers(organizationId, documentId, ids)
    else if (kind === 'group') world.putGroupMembers(organizationId, groupId, ids)
    else for (const id of known) if (!ids.includes(id)) world.dropUser(organizationId, id)
  }
  world.putDocumentUsers(organizationId, documentId, [])
  world.putGroupMembers(organizationId, groupId, [])
  const listing = {
    /** One nightly run, a day after the one before, over a listing of so many users. */
    async night(size: number, first = 0): Promise<Night> {
      put(size, first)
      await passADay(organizationId)
      const run = await live.run({
        trigger: 'schedule',
        scope: { organizationIds: [organizationId] },
        settings,
      })
      const [own, other] = [leftOf(run, 'users_removed'), leftOf(run, 'members_removed')]
      expect(kind === 'organization' ? other : own).toBe(0)
      return `${run.status} -${own + other}`
    },
    async nights(sizes: readonly number[]): Promise<Night[]> {
      const nights: Night[] = []
      for (const size of sizes) nights.push(await listing.night(size))
      return nights
    },
    decide: (decision: HeldDecision) =>
      decideHeld({ database: live.database.pool }, { organizationId }, decision),
    rename: () => world.putUser(organizationId, user(0, 'Another name')),
    /** How many users are in it, as the tables have it. */
    size: () =>
      count(
        {
          organization: 'collab.users where listed',
          document: 'collab.document_users where removed_at is null',
          group: 'collab.user_group_members where removed_at is null',
        }[kind],
        organizationId,
      ),
    holds() {
      return live.rows(
        `select cardinality(missing_user_ids) as missing, repeats, resolution from sync.held
        where organization_id = $1 order by held_id`,
        organizationId,
      )
    },
  }
  return listing
}

const leftOf = (run: RunRow, name: string) => run[name] as number

async function count(from: string, organizationId: string): Promise<number> {
  return (await live.rows(`select from ${from} and organization_id = $1`, organizationId)).length
}

const TIMES = {
  'collab_store.users': ['first_seen_at', 'changed_at', 'version_at', 'removed_at'],
  'collab_store.user_versions': ['valid_from', 'valid_to', 'removed_at'],
  'collab_store.document_users': ['first_seen_at', 'joined_at', 'removed_at'],
  'collab_store.user_group_members': ['first_seen_at', 'joined_at', 'removed_at'],
  'collab_store.past_memberships': ['joined_at', 'removed_at'],
}

/** Sets all times of an organization's users and of what is held back by a day. */
async function passADay(organizationId: string): Promise<void> {
  const dayBefore = (columns: readonly string[]) =>
    columns.map((column) => `${column} = ${column} - interval '1 day'`).join(', ')
  for (const [table, columns] of Object.entries(TIMES))
    await live.rows(
      `update ${table} set ${dayBefore(columns)} where starts_with(user_id, $1)`,
      `${organizationId}-`,
    )
  const heldBefore = `update sync.held set ${dayBefore(['at', 'resolved_at'])}`
  await live.rows(`${heldBefore} where organization_id = $1`, organizationId)
}
