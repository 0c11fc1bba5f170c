import { expect, test } from 'vitest'
import { requireDefinitions } from '../../src/core/database/definitions.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { zoneDays } from '../../src/core/database/comment-rows.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { UsageError } from '../../src/base/errors.ts'
import { openLoaded } from '../helpers/live.ts'

const PROMISE = { freshnessPromiseMs: 26 * 3_600_000 }
const BERLIN = { ...PROMISE, reportTimeZone: 'Europe/Berlin' }

const live = await openLoaded('none', {
  world: {
    organizations: 1,
    documentsPerOrganization: 1,
    annotationsPerDocument: 1,
    commentsPerAnnotation: 0,
  },
})
const place = [...places(live.world)][0] as Place

const DAY_MS = 86_400_000

test.each([
  'UTC',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Africa/Monrovia',
  'Pacific/Apia',
  'Antarctica/Troll',
])('a day of %s is the one that PostgreSQL says, at whatever time', async (zone) => {
  const days = await zoneDays(live.database.pool, zone)
  // Every midnight of some years, by the clocks there, and what is around it; and times of three centuries.
  const { rows: midnights } = await live.database.pool.query<{ ms: string }>(
    `select (extract(epoch from (d at time zone $1)) * 1000)::bigint as ms
    from generate_series(timestamp '1935-01-01', '1938-01-01', '1 day') d
    union all select (extract(epoch from (d at time zone $1)) * 1000)::bigint
    from generate_series(timestamp '2009-01-01', '2027-01-01', '1 day') d`,
    [zone],
  )
  const first = Date.parse('1860-01-01')
  const times = [
    ...midnights.flatMap(({ ms }) => [Number(ms) - 1, Number(ms)]),
    ...Array.from({ length: 4000 }, (_, n) => first + n * 31 * DAY_MS + n * 1_234_567),
  ].filter((ms) => ms < Date.parse('2199-12-01'))
  const { rows } = await live.database.pool.query<{ day: number }>(
    `select (to_timestamp(ms / 1000.0) at time zone $1)::date - date '1970-01-01' as day
    from unnest($2::float8[]) with ordinality t (ms, n) order by n`,
    [zone, times],
  )
  const wrong = times.filter((ms, index) => days(ms) !== rows[index]?.day)
  expect(wrong.map((ms) => new Date(ms).toISOString())).toEqual([])
})

test('the two nights of clock change are counted right, whether a comment is new, added or edited, and when the zone changes', async () => {
  await migrate(live.database.url, BERLIN)
  const spring = ['2026-03-28T22:59', '2026-03-28T23:00', '2026-03-29T21:59', '2026-03-29T22:00']
  const autumn = ['2026-10-24T21:59', '2026-10-24T22:00', '2026-10-25T22:59', '2026-10-25T23:00']
  await check(spring)
  await check([...spring, ...autumn])
  const inSpring = ['2026-03-28 1', '2026-03-29 2', '2026-03-30 1']
  const inAutumn = ['2026-10-24 1', '2026-10-25 2', '2026-10-26 1']
  const inBerlin = [...inSpring, ...inAutumn]
  expect(await days('reporting.comment_activity_daily')).toEqual(inBerlin)
  expect(await weeks('reporting.author_activity')).toEqual([
    '2026-03-23 3',
    '2026-03-30 1',
    '2026-10-19 3',
    '2026-10-26 1',
  ])
  await check([...spring, ...autumn], ' edited')
  expect(await days('reporting.comment_activity_daily')).toEqual(inBerlin)
  for (const zone of ['America/New_York', 'UTC', 'Pacific/Auckland', 'Europe/Berlin']) {
    await migrate(live.database.url, { ...PROMISE, reportTimeZone: zone })
    const byDay = await days('reporting.comment_activity_daily')
    expect(await days(`reporting.comment_activity_daily_in('${zone}')`)).toEqual(byDay)
    expect(await weeks(`reporting.author_activity_in('${zone}')`)).toEqual(
      await weeks('reporting.author_activity'),
    )
    expect(byDay.join() === inBerlin.join(), zone).toBe(zone === 'Europe/Berlin')
  }
})

test('a zone that PostgreSQL does not know is refused, and a process with another one too', async () => {
  await migrate(live.database.url, BERLIN)
  const unknown = migrate(live.database.url, { ...PROMISE, reportTimeZone: 'Mars/Olympus' })
  await expect(unknown).rejects.toThrow(UsageError)
  await expect(unknown).rejects.toThrow('REPORT_TZ is Mars/Olympus, a time zone that')
  await requireDefinitions(live.database.pool, BERLIN)
  await expect(requireDefinitions(live.database.pool, PROMISE)).rejects.toThrow(
    'REPORT_TZ is UTC in the settings of this process and Europe/Berlin in the database',
  )
})

/** A run finds comments of these minutes. */
async function check(minutes: readonly string[], more = ''): Promise<void> {
  const comments = minutes.map((minute, index) => ({
    commentId: index + 1,
    commentText: `at ${minute}${more}`,
    from: { userId: 'ann' },
    lastUpdated: `${more === '' ? minute : '2026-12-01T00:00'}:00.000Z`,
    status: 'added',
    type: 'text',
  }))
  live.world.putThread(place, { live: comments, deleted: [] })
  const { status } = await live.run({ settings: { REPORT_TZ: 'Europe/Berlin' } })
  expect(status).toBe('succeeded')
}

function days(from: string): Promise<string[]> {
  return ask(`select day::text, sum(comments) from ${from} group by 1 order by 1`)
}

function weeks(from: string): Promise<string[]> {
  return ask(`select week::text, sum(comments) from ${from} group by 1 order by 1`)
}

async function ask(text: string): Promise<string[]> {
  const { rows } = await live.database.pool.query({ text, rowMode: 'array' })
  return rows.map((row: unknown[]) => row.join(' '))
}
