import { beforeEach, describe, expect, test } from 'vitest'
import * as runs from '../../src/core/database/statements/runs.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { startRun } from '../../src/core/run/start.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { QUEUE_KINDS, isMissing, openLoaded, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

describe.each(QUEUE_KINDS)('what the service refuses, with the queue on %s', (queue) => {
  let live: Live
  let organizationId: string
  let place: Place

  beforeEach(async (context) => {
    if (isMissing(queue)) return context.skip()
    live = await openLoaded(queue, { world: { documentsPerOrganization: 12 } })
    organizationId = [...live.world.organizationIds()][0] as string
    place = [...places(live.world)].find((each) => each.organizationId !== organizationId) as Place
  })

  test('one organization refused for users and one annotation refused leave everything else in, and are made whole by themselves', async () => {
    live.standIn.setFaults([
      { kind: 'forbidden', match: { operation: 'users', organizationId } },
      { kind: 'bad-request', match: { operation: 'comments', ...place } },
    ])
    const run = await live.run()
    expect(run.status).toBe('partial')
    const failures = await live.rows('select * from sync.failures where run_id = $1', run.run_id)
    expect(failures).toHaveLength(Number(run['failures']))
    const ofUsers = failures.filter(({ operation }) => operation === 'users')
    expect(ofUsers).not.toEqual([])
    for (const failure of ofUsers) {
      // One that was not asked any more tells what the ones before it were told.
      expect(failure).toMatchObject({ organization_id: organizationId, http_status: 403 })
      expect(failure['error_status']).toMatch(/^(PERMISSION_DENIED|breaker_open)$/)
    }
    expect(ofUsers.some((failure) => failure['error_status'] === 'PERMISSION_DENIED')).toBe(true)
    expect(failures.filter(({ operation }) => operation === 'comments')).toMatchObject([
      {
        organization_id: place.organizationId,
        document_id: place.documentId,
        annotation_id: place.annotationId,
        http_status: 400,
        error_status: 'INVALID_ARGUMENT',
      },
    ])
    const tries = live.standIn.calls.log.filter(
      ({ data }) => JSON.stringify(data) === JSON.stringify(place),
    )
    expect([1, 2]).toContain(tries.length)
    const [ofForbidden, served] = await countComments(organizationId)
    expect(ofForbidden).toBe(served)
    expect(run['problem']).toMatch(/403/)
    expect(run['problem']).toMatch(/400/)

    live.standIn.setFaults([])
    const before = live.standIn.calls.total
    const again = await live.run({ failedOf: run.run_id })
    expect(again).toMatchObject({ status: 'succeeded', scopes_planned: failures.length })
    expect(live.standIn.calls.total - before).toBe(failures.length)
    await expectTablesEqual(live.database, live.world)
  })

  test('an operation refused everywhere does not stop the other, and is told as one problem with its likely cause', async () => {
    live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'users' } }])
    const run = await live.run()
    expect(run.status).toBe('partial')
    expect(run['problem']).toMatch(/Get Users is for client SDK v3 or earlier/)
    const [stored, served] = await countComments(null)
    expect(stored).toBe(served)
  })

  test('what a worker learned in one run stops nothing in the next, also where another worker began that', async () => {
    live.standIn.setFaults([{ kind: 'forbidden', match: { operation: 'users', organizationId } }])
    const { app } = await live.openWorker()
    const ask = async (beforehand: (runId: string) => Promise<void>) => {
      const request = { trigger: 'cli', scope: {}, requestKey: null } as const
      const { runId, items } = await startRun(app.sync, request)
      await beforehand(runId)
      await app.deliver(items)
      return settled(live.database, runId)
    }
    expect(await ask(async () => {})).toMatchObject({ status: 'partial' })
    live.standIn.setFaults([])
    const begin = async (runId: string) => {
      await runs.begin.run(live.database.pool, { runId })
    }
    expect(await ask(begin)).toMatchObject({ status: 'succeeded' })
  })

  /** The comments that the tables have, and those that the service has. */
  async function countComments(of: string | null): Promise<[stored: number, served: number]> {
    let served = 0
    for (const each of places(live.world))
      if (of === null || each.organizationId === of)
        served += live.world.comments(each)?.length ?? 0
    const [{ n }] = await live.rows(
      'select count(*)::int as n from collab.comments where $1::text is null or organization_id = $1',
      of,
    )
    return [n, served]
  }
})
