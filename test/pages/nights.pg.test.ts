import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { expect, test } from 'vitest'
import { Nights } from '../../src/http/pages/overview/nights.tsx'
import { time } from '../../src/schemas/format.ts'
import { openLoaded } from '../helpers/live.ts'
import { askPages, unescaped } from './open-pages.ts'

/** The nights of the overview. */

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

type Night = Parameters<typeof Nights>[0]['nights'][number]

const night = (place: number, members: Partial<Night> = {}): Night => ({
  dueAt: new Date(Date.UTC(2026, 10, 1, 2) + place * DAY_MS),
  runId: `run-${place}`,
  status: 'succeeded',
  calls: 100,
  durationMs: 10 * MINUTE_MS,
  ...members,
})
const missed = (place: number) =>
  night(place, { runId: null, status: 'missed', calls: null, durationMs: null })

const drawn = (nights: readonly Night[]) => render(h(Nights, { nights }))
const heights = (html: string) =>
  [...html.matchAll(/<rect [^>]*?height="([\d.]+)"/g)].map(([, height]) => Number(height))
const lines = (html: string, of: string) => {
  const [, svg = ''] = new RegExp(`class="line ${of}"(.*?)</svg>`).exec(html) ?? []
  return [...svg.matchAll(/points="(.*?)"/g)].map(([, points]) => points)
}

test('a bar is as high as its night was long, and one far above the others is cut and marked', () => {
  const html = drawn([
    night(0),
    night(1, { durationMs: 20 * MINUTE_MS }),
    night(2, { durationMs: 600 * MINUTE_MS }),
    night(3),
    night(4),
  ])
  expect(heights(html)).toEqual([25, 50, 100, 25, 25])
  expect(html).toContain('Bars: duration, up to 40 min 00 s; a cut bar is longer')
  expect(html.split('class="cut"')).toHaveLength(2)
  expect(html).toContain('2026-11-03 02:00:00Z: succeeded in 10 h 00 min, 100 calls')
  expect(heights(drawn([night(0, { durationMs: 0 }), missed(1)]))).toEqual([0, 0])
})

test('a missed night is a gap in bars and line, a running one is hatched, and each has its words', () => {
  const html = drawn([
    night(0, { status: 'partial', calls: 50 }),
    missed(1),
    night(2, { status: 'failed', calls: 1 }),
    night(3, { status: 'queued', durationMs: null, calls: 0 }),
    night(4, { status: 'running', durationMs: 5 * MINUTE_MS }),
  ])
  expect(lines(html, 'wide')).toEqual(['0.5,50', '2.5,99 3.5,100 4.5,0'])
  expect(heights(html)).toEqual([100, 0, 100, 0, 50])
  expect(html.match(/fill="url\(#hatch\)"/g)).toHaveLength(1)
  const [bars = ''] = html.split('class="key"')
  const items = [...bars.matchAll(/<li class="(.*?)">.*?<\/li>/g)].map(([item, tone]) => [
    tone,
    /href="(.*?)"/.exec(item)?.[1],
    /class="tip">.*?Z: (.*?)</.exec(item)?.[1],
  ])
  expect(items).toEqual([
    ['warn', '/runs/run-0', 'partial in 10 min 00 s, 50 calls'],
    ['bad', undefined, 'missed'],
    ['bad', '/runs/run-2', 'failed in 10 min 00 s, 1 call'],
    ['info', '/runs/run-3', 'queued'],
    ['info', '/runs/run-4', 'in progress for 5 min 00 s, 100 calls'],
  ])
})

test('a small window has the line of the last 14 nights', () => {
  const html = drawn(Array.from({ length: 30 }, (_, place) => night(place, { calls: place })))
  const [wide = '', small = ''] = ['wide', 'small'].map((of) => lines(html, of)[0])
  expect(wide.split(' ')).toHaveLength(30)
  expect(small.split(' ')).toHaveLength(14)
  expect(small.split(' ').at(-1)).toBe('13.5,0')
})

test('the overview shows nights once a schedule has made one, and up to when the tables are complete', async () => {
  const live = await openLoaded('none', {
    world: { organizations: 1, documentsPerOrganization: 1 },
  })
  const pages = await askPages(await live.openApp())
  expect((await pages.page('/')).text).not.toContain('<details')

  await live.rows(
    `insert into sync.runs (run_id, trigger, status, scope, requested_at, finished_at)
    select gen_random_uuid(), 'cli', 'failed', '{}', now() - interval '50 hours', now() - interval '49 hours'`,
  )
  const before = (await pages.page('/')).text
  expect(before).not.toContain('class="nights"')
  const [, days = ''] = /<details id="days" open>(.*?)<\/details>/s.exec(before) ?? []
  expect([3, 4]).toContain(days.split('<tr').length - 2)

  await live.rows(
    `insert into sync.nightly_due select now() - n * interval '1 day' from generate_series(0, 39) n`,
  )
  const { run_id: runId } = await live.run({ trigger: 'schedule' })
  const [row] = await live.rows('select * from reporting.nightly order by due_at desc limit 1')
  expect(row).toMatchObject({ run_id: runId, status: 'succeeded', calls: expect.any(Number) })
  const after = unescaped((await pages.page('/')).text)
  expect(after).toMatch(/<details id="days">/)
  expect(after.split('class="tip"')).toHaveLength(31)
  expect(after).toContain(`href="/runs/${runId}"`)
  expect(after).toContain(`${time(row?.due_at)}: succeeded in `)
  expect(await pages.words('/')).toContain(
    `The tables are complete up to ${time(row?.complete_up_to)}`,
  )

  // The last night has no run.
  await live.rows(
    `update sync.runs set requested_at = requested_at - interval '1 day' where run_id = $1`,
    runId,
  )
  expect(await pages.words('/')).toMatch(
    /– The nightly run is due and has not started yet It was due at .* The nightly run of .* succeeded/,
  )
  await live.rows(`update sync.nightly_due set due_at = due_at - interval '3 hours'`)
  expect(await pages.words('/')).toContain('✕ The last nightly run did not start It was due at')
  await live.rows(
    `insert into sync.pauses (paused_at, paused_until, paused_by)
    values (now() - interval '4 hours', now() + interval '1 hour', 'a user')`,
  )
  expect(await pages.words('/')).toContain(
    '– The last nightly run did not start: the calls were paused It was due at',
  )
})
