import { expect, test } from 'vitest'
import * as scopes from '../../src/core/database/statements/scopes.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live, RunRow } from '../helpers/live.ts'

let live: Live

/** One call at a time, in the order of the catalog: the numbers of calls are exact. */
async function openOneByOne(organizations: number, annotationsPerDocument = 3): Promise<void> {
  live = await openLoaded('none', {
    world: { organizations, documentsPerOrganization: 2, annotationsPerDocument },
    settings: { SYNC_CONCURRENCY: '1' },
  })
}

async function newlyAsked(): Promise<{ run: RunRow; calls: number }> {
  const before = live.standIn.calls.total
  const run = await live.run()
  return { run, calls: live.standIn.calls.total - before }
}

test('an expired token that the service reports by 403 ends the run within a few calls, as 401 does', async () => {
  await openOneByOne(4)
  // Without a limit or a pause no time is one of waiting for a slot.
  expect(await live.run()).toMatchObject({ status: 'succeeded', waited_ms: 0 })
  live.standIn.setFaults([{ kind: 'forbidden' }])
  const { run, calls } = await newlyAsked()
  expect(run).toMatchObject({ status: 'failed' })
  expect(run['problem']).toMatch(
    /^The service refuses key or token: check COLLAB_API_KEY and COLLAB_AUTH_TOKEN \(or the files that contain them\), and their rights\. Every call was refused, and so were scopes for which the service returned data before this run\. .*HTTP 403 PERMISSION_DENIED/,
  )
  expect(Number(run['scopes_skipped'])).toBeGreaterThan(0)
  // Five that raise the suspicion, one for each operation, and the few that were under way.
  expect(calls).toBeLessThan(20)
  live.standIn.setFaults([])
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
})

test('Get Users forbidden everywhere does not end the run: all comments are written', async () => {
  await openOneByOne(4)
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'users' } }])
  expect(await live.run()).toMatchObject({ status: 'partial', annotations_done: 24 })
})

test('a run of one operation ends where that operation is forbidden everywhere, and no call is made for another', async () => {
  await openOneByOne(4)
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'comments' } }])
  const before = live.standIn.calls.byOperation.users
  const run = await live.run({ scope: { operations: ['comments'] } })
  expect(run).toMatchObject({ status: 'failed' })
  expect(run['problem']).toMatch(/^The service refuses key or token/)
  expect(live.standIn.calls.byOperation.users).toBe(before)
})

test('organizations that are forbidden since the last run do not end it, also where they come first', async () => {
  await openOneByOne(8)
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  const forbidden = new Set([...live.world.organizationIds()].slice(0, 3))
  live.standIn.setFaults([
    { kind: 'forbidden', match: ({ data }) => forbidden.has(data.organizationId) },
  ])
  expect(await live.run()).toMatchObject({ status: 'partial', organizations_done: 5 })
})

test('one good response of a run proves key and token before it is committed, whatever is forbidden after it', async () => {
  await openOneByOne(2, 20)
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  let good: string | undefined
  live.standIn.setFaults([{ kind: 'forbidden', match: ({ body }) => body !== (good ??= body) }])
  const run = await live.run({ scope: { operations: ['comments'] } })
  expect(run).toMatchObject({ status: 'partial', annotations_done: 1, scopes_skipped: 0 })
})

test('a run for one organization that is forbidden is worked to its end', async () => {
  await openOneByOne(2)
  expect(await live.run()).toMatchObject({ status: 'succeeded' })
  const [organizationId] = [...live.world.organizationIds()] as [string]
  live.standIn.setFaults([{ kind: 'forbidden', match: { organizationId } }])
  const run = await live.run({ scope: { organizationIds: [organizationId] } })
  expect(run).toMatchObject({ status: 'failed', scopes_skipped: 0 })
})

test('a first run of which every call is forbidden is worked to its end, and names key and token', async () => {
  await openOneByOne(2)
  live.standIn.setFaults([{ kind: 'forbidden' }])
  const run = await live.run()
  expect(run).toMatchObject({ status: 'failed', scopes_skipped: 0 })
  expect(run['problem']).toMatch(
    /Every call was refused: check COLLAB_API_KEY and COLLAB_AUTH_TOKEN \(or the files that contain them\), and their rights\.$/,
  )
})

test('the check of the credentials asks for scopes of organizations that were not refused, and for listings of organizations first, else of documents or groups', async () => {
  await openOneByOne(2)
  await live.run()
  await live.rows(
    `update collab_store.listings set own_checked_at = now() where kind <> 'organization'`,
  )
  const organizations = await live.rows(
    'select organization_key as key, organization_id as id from collab_store.organizations',
  )
  for (const { key, id } of organizations) {
    const refused = organizations.map((each) => each.key).filter((other) => other !== key)
    const asked = await scopes.lastSuccessful.all(live.database.pool, { refused })
    const listing = { documentId: null, annotationId: null, organizationUserGroupId: null }
    expect(asked.map(({ organizationId }) => organizationId)).toEqual([id, id])
    expect(asked).toContainEqual({ operation: 'users', organizationId: id, ...listing })
  }
  for (const [kind, member] of [
    ['document', 'documentId'],
    ['group', 'organizationUserGroupId'],
  ]) {
    await live.rows(
      `update collab_store.listings set own_checked_at = case kind when '${kind}' then now() else '-infinity' end`,
    )
    const asked = await scopes.lastSuccessful.all(live.database.pool, { refused: [] })
    const listing = { operation: 'users', [member as string]: expect.any(String) }
    expect(asked).toContainEqual(expect.objectContaining(listing))
  }
})
