import { expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import { edit } from '../../src/demo/changes.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { isMissing, openLoaded, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { scopeOf } from '../helpers/places.ts'
import { until } from '../helpers/until.ts'

let live: Live | undefined

/** Nine whole batches: all jobs in hand, all places and all permits are taken by the run of everything. */
const WORLD = {
  organizations: 3,
  documentsPerOrganization: 4,
  annotationsPerDocument: 150,
  commentsPerAnnotation: 1,
}
/** Half of a batch: who has waited for the end of one has seen more. */
const CALLS_BEFORE_IT = 128
const NARROW_RUNS = 3

test.for([
  { kind: 'postgres', workers: 1, settings: {} },
  { kind: 'redis', workers: 2, settings: { SYNC_RATE_LIMIT: '60' } },
] as const)(
  'a narrow run ends beside a run of everything, which ends too: queue in $kind, $workers workers, $settings',
  { timeout: 300_000 },
  async ({ kind, workers, settings }, { skip }) => {
    skip(isMissing(kind), 'no Redis')
    live = await openLoaded(kind, {
      world: WORLD,
      settings: { SYNC_CONCURRENCY: '4', ...settings },
    })
    const { world, standIn, database } = live
    standIn.latencyMs = 100
    const { openWorker } = live
    const working = await Promise.all(Array.from({ length: workers }, () => openWorker()))
    const begin = async (scope?: object) => (await working[0]?.startRun(scope)) ?? ''
    const everything = await begin()
    await until('all permits are taken', () => standIn.calls.total >= 40 || null)

    for (const place of [...places(world)].slice(-NARROW_RUNS)) {
      const [comment] = world.comments(place) ?? []
      if (comment) edit(world, place, comment.commentId, { text: 'asked for by a person' })
      const before = standIn.calls.log.length
      const narrow = await begin(scopeOf(place))
      expect(await settled(database, narrow)).toMatchObject({ status: 'succeeded' })
      const its = standIn.calls.log
        .slice(before)
        .findIndex(({ data }) => JSON.stringify(data).includes(place.annotationId))
      expect(its).toBeGreaterThanOrEqual(0)
      expect(its).toBeLessThan(CALLS_BEFORE_IT)
    }
    const status = 'select status from sync.runs where run_id = $1'
    expect(await live.rows(status, everything)).toEqual([{ status: 'running' }])
    standIn.latencyMs = 0
    expect(await settled(database, everything)).toMatchObject({ status: 'succeeded' })
    await Promise.all(working.map((each) => each.stop()))
    await expectTablesEqual(database, world)
  },
)
