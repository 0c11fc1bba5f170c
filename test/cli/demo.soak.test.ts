import { expect, test } from 'vitest'
import { ownFolder } from '../helpers/own-folder.ts'
import { buildCommand } from './built-command.ts'
import type { Environment } from './built-command.ts'

const command = await buildCommand()
const settings: Environment = { COLLAB_SYNC_HOME: ownFolder() }

test('the demo does the whole job by itself, whatever the other settings say, and may be repeated', async () => {
  const wrong = { DATABASE_URL: 'nonsense', REDIS_URL: 'redis://127.0.0.1:9', SYNC_RATE_LIMIT: '-' }
  const first = await command.runProcess(['demo'], { ...settings, ...wrong })
  expect(first.code).toBe(0)
  for (const part of [
    /1,664 lines imported/,
    /succeeded after/,
    /1,664: 1,664 succeeded/,
    /comments edited, .* 12 deleted, 6 of them restored, /,
    /\b6 found deleted/,
    /reporting\.comment_activity_daily/,
    /collab\.comment_versions/,
    /reporting\.freshness/,
    /collab-sync psql/,
  ])
    expect(first.stdout).toMatch(part)

  const second = await command.runProcess(['demo', '--json'], settings)
  expect(second.code).toBe(0)
  const document = JSON.parse(second.stdout)
  expect(document).toMatchObject({
    catalogLines: 1664,
    firstRun: { status: 'succeeded', scopesSucceeded: 1664 },
    secondRun: { status: 'succeeded', scopesSucceeded: 1664 },
  })
  const { recordsReceived, commentsWritten, usersWritten } = document.secondRun
  expect(commentsWritten + usersWritten).toBeGreaterThan(20)
  expect(commentsWritten + usersWritten).toBeLessThan(recordsReceived / 50)
  for (const rows of Object.values(document.reports)) expect(rows).not.toEqual([])
  const history: { commentText: string }[] = document.reports.commentHistory
  const texts = new Set(history.map((row) => row.commentText.slice(0, 60)))
  expect(texts.size).toBeGreaterThan(1)
  for (const text of texts) expect(text).toMatch(/^[ -~]+$/)
}, 300_000)

test('afterwards --demo shows what it left, of which the tables of yours have nothing', async () => {
  const away = { ...settings, DATABASE_URL: 'postgres://127.0.0.1:9/none' }
  const { stdout } = await command.runProcess(['status', '--demo', '--json'], away)
  expect(JSON.parse(stdout).runs).toHaveLength(4)
  const line = '{"organizationId":"mine"}'
  expect((await command.runProcess(['catalog', 'import', '-'], settings, line)).code).toBe(0)
  const mine = await command.runProcess(['catalog', 'show', '--json'], settings)
  expect(JSON.parse(mine.stdout).active).toMatchObject({ organizations: 1, documents: 0 })
}, 300_000)
