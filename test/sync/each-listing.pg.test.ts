import { expect, test } from 'vitest'
import { RECORDS } from '../../src/base/columns.ts'
import { OPERATION_NAMES, OPERATIONS } from '../../src/base/operations.ts'
import type { Operation, ScopeKind } from '../../src/base/operations.ts'
import { transaction } from '../../src/core/database/pool.ts'
import { decideHeld } from '../../src/core/sync/held.ts'
import { moduleOf } from '../../src/core/sync/operation.ts'
import { itemsOf, successBody } from '../../src/demo/operations.ts'
import { sendJson } from '../../src/demo/stand-in.ts'
import { verify } from '../../src/features/check/verify.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Fault } from '../service/faults.ts'

/** What becomes of records that a response lacks or that were edited, whatever its operation and kind. */

const live = await openLoaded('none', {
  world: { documentsPerOrganization: 1, groupsPerOrganization: 1, skew: false },
})
const app = await live.openApp()
const { pool } = live.database
const [organizationId = ''] = live.world.organizationIds()
await live.run()

const CASES = OPERATION_NAMES.flatMap((operation) =>
  OPERATIONS[operation].kinds.flatMap((kind) =>
    kind === 'annotation' ? [] : [{ operation, kind }],
  ),
)

test.each(CASES)(
  'a record that a listing of $operation of kind $kind lacks leaves, and is back when it is listed again',
  async (of) => {
    const before = await stored(of)
    expect(before.length).toBeGreaterThan(1)
    const since = new Date()
    const lost = await run(of, WITHOUT_ONE)
    expect(lost).toMatchObject({ status: 'succeeded', scopes_held: 0, records_updated: 0 })
    expect(removedIn(lost)).toBe(1)
    expect(await stored(of)).toHaveLength(before.length - 1)
    expect(await count(of)).toBe(before.length - 1)
    expect(await inView(of)).toEqual(await stored(of))
    expect(await most(of, since)).toBe(before.length)
    await run(of)
    expect(await stored(of)).toEqual(before)
    expect(await differing()).toBe(0)
  },
)

test.each<{ what: string; fault: Fault }>([
  { what: 'is one page of several', fault: { kind: 'half-with-next-page-token' } },
  { what: 'is empty', fault: { kind: 'empty-list' } },
])('a response that $what removes nothing until it is accepted', async ({ fault }) => {
  for (const of of CASES) {
    const before = await stored(of)
    expect(await run(of, fault)).toMatchObject({ status: 'partial', scopes_held: 1 })
    expect(await stored(of)).toEqual(before)
    const { listings } = await decideHeld({ database: pool }, { organizationId }, ACCEPTED)
    expect(listings).toBe(1)
    const left = await stored(of)
    expect(left.length).toBeLessThan(before.length)
    expect(left).toHaveLength(fault.kind === 'empty-list' ? 0 : before.length >> 1)
    expect(await count(of)).toBe(left.length)
    await run(of)
    expect(await stored(of)).toEqual(before)
    expect(await differing()).toBe(0)
  }
})

test.each(CASES)(
  'a record of a listing of $operation of kind $kind that cannot be stored is an open problem until it is gone',
  async (of) => {
    const open = () => live.rows('select operation from sync.unstored_records where is_open')
    expect(await run(of, WITH_AN_ODD_ONE)).toMatchObject({ status: 'partial' })
    expect(await open()).toEqual([{ operation: of.operation }])
    await run(of)
    expect(await open()).toEqual([])
  },
)

test('a record that one page of several lacked leaves with the next whole response that lacks it', async () => {
  for (const of of CASES) {
    const before = await stored(of)
    expect(await run(of, PAGE_WITHOUT_ONE)).toMatchObject({ status: 'partial', scopes_held: 1 })
    expect(await stored(of)).toEqual(before)
    expect(await run(of, WITHOUT_ONE)).toMatchObject({ status: 'succeeded', scopes_held: 0 })
    expect(await stored(of)).toHaveLength(before.length - 1)
    await run(of)
    expect(await stored(of)).toEqual(before)
  }
})

test.each(OPERATION_NAMES)(
  'a record of %s that was edited and has a new field is stored so, once',
  async (operation) => {
    const { columns } = RECORDS[OPERATIONS[operation].record]
    const words = columns.find(({ member, type }) => type === 'text' && !member?.includes('.'))
    const edited = (item: string) => {
      const record: object | null = JSON.parse(item)
      return JSON.stringify(record && { ...record, [words?.member ?? '']: 'edited', odd: [1] })
    }
    live.standIn.setFaults([
      {
        kind: 'custom',
        match: { operation },
        respond: (request, response) => {
          const items = itemsOf(live.world, request) ?? []
          sendJson(response, 200, successBody(operation, items.map(edited)))
        },
      },
    ])
    const scope = { organizationIds: [organizationId], operations: [operation] }
    expect(await differing()).toBeGreaterThan(0)
    const { records_updated: updated } = await live.run({ scope })
    expect(updated).toBeGreaterThan(0)
    expect(await differing()).toBe(0)
    expect(await live.run({ scope })).toMatchObject({ status: 'succeeded', records_updated: 0 })
    live.standIn.setFaults([])
    expect(await live.run({ scope })).toMatchObject({ records_updated: updated })
  },
)

const ACCEPTED = { resolution: 'accepted', by: 'ann', reason: null } as const

/** The response without one of its records, which is the same one each time. */
const WITHOUT_ONE: Fault = {
  kind: 'custom',
  respond: (request, response) => {
    const items = itemsOf(live.world, request) ?? []
    sendJson(response, 200, successBody(request.operation, items.slice(1)))
  },
}

/** The response with one record more, which has no ID. */
const WITH_AN_ODD_ONE: Fault = {
  kind: 'custom',
  respond: (request, response) => {
    const items = itemsOf(live.world, request) ?? []
    sendJson(response, 200, successBody(request.operation, [...items, '{}']))
  },
}

/** The response without one record, as one page of several. */
const PAGE_WITHOUT_ONE: Fault = {
  kind: 'custom',
  respond: (request, response) => {
    const items = itemsOf(live.world, request) ?? []
    const body = successBody(request.operation, items.slice(1))
    sendJson(response, 200, body.replace(/\}\}$/, ',"nextPageToken":"b2Zmc2V0OjI1"}}'))
  },
}

interface Of {
  readonly operation: Operation
  readonly kind: ScopeKind
}

/** A run in which only the response of this listing is at fault. */
async function run({ operation, kind }: Of, fault?: Fault) {
  const isOf = (data: object) =>
    kind ===
    ('documentId' in data
      ? 'document'
      : 'organizationUserGroupIds' in data
        ? 'group'
        : 'organization')
  live.standIn.setFaults(
    fault === undefined
      ? []
      : [{ ...fault, match: (request) => request.operation === operation && isOf(request.data) }],
  )
  return live.run({ scope: { organizationIds: [organizationId] } })
}

/** IDs that are stored of the only listing of its kind. */
async function stored({ operation, kind }: Of): Promise<string[]> {
  const { listed } = moduleOf(operation)
  const { key } = await listing({ operation, kind })
  const [ids] = await transaction(
    pool,
    async (client) => listed?.readStored(client, [{ kind, key }]) ?? [],
  )
  return [...(ids ?? [])].flatMap(([id, hasLeft]) => (hasLeft ? [] : [id])).sort()
}

/** The same, as pages show it. */
async function inView(of: Of): Promise<string[]> {
  const rows = await live.rows(
    `select record_id as id from collab_store.listed_records where operation = $1 and kind = $2 and scope_key = $3`,
    of.operation,
    of.kind,
    (await listing(of)).key,
  )
  return rows.map(({ id }) => id).sort()
}

/** The largest size of the listing since a time. */
async function most({ operation, kind }: Of, since: Date): Promise<number | undefined> {
  const { listed } = moduleOf(operation)
  const { key } = await listing({ operation, kind })
  const sizes = await transaction(pool, async (client) =>
    listed?.readMost(client, [{ kind, key, since }]),
  )
  return sizes?.[0]
}

/** How many rows of a kind left, by the counts of a run. */
function removedIn(run: object): number {
  const removed = Object.entries(run).filter(([name]) => /_(removed|deleted)$/.test(name))
  return Math.max(...removed.map(([, counted]) => Number(counted)))
}

async function count(of: Of): Promise<number> {
  return (await listing(of)).count
}

async function listing({ operation, kind }: Of): Promise<{ key: number; count: number }> {
  const [row] = await live.rows(
    `select l.scope_key as key, l.record_count as count
    from collab_store.listings l
    join collab_store.batches using (batch_key)
    join collab_store.organizations using (organization_key)
    where l.operation = $1 and l.kind = $2 and organization_id = $3`,
    operation,
    kind,
    organizationId,
  )
  return row
}

async function differing(): Promise<number> {
  const report = await verify(app.sync, {
    scope: { organizationIds: [organizationId] },
    sample: 1_000,
  })
  return report.differing
}
