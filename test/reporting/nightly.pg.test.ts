import { beforeEach, describe, expect, test } from 'vitest'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import { resume } from '../../src/core/database/statements/pace.ts'
import { pausedNight } from '../../src/core/database/statements/schedule.ts'
import { noteSchedule } from '../../src/core/queue/schedule.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { openLive } from '../helpers/live.ts'

/** reporting.nightly, reporting.days and reporting.settings. */

const NIGHTLY = { cron: '0 2 * * *', timeZone: 'UTC', nightlyLateAfterMs: 3_600_000 }
const HOUR_MS = 3_600_000

const sql = async (text: string, values: unknown[] = []) => database.rows(text, ...values)
const one = async (text: string) => (await sql(text))[0]

const database = await createTestDatabase()
beforeEach(() =>
  sql(`truncate sync.nightly_due, sync.runs, sync.schedule, sync.pauses restart identity cascade;
    update collab_store.definitions set schedule = null, next_due_at = null, late_after = '1 hour'`),
)

const note = (schedule = NIGHTLY) => noteSchedule(database.pool, schedule)

/** The nightly run was due so many hours ago. */
const due = (...hours: number[]) =>
  sql(
    `insert into sync.nightly_due select now() - make_interval(secs => h * 3600) from unnest($1::float8[]) h`,
    [hours],
  )

async function runOf(
  hours: number,
  { status = 'succeeded', trigger = 'schedule', ended = hours - 0.5 } = {},
): Promise<string> {
  const [row] = await sql(
    `insert into sync.runs (trigger, status, requested_at, started_at, finished_at)
    select $1, $2, at, case when $2 <> 'queued' then at end,
      case when $2 not in ('queued', 'running') then now() - make_interval(secs => $4::float8 * 3600) end
    from (select now() - make_interval(secs => $3::float8 * 3600) as at) t
    returning run_id`,
    [trigger, status, hours, ended],
  )
  return row.run_id
}

/** Status of each night, the oldest first. */
const statuses = async () =>
  (await sql('select status from reporting.nightly order by due_at')).map(({ status }) => status)

describe('reporting.nightly', () => {
  test('matches each scheduled run with the time at which it was due', async () => {
    await due(80, 56, 32, 8)
    const onTime = await runOf(80)
    const late = await runOf(56 - 9)
    const early = await runOf(32 + 10 / 3600, { status: 'failed' })
    await runOf(31, { trigger: 'cli' })
    const underWay = await runOf(8, { status: 'running' })
    expect(await sql('select run_id, status from reporting.nightly order by due_at')).toEqual([
      { run_id: onTime, status: 'succeeded' },
      { run_id: late, status: 'succeeded' },
      { run_id: early, status: 'failed' },
      { run_id: underWay, status: 'running' },
    ])
    const { waited, is_over } = await one(
      `select extract(epoch from started_at - due_at)::float8 as waited, finished_at > started_at as is_over
      from reporting.nightly where run_id = '${late}'`,
    )
    expect(waited / 3600).toBeCloseTo(9)
    expect(is_over).toBe(true)
  })

  test('a night without a scheduled run is due, then missed, until one starts for it', async () => {
    await due(24.9, 0.9, -23.1)
    await runOf(24, { trigger: 'cli' })
    expect(await statuses()).toEqual(['missed', 'due'])
    await sql(`update sync.nightly_due set due_at = due_at - interval '0.2 hours'`)
    expect(await statuses()).toEqual(['missed', 'missed'])
    await runOf(0, { status: 'queued' })
    expect(await statuses()).toEqual(['missed', 'queued'])
  })

  test('a night is paused if a user paused the calls before it was late, and missed if no run follows the pause', async () => {
    const pause = (from: number, to: number) =>
      sql(
        `insert into sync.pauses (paused_at, paused_until, paused_by)
        select now() - make_interval(secs => $1::float8 * 3600), now() - make_interval(secs => $2::float8 * 3600), 'ann'`,
        [from, to],
      )
    const missed = () =>
      one(`select count(*)::int as n from sync.attention where kind = 'nightly_missed'`)
    const made = () => pausedNight.first(database.pool)
    await note()
    await sql(`update collab_store.definitions set schedule_since = '-infinity'`)
    await due(100, 50, 49, 2.5)
    // Long over, and longer than a night may be late.
    await pause(50.5, 49.2)
    await runOf(48)
    expect(await statuses()).toEqual(['missed', 'paused', 'succeeded', 'missed'])
    expect([await missed(), await made()]).toEqual([{ n: 1 }, undefined])
    // A pause that begins when the night is late already.
    await pause(1.4, -1)
    expect(await statuses()).toEqual(['missed', 'paused', 'succeeded', 'missed'])
    await sql(
      `update sync.pauses set paused_at = paused_at - interval '1 hour' where paused_until > now()`,
    )
    expect(await statuses()).toEqual(['missed', 'paused', 'succeeded', 'paused'])
    expect([await missed(), await made()]).toEqual([{ n: 0 }, undefined])
    const [night] = await sql('select max(due_at) as due_at from reporting.nightly')
    await resume.run(database.pool)
    expect([await missed(), await made()]).toEqual([{ n: 0 }, { dueAt: night.due_at }])
    await sql(
      `update sync.pauses set paused_until = now() - interval '1.1 hours' where pause_id > 1`,
    )
    expect(await statuses()).toEqual(['missed', 'paused', 'succeeded', 'missed'])
    expect([await missed(), await made()]).toEqual([{ n: 1 }, { dueAt: night.due_at }])
    const run = await runOf(0, { status: 'running' })
    expect([await missed(), await made()]).toEqual([{ n: 0 }, undefined])
    expect(await statuses()).toEqual(['missed', 'paused', 'succeeded', 'running'])
    await sql(
      `update sync.runs set status = 'succeeded', finished_at = now() where run_id = '${run}'`,
    )
    expect(await made()).toBeUndefined()
  })

  test('a run after several missed nights belongs to the last of them', async () => {
    await due(73, 49, 25, 0.5)
    await runOf(73)
    await runOf(20, { status: 'partial' })
    expect(await statuses()).toEqual(['succeeded', 'missed', 'partial', 'due'])
  })

  test('a run keeps its night until both are pruned; a missed night is pruned by its age', async () => {
    await due(800, 700, 600, 500)
    await runOf(800)
    const kept = await runOf(600, { ended: 100 })
    await prune(database.pool, new Date(Date.now() - 550 * HOUR_MS))
    expect(await sql('select run_id, status from reporting.nightly order by due_at')).toEqual([
      { run_id: kept, status: 'succeeded' },
      { run_id: null, status: 'missed' },
    ])
  })

  test('is complete up to the first claim of a run of everything that succeeded', async () => {
    const live = await openLive('none', {
      world: { organizations: 1, documentsPerOrganization: 1 },
    })
    const { pool } = live.database
    const nights = async () => live.rows('select * from reporting.nightly order by 1')
    const passes = () =>
      pool.query(`update sync.runs set requested_at = requested_at - interval '1 day';
        delete from sync.nightly_due; insert into sync.nightly_due values (now())`)
    await live.importCatalog()
    await passes()
    await live.run({ trigger: 'schedule' })
    const [night] = await nights()
    const rows = await live.rows('select min(checked_at) as at from reporting.freshness')
    expect(night).toMatchObject({ status: 'succeeded', complete_up_to: rows[0].at })
    expect(night.started_at <= rows[0].at && rows[0].at < night.finished_at).toBe(true)

    await passes()
    await live.run({ trigger: 'schedule', scope: { operations: ['users'] } })
    expect(await nights()).toMatchObject([{ status: 'succeeded', complete_up_to: null }])

    await passes()
    live.standIn.setFaults([{ kind: 'forbidden', match: { annotationId: 'ann-0' } }])
    await live.run({ trigger: 'schedule' })
    expect(await nights()).toMatchObject([{ status: 'partial', complete_up_to: null }])
  })
})

describe('the times at which the nightly run is due', () => {
  const all = async () =>
    (await sql('select due_at from sync.nightly_due order by 1')).map(({ due_at }) => +due_at)
  /** Moves all times by hours, as if so much time had passed; as a worker that has seen it stored them. */
  const pass = (hours: number) =>
    sql('update sync.nightly_due set due_at = due_at - make_interval(secs => $1::float8 * 3600)', [
      hours,
    ])

  test('are stored for the next 31 nights, once, however many workers there are', async () => {
    await Promise.all([note(), note(), note(), note()])
    const times = await all()
    expect(times).toHaveLength(31)
    expect(times.filter((time, n) => n > 0 && time - times[n - 1]! !== 24 * HOUR_MS)).toEqual([])
    await note()
    expect(await all()).toEqual(times)
    expect(await statuses()).toEqual([])
  })

  test('are those of the new schedule from its change on; past nights stay', async () => {
    await note()
    await pass(24 * 3)
    const past = (await all()).filter((time) => time < Date.now())
    expect(past).toHaveLength(3)
    const weekly = { ...NIGHTLY, cron: '30 4 * * 1', timeZone: 'Asia/Tokyo' }
    await Promise.all([note(weekly), note(weekly)])
    const times = await all()
    expect(times.slice(0, 3)).toEqual(past)
    expect(times).toHaveLength(34)
    expect(new Date(times[3]!).toISOString()).toMatch(/T19:30:00/)
    expect(times[33]! - times[3]!).toBe(30 * 7 * 24 * HOUR_MS)
  })

  test('end when the schedule is removed; a night that was missed before stays missed', async () => {
    await note()
    await pass(48)
    await sql(
      `insert into sync.schedule (cron, time_zone, removed) values ('0 2 * * *', 'UTC', true)`,
    )
    await note()
    expect(await all()).toHaveLength(2)
    await sql(`update sync.nightly_due set due_at = due_at - interval '2 hours'`)
    expect(await statuses()).toEqual(['missed', 'missed'])
  })

  test('stay where the clock of a worker is ahead, and go where another worker had an older schedule', async () => {
    await note()
    const times = await all()
    await sql(
      `insert into sync.nightly_due values (now() + interval '20 seconds'), (now() + interval '5 minutes')`,
    )
    await note()
    expect((await all()).filter((time) => !times.includes(time))).toHaveLength(1)
    await note({ ...NIGHTLY, cron: '0 3 * * *' })
    expect(await all()).toHaveLength(31)
  })
})

describe('reporting.days', () => {
  test.each(['UTC', 'America/New_York', 'Pacific/Auckland'])(
    'has the last 400 days of %s without a gap, today as its last',
    async (reportTimeZone) => {
      await setDefinitions(database.pool, { freshnessPromiseMs: 26 * HOUR_MS, reportTimeZone })
      const { days, lengths, gaps, today } = await one(
        `select count(distinct day)::int as days, count(*) filter (where begins_at <> before)::int as gaps,
          array_agg(distinct extract(epoch from ends_at - begins_at)::int / 3600) as lengths,
          (array_agg(day::text order by day desc))[1] = (now() at time zone '${reportTimeZone}')::date::text
            and max(begins_at) <= now() and max(ends_at) > now() as today
        from (select *, lag(ends_at) over (order by day) as before from reporting.days) d`,
      )
      expect({ days, gaps, today }).toEqual({ days: 400, gaps: 0, today: true })
      // The clocks change twice a year.
      expect(lengths).toEqual(reportTimeZone === 'UTC' ? [24] : [23, 24, 25])
    },
  )
})

test('reporting.settings has what reports depend on', async () => {
  await setDefinitions(database.pool, {
    freshnessPromiseMs: 7 * HOUR_MS,
    changeTargetMs: 2 * HOUR_MS,
    reportTimeZone: 'Europe/Berlin',
  })
  const settings = () =>
    one(
      `select report_time_zone, freshness_promise::text, change_target::text, schedule, schedule_time_zone
      from reporting.settings`,
    )
  const expected = {
    report_time_zone: 'Europe/Berlin',
    freshness_promise: '07:00:00',
    change_target: '02:00:00',
    schedule: null,
  }
  expect(await settings()).toMatchObject(expected)
  await noteSchedule(database.pool, { ...NIGHTLY, cron: '0 2 * * 1-5', timeZone: 'Asia/Tokyo' })
  expect(await settings()).toEqual({
    ...expected,
    schedule: '0 2 * * 1-5',
    schedule_time_zone: 'Asia/Tokyo',
  })
})
