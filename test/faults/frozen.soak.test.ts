import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DEAD_AFTER_S } from '../../src/core/database/claims.ts'
import * as workers from '../../src/core/database/statements/workers.ts'
import { addComment } from '../../src/demo/changes.ts'
import { places } from '../../src/demo/catalog.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openRig } from './rig.ts'
import type { Rig } from './rig.ts'
import { until } from '../helpers/until.ts'

/** A worker that stands still inside a transaction (SIGSTOP, a suspended machine) holds up the others for no longer than one
 * that is dead, and goes on as a worker when it wakes up. */

const WORLD = { organizations: 2, documentsPerOrganization: 2, annotationsPerDocument: 10 }
/** Together more than what fits between a process and PostgreSQL while nobody reads. */
const LONG_TEXT = 'long '.repeat(80_000)
const LONG_TEXTS = 25

/** Rows of a COPY of so many characters wait for a lock, which the test holds. */
const holdRows = (characters: number) => `
  create function hold_row() returns trigger language plpgsql as $$ begin
    if length(new::text) >= ${characters} then perform pg_advisory_xact_lock_shared(42); end if;
    return new;
  end $$;
  create trigger hold_row before insert on collab_store.comments for each row execute function hold_row()`

const SESSIONS = `select pid from pg_stat_activity
  where datname = current_database() and application_name like 'collab-sync worker%'`

let rig: Rig
let holder: pg.Client
beforeEach(async () => {
  rig = await openRig('postgres', { world: WORLD })
  holder = new pg.Client(rig.database.url)
  await holder.connect()
  await holder.query('select pg_advisory_lock(42)')
})
afterEach(async () => {
  await holder?.end()
})

const STATES = [
  { state: 'between two statements', condition: "state = 'idle in transaction'", long: false },
  {
    state: 'in the middle of a COPY',
    condition: "state = 'active' and wait_event = 'ClientRead' and query ilike '%copy%'",
    long: true,
  },
]

describe.each(STATES)('a worker that is frozen $state', ({ condition, long }) => {
  test('holds up the others until it is taken for dead, is named, and goes on when it wakes up', async () => {
    if (long) makeLong()
    await rig.rows(holdRows(long ? LONG_TEXT.length : 0))
    const runId = await rig.startRun()
    const frozen = await rig.start()
    await until('a COPY waits for the lock', () => isAny("wait_event = 'advisory'"))
    await sleep(1000) // It sends what it can meanwhile.
    frozen.freeze()
    await holder.query('select pg_advisory_unlock(42)')
    await until('PostgreSQL waits for it', () => isAny(condition))

    // As if it had stood still for longer.
    await rig.rows(`update sync.workers set heartbeat_at = heartbeat_at - interval '30 seconds'`)
    const known = await workers.read.all(rig.database.pool, { deadAfterS: DEAD_AFTER_S })
    const [held] = known.filter(({ holdsTransaction }) => holdsTransaction)
    expect(held?.workerId).toBeDefined()
    const other = await rig.start()
    expect(await rig.settled(runId, 150_000)).toMatchObject({ status: 'succeeded' })
    await expectTablesEqual(rig.database, rig.world)
    expect(other.stderr()).toMatch(/open transaction of a worker without a heartbeat/)
    expect(other.stderr()).toContain(held?.workerId)
    expect(await other.stop()).toBe(0)

    frozen.wake()
    const next = await rig.startRun()
    expect(await rig.settled(next, 120_000)).toMatchObject({ status: 'succeeded' })
    expect(await frozen.stop()).toBe(0)
    await expectTablesEqual(rig.database, rig.world)
    expect(await rig.rows('select from collab.comment_versions where version > 1')).toEqual([])
  })
})

async function isAny(condition: string): Promise<true | null> {
  return (await rig.rows(`${SESSIONS} and ${condition}`)).length > 0 ? true : null
}

/** Under one annotation, so that one COPY brings them all. */
function makeLong(): void {
  const [place] = places(rig.world)
  if (place === undefined) throw new Error('The world has no annotation.')
  for (let made = 0; made < LONG_TEXTS; made++) addComment(rig.world, place, { text: LONG_TEXT })
}
