import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import type { HeldListing } from '../../src/documents/waiting.ts'
import { UsageError } from '../../src/errors.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLive } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { onApp } from './on-app.ts'

let live: Live
let collabSync: CollabSync

beforeEach(async () => {
  live = await openLive('none')
  await live.importCatalog()
  await live.run()
  collabSync = onApp(await live.openApp())
})
afterEach(() => live.close())

test('one held listing is accepted, the others wait on', async () => {
  const [organizationId = ''] = live.world.organizationIds()
  const { run_id: runId } = await runWithEmptyListingsOf(organizationId)
  const held = (await collabSync.listHeld({ runId })).items
  expect(held.length).toBeGreaterThan(2)
  expect(await collabSync.getRun(runId)).toMatchObject({ heldWaiting: held.length })
  const { items: organizations } = await collabSync.listOrganizations()
  const withHeld = organizations.filter((each) => each.held > 0)
  expect(withHeld).toMatchObject([{ organizationId, held: held.length }])

  const one = held.find(({ kind }) => kind === 'document') as HeldListing
  expect(one).toMatchObject({ runId, organizationId, usersMissing: one.usersBefore })
  expect(one.firstMissingUserIds).toHaveLength(one.usersMissing)
  expect(await collabSync.acceptHeld(one.heldId, { runId })).toMatchObject({
    removed: one.usersMissing,
  })

  const left = (await collabSync.listHeld()).items
  expect(left).toEqual(held.filter(({ heldId }) => heldId !== one.heldId))
  const { rows } = await live.database.pool.query(
    `select count(*) filter (where removed_at is null) as present, count(*) filter (where removed_at is not null) as gone
    from collab.document_users where organization_id = $1 and document_id = $2`,
    [organizationId, one.documentId],
  )
  expect(rows).toEqual([{ present: 0, gone: one.usersMissing }])
  await expect(collabSync.acceptHeld(one.heldId)).rejects.toThrow(
    new UsageError(`No held listing ${one.heldId} is waiting to be accepted.`),
  )
})

test('what a later run has seen otherwise is not accepted by one who looked at the earlier answer', async () => {
  const [organizationId = ''] = live.world.organizationIds()
  const before = await runWithEmptyListingsOf(organizationId)
  const [one] = (await collabSync.listHeld()).items
  const heldId = one?.heldId as number
  const later = await runWithEmptyListingsOf(organizationId)
  await expect(collabSync.acceptHeld(heldId, { runId: before.run_id })).rejects.toThrow(
    /^A later run has seen another answer of held listing/,
  )
  expect(await collabSync.acceptHeld(heldId, { runId: later.run_id })).toMatchObject({
    removed: one?.usersMissing,
  })
})

test('a held listing that is none is refused', async () => {
  for (const heldId of [1, 0, -1, 1.5, Number.NaN, '1' as unknown as number]) {
    await expect(collabSync.acceptHeld(heldId)).rejects.toThrow(UsageError)
    await expect(collabSync.acceptHeld(heldId)).rejects.toThrow(/^No held listing/)
  }
})

test('a replay tells what it stored, what is unsound still, and what is obsolete', async () => {
  const { rows } = await live.database.pool.query(
    `with gone as (
      delete from collab_store.comments where (annotation_key, comment_id) = (
        select annotation_key, comment_id from collab_store.comments order by 1, 2 limit 1)
      returning annotation_key, comment_id
    )
    select run_id, o.organization_id, document_id, annotation_id, raw
    from gone
    join collab_store.annotations a using (annotation_key)
    join collab_store.documents d using (document_key)
    join collab_store.organizations o on o.organization_key = d.organization_key
    join collab.comments c using (organization_id, document_id, annotation_id, comment_id)
    cross join sync.runs`,
  )
  const { run_id: runId, organization_id, document_id, annotation_id, raw } = rows[0]
  const ids = [organization_id, document_id, annotation_id]
  await reject(runId, ids, JSON.stringify(raw))
  await reject(runId, ids, 'null')
  await reject(runId, [organization_id, document_id, 'no longer there'], JSON.stringify(raw))
  expect((await collabSync.listRejectedRecords({ runId })).items).toHaveLength(3)
  const none = await collabSync.replayRejectedRecords({
    runId: '00000000-0000-4000-8000-000000000000',
  })
  expect(none).toMatchObject({ replayed: 0, stillRejected: 0, obsolete: 0 })
  expect(await collabSync.replayRejectedRecords({ runId })).toMatchObject({
    replayed: 1,
    stillRejected: 1,
    obsolete: 1,
  })
  await expectTablesEqual(live.database, live.world)
  expect((await collabSync.listRejectedRecords({ runId })).items).toHaveLength(2)
  await expect(collabSync.replayRejectedRecords({ runId: 'x' })).rejects.toThrow(/^runId must be/)
})

function runWithEmptyListingsOf(organizationId: string) {
  live.standIn.setFaults([{ kind: 'empty-list', match: { operation: 'users', organizationId } }])
  return live.run()
}

async function reject(runId: string, ids: string[], record: string): Promise<void> {
  await live.database.pool.query(
    `insert into sync.rejected_records (run_id, operation, organization_id, document_id, annotation_id, reason, record)
    values ($1, 'comments', $2, $3, $4, 'odd', $5)`,
    [runId, ...ids, record],
  )
}
