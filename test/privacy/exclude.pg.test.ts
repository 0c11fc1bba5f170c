import { beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { requireDefinitions } from '../../src/core/database/definitions.ts'
import { checkExcluded } from '../../src/cli/doctor/check-fields.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { buildCommand } from '../cli/built-command.ts'
import { expectTablesEqual } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { membersOf } from '../reporting/observed.ts'

const EXCLUDED =
  'comment.attachments[].url comment.from.photoUrl comment.readBy.*.seen comment.sent user.photoUrl'
const SETTINGS = { PRIVACY_EXCLUDE: EXCLUDED }

const command = await buildCommand()
let live: Live
let place: Place
beforeEach(async () => {
  live = await openLoaded('none')
  place = [...places(live.world)].find((each) => live.world.comments(each)?.length) as Place
  await live.define(SETTINGS)
})

/** Signs every address of the service anew, as a service with signed addresses does. */
function sign(signature: string): void {
  const photoUrl = `https://cdn.example/a.png?sig=${signature}`
  for (const each of places(live.world)) {
    const { live: comments = [], deleted = [] } = live.world.thread(each) ?? {}
    const signed = comments.map((comment) => ({
      ...comment,
      ...(comment.from === undefined ? {} : { from: { ...comment.from, photoUrl } }),
      attachments: [{ name: 'a.png', url: photoUrl }, 'none'],
      readBy: { ann: { seen: photoUrl, kept: 1 } },
      sent: photoUrl,
    }))
    live.world.putThread(each, { live: signed as never, deleted })
  }
  for (const id of live.world.organizationIds())
    for (const user of live.world.users(id) ?? []) live.world.putUser(id, { ...user, photoUrl })
}

async function run(settings: Record<string, string> = SETTINGS) {
  const row = await live.run({ settings })
  expect(row.status).toBe('succeeded')
  return row
}

const stored = () =>
  live.rows(`select raw::text, changed_at from collab.comments union all
    select raw::text, changed_at from collab.users order by 1, 2`)
const changes = async () =>
  Number((await live.rows('select count(*) from collab_store.changes'))[0].count)

describe('excluded fields', () => {
  test('are not stored, and a night in which only they changed writes no row and no change', async () => {
    sign('one')
    await run()
    // The stand-in returns records in another order each time.
    const digests = () =>
      live.rows('select content_digest from collab_store.annotations order by annotation_key')
    const now = async () => [await stored(), await changes(), await digests()]
    const before = await now()
    const texts = (await stored()).map(({ raw }) => raw).join()
    expect(texts).not.toContain('sig=')
    expect(texts).toContain('"attachments": [{"name": "a.png"}, "none"]')
    expect(texts).toContain('"readBy": {"ann": {"kept": 1}}')
    sign('two')
    expect(await run()).toMatchObject({ records_updated: 0, records_inserted: 0 })
    expect(await now()).toEqual(before)
  })

  test('are counted as observed, so that none is reported as absent', async () => {
    sign('one')
    await run()
    const members = await membersOf(live.database.pool)
    const paths = ['attachments[].url', 'from.photoUrl', 'readBy.ann.seen', 'sent']
    expect([...members.keys()]).toEqual(expect.arrayContaining(paths))
  })

  test('of rows that are stored leave with the next run, and return when a path or the setting is removed', async () => {
    await live.define({})
    sign('one')
    await run({})
    const before = (await stored()).map(({ raw }) => raw)
    const comments = (await live.rows('select count(*)::int from collab.comments'))[0].count
    const users = (await live.rows('select count(*)::int from collab.users'))[0].count
    const changed = { freshnessPromiseMs: 93_600_000, privacyExclude: EXCLUDED }
    expect(await migrate(live.database.url, changed)).toMatchObject({
      privacy: [{ setting: 'PRIVACY_EXCLUDE', before: null, now: EXCLUDED }],
      rewritten: [
        { object: 'comment', records: comments },
        { object: 'user', records: expect.closeTo(users, -1) },
      ],
    })
    expect(await run()).toMatchObject({ records_updated: expect.any(Number) })
    expect((await stored()).map(({ raw }) => raw).join()).not.toContain('sig=')
    const fewer = { PRIVACY_EXCLUDE: 'comment.sent user.photoUrl' }
    await live.define(fewer)
    await run(fewer)
    // Also of responses of one comment, whose bytes are those of the run before.
    const signed = `select distinct raw::text like '%sig=%' as signed from collab.comments`
    expect(await live.rows(signed)).toEqual([{ signed: true }])
    await live.define({})
    await run({})
    expect((await stored()).map(({ raw }) => raw)).toEqual(before)
    await expectTablesEqual(live.database, live.world)
  })

  test('leave the digests of records without them as they are', async () => {
    await live.define({ PRIVACY_EXCLUDE: 'user.photoUrl' })
    await run({ PRIVACY_EXCLUDE: 'user.photoUrl' })
    await live.define({ PRIVACY_EXCLUDE: 'comment.none user.photoUrl' })
    const again = { PRIVACY_EXCLUDE: 'comment.none user.photoUrl' }
    expect(await run(again)).toMatchObject({ records_updated: 0, records_inserted: 0 })
  })

  test('are in no rejected record, and the time of writing is still read from them', async () => {
    await live.define({ ...SETTINGS, COMMENT_WRITTEN_MEMBER: 'sent' })
    const from = { userId: 'u', photoUrl: 'https://cdn.example/a.png?sig=one' }
    const thread = live.world.thread(place) ?? { live: [], deleted: [] }
    const text = { commentId: 9001, commentText: 'odd \0', from, sent: '2026-01-07T00:00:00Z' }
    live.world.putThread(place, { ...thread, live: [...thread.live, text as never] })
    await live.run({ settings: { ...SETTINGS, COMMENT_WRITTEN_MEMBER: 'sent' } })
    const [{ record }] = await live.rows('select record from sync.rejected_records')
    expect(record).toContain('odd')
    expect(record).not.toContain('sig=')
    const [row] = await live.rows(
      'select written_at, raw from collab.comments where comment_id = 9001',
    )
    expect(row).toMatchObject({ written_at: new Date('2026-01-07T00:00:00Z') })
    expect(row.raw).not.toHaveProperty('sent')
  })

  test('do not return with an erasure', async () => {
    sign('one')
    await run()
    const userId = live.world.comments(place)?.find(({ from }) => from?.userId)?.from?.userId ?? ''
    await eraseUser(live.database.pool, { userId, organizationId: null, reason: 'asked' })
    sign('two')
    await run()
    const texts = (await stored()).map(({ raw }) => raw).join()
    expect(texts).not.toContain('sig=')
    expect(texts).not.toContain(`"${userId}"`)
    sign('three')
    expect(await run()).toMatchObject({ records_updated: 0, records_inserted: 0 })
  })
})

test('a process with other paths does not start, and a running one uses those of migrate', async () => {
  const promise = { freshnessPromiseMs: 93_600_000 }
  await expect(requireDefinitions(live.database.pool, promise)).rejects.toThrow(
    `PRIVACY_EXCLUDE is not set in the settings of this process and ${EXCLUDED} in the database.`,
  )
  const drop = requireDefinitions(live.database.pool, { ...promise, privacyRaw: 'drop' })
  await expect(drop).rejects.toThrow('PRIVACY_RAW is drop in the settings of this process and keep')
  await run()
  await live.define({ PRIVACY_RAW: 'drop' })
  // This app was opened before.
  await run()
  expect(
    await live.rows(`select from collab.users where raw ? 'photoUrl' or raw ? 'isAdmin'`),
  ).toEqual([])
})

test('migrate refuses a documented field, and prints what changes', async () => {
  await live.define({})
  sign('one')
  await run({})
  const migrateWith = (paths: string) =>
    command.run(['migrate'], { DATABASE_URL: live.database.url, PRIVACY_EXCLUDE: paths })
  const refused = await migrateWith('comment.sent comment.from')
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(/PRIVACY_EXCLUDE must not contain comment\.from, because /)
  const { code, stdout } = await migrateWith('comment.sent')
  expect(code).toBe(0)
  expect(stdout).toContain(
    'PRIVACY_EXCLUDE was not set and is now comment.sent: workers that are running use it too. The next run writes about 293 comments again, estimated from reporting.observed_members.',
  )
})

test('doctor warns of a path that no record had, once records were read', async () => {
  const paths = 'comment.readBy.*.at comment.readBy.ann.seen comment.none user.photoUrl'
  const check = () => checkExcluded(live.database.pool, { privacyExclude: paths })
  expect(await check()).toBe(null)
  sign('one')
  await run()
  const fix = 'correct PRIVACY_EXCLUDE, then run collab-sync migrate; SELECT object, member FROM reporting.observed_members lists all paths' // prettier-ignore
  const found = 'PRIVACY_EXCLUDE has paths that no record had so far: comment.readBy.*.at comment.none' // prettier-ignore
  expect(await check()).toEqual({ check: 'excluded fields', state: 'warn', found, fix })
})
