import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeRun } from '../../src/cli/run-details.ts'
import { readRunDetails } from '../../src/client/run-reports.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import { decideHeld } from '../../src/core/sync/held.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { readAll } from './copy.ts'

let live: Live
let organizationId: string
let documentId: string
let groupId: string
beforeAll(async () => {
  live = await openLive('none')
  await live.importCatalog()
  ;[organizationId = ''] = live.world.organizationIds()
  ;[documentId = ''] = live.world.documentIds(organizationId)
  ;[groupId = ''] = live.world.groupIds(organizationId)
  people(20, 20, 20)
  await live.run()
})
afterAll(() => live.close())

test('the counts of each run are what the feed of changes says of it', async () => {
  people(19, 17, 16)
  expect(await countsOfRun()).toEqual({ users: 1, members: 7 })
  // Who comes back is removed by no run.
  people(20, 20, 20)
  expect(await countsOfRun()).toEqual({ users: 0, members: 0 })
  await commitsAreTriedAgain(async () => {
    people(18, 17, 17)
    expect(await countsOfRun()).toEqual({ users: 2, members: 6 })
  })
  people(2, 1, 1)
  const held = await live.run({ trigger: 'schedule' })
  expect(held).toMatchObject({ scopes_held: 3, users_removed: 0, members_removed: 0 })
  await decideHeld(
    { database: live.database.pool },
    { runId: held.run_id, heldId: await heldIdOf('document') },
    { resolution: 'accepted', by: 'ann', reason: null },
  )
  const settings = { HELD_ACCEPT_AFTER: '2' }
  expect(await countsOfRun(settings)).toEqual({ users: 16, members: 16 })

  const { changes } = await readAll(live.database.pool, null)
  const removed = changes.filter(({ change }) => change === 'removed')
  // What a person decided is of no run.
  expect(removed.filter(({ runId }) => runId === null)).toHaveLength(16)
  const { rows } = await live.database.pool.query(
    'select run_id, users_removed, members_removed from sync.runs',
  )
  expect(rows).toHaveLength(6)
  for (const run of rows) {
    const objects = removed.filter(({ runId }) => runId === run.run_id).map(({ object }) => object)
    expect(run).toMatchObject({
      users_removed: objects.filter((object) => object === 'user').length,
      members_removed: objects.filter((object) => object !== 'user').length,
    })
  }
})

/** The organization, a document and a user group list so many users, of whom there are always the first. */
function people(users: number, ofDocument: number, ofGroup: number): void {
  const { world } = live
  const first = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)
  for (const { userId } of world.users(organizationId) ?? []) world.dropUser(organizationId, userId)
  for (const userId of first(users))
    world.putUser(organizationId, { userId, name: userId, email: `${userId}@example.com` })
  for (const line of catalogLines(world)) {
    if (line.organizationId !== organizationId) continue
    if ('documentId' in line) world.putDocumentUsers(organizationId, line.documentId, [])
    if ('organizationUserGroupId' in line)
      world.putGroupMembers(organizationId, line.organizationUserGroupId, [])
  }
  world.putDocumentUsers(organizationId, documentId, first(ofDocument))
  world.putGroupMembers(organizationId, groupId, first(ofGroup))
}

/** What a run of the night counts, which everything that describes the run says too. */
async function countsOfRun(settings: Record<string, string> = {}) {
  const run = await live.run({ trigger: 'schedule', settings })
  const counts = { users: run['users_removed'], members: run['members_removed'] }
  const details = await readRunDetails(live.database.pool, run.run_id)
  if (details === null) throw new Error('the run is gone')
  expect({ users: details.usersRemoved, members: details.membersRemoved }).toEqual(counts)
  const text = describeRun(details)
  expect(/(\d+) removed/.exec(text)?.[1] ?? '0').toBe(`${counts.users}`)
  expect(/(\d+) memberships? ended/.exec(text)?.[1] ?? '0').toBe(`${counts.members}`)
  return counts
}

async function heldIdOf(kind: string): Promise<number> {
  const { rows } = await live.database.pool.query(
    'select held_id::int from sync.held where kind = $1 and resolved_at is null',
    [kind],
  )
  return rows[0].held_id
}

/** Lets the first commit of each item fail as one does that met another transaction. */
async function commitsAreTriedAgain(work: () => Promise<void>): Promise<void> {
  const { pool } = live.database
  await pool.query(`
    create sequence tries;
    create function fail_first() returns trigger language plpgsql as $$
    begin
      if nextval('tries') = 1 then
        raise exception 'tried again' using errcode = 'serialization_failure';
      end if;
      return new;
    end $$;
    create trigger fail_first before update on sync.run_items for each row
    when (new.members_removed > old.members_removed) execute function fail_first()`)
  await work()
  const { rows } = await pool.query('select last_value::int as tries from tries')
  expect(rows[0].tries).toBeGreaterThan(1)
  await pool.query(
    'drop trigger fail_first on sync.run_items; drop function fail_first; drop sequence tries',
  )
}
