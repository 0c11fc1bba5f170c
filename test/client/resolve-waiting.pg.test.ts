import { beforeEach, expect, test } from 'vitest'
import type { CollabSync } from '../../src/client/collab-sync.ts'
import type { HeldListing } from '../../src/schemas/waiting.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { onApp } from './on-app.ts'

let live: Live
let collabSync: CollabSync

beforeEach(async () => {
  live = await openLoaded('none')
  await live.run()
  collabSync = onApp(await live.openApp())
})

test('one held listing is accepted, one is refused, the others wait on', async () => {
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
  await expect(collabSync.acceptHeld(Number.NaN)).rejects.toThrow(/^heldId /)
  expect(await collabSync.acceptHeld(one.heldId, { runId })).toMatchObject({
    removed: one.usersMissing,
  })

  const left = (await collabSync.listHeld()).items
  expect(left).toEqual(held.filter(({ heldId }) => heldId !== one.heldId))
  const rows = await live.rows(
    `select count(*) filter (where removed_at is null) as present, count(*) filter (where removed_at is not null) as gone
    from collab.document_users where organization_id = $1 and document_id = $2`,
    organizationId,
    one.documentId,
  )
  expect(rows).toEqual([{ present: 0, gone: one.usersMissing }])
  await expect(collabSync.acceptHeld(one.heldId)).rejects.toThrow(
    `Listing ${one.heldId} has no open held removal: 1 was accepted.`,
  )

  await collabSync.refuseHeld(left[0]?.heldId ?? 0, { reason: 'They are on leave.' })
  const counted = (await collabSync.listOrganizations()).items
  expect(counted.filter((each) => each.held > 0 || each.refused > 0)).toMatchObject([
    { organizationId, held: held.length - 2, refused: 1 },
  ])
})

test('what a later run has seen otherwise is not accepted by one who looked at the earlier answer', async () => {
  const [organizationId = ''] = live.world.organizationIds()
  const before = await runWithEmptyListingsOf(organizationId)
  const [one] = (await collabSync.listHeld()).items
  const heldId = one?.heldId as number
  const later = await runWithEmptyListingsOf(organizationId)
  await expect(collabSync.acceptHeld(heldId, { runId: before.run_id })).rejects.toThrow(
    `Listing ${heldId} has no open held removal of run ${before.run_id}. A later run may have received another response.`,
  )
  expect(await collabSync.acceptHeld(heldId, { runId: later.run_id })).toMatchObject({
    removed: one?.usersMissing,
  })
})

function runWithEmptyListingsOf(organizationId: string) {
  live.standIn.setFaults([{ kind: 'empty-list', match: { operation: 'users', organizationId } }])
  return live.run()
}
