import { beforeEach, describe, expect, test } from 'vitest'
import { noCounts } from '../../src/schemas/counts.ts'
import { claimItem, commitItem } from '../../src/core/database/claims.ts'
import { setDefinitions } from '../../src/core/database/definitions.ts'
import { prune } from '../../src/features/privacy/prune.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import { parseScope } from '../../src/schemas/scope.ts'
import { eraseUser } from '../../src/features/privacy/erase/erase-user.ts'
import { startRun } from '../../src/core/run/start.ts'
import { buildCommand } from '../cli/built-command.ts'
import { rowsTouched } from '../helpers/expect-equal.ts'
import { openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

const PROMISE = { freshnessPromiseMs: 26 * 3_600_000 }
const WORLD = {
  organizations: 1,
  documentsPerOrganization: 1,
  annotationsPerDocument: 1,
  commentsPerAnnotation: 0,
  usersPerOrganization: 2,
  groupsPerOrganization: 0,
}

let live: Live
let place: Place
beforeEach(async () => {
  live = await openLoaded('none', { world: WORLD })
  place = [...places(live.world)][0] as Place
})

describe('without a member that says it', () => {
  test('a time that comes with the first edit is not that of writing', async () => {
    const { lastUpdated: _, ...timeless } = comment(1, 'ann', '2026-03-02')
    await night(timeless as Comment)
    await night(comment(1, 'ann', '2026-03-12'))
    await night(comment(1, 'ann', '2026-03-13'))
    expect(await written()).toEqual([[1, null, false]])
    expect((await activity()).days).toEqual(['null 1'])
  })

  test('it was not before the good check before the first look, where that check saw all of the thread', async () => {
    await night(comment(1, 'ann', '2026-03-02'))
    const first = await checkedAt()
    await night(comment(1, 'ann', '2026-03-02'), comment(2, 'bob', '2026-03-03'))
    const second = await checkedAt()
    live.standIn.setFaults([{ kind: 'forbidden', match: { annotationId: place.annotationId } }])
    await night(comment(3, 'ann', '2026-03-04'))
    live.standIn.setFaults([])
    await night(...[1, 2, 3].map((id) => comment(id, 'ann', '2026-03-05')))
    const third = await checkedAt()
    // This one cannot be stored: who comes next may have been there.
    await night(...[1, 2, 3].map((id) => comment(id, 'ann', '2026-03-05')), odd(4))
    await night(...[1, 2, 3, 4].map((id) => comment(id, 'ann', '2026-03-05')))
    await live.run({ scope: { ...scope(), commentIds: [1] } })
    expect(await notBefore()).toEqual([null, first, second, null])
    expect(third?.getTime()).toBeGreaterThan(second?.getTime() ?? Infinity)
  })

  test('a first load holds nothing for it, and an edit is the first to', async () => {
    await night(comment(1, 'ann', '2026-03-02'), comment(2, 'bob', '2026-03-03'))
    const kept = () => ask('select written_at, first_updated, not_before from collab_store.comments order by comment_id') // prettier-ignore
    expect(await kept()).toEqual([
      [null, null, null],
      [null, null, null],
    ])
    await night(comment(1, 'ann', '2026-03-12'), comment(2, 'bob', '2026-03-03'))
    expect(await kept()).toEqual([
      [null, new Date('2026-03-02Z'), null],
      [null, null, null],
    ])
    const touched = await rowsTouched(live.database)
    await night(comment(1, 'ann', '2026-03-12'), comment(2, 'bob', '2026-03-03'))
    expect(await rowsTouched(live.database)).toBe(touched)
  })
})

describe('with a member that says it', () => {
  const seconds = Date.parse('2026-01-07Z') / 1000
  const said = (id: number, at: unknown, more: object = {}) => ({
    ...comment(id, 'ann', '2026-03-02'),
    meta: { at },
    ...more,
  })

  test('each form of it is exact, and what is none is as if it were not there', async () => {
    await define('meta.at')
    const times = ['2026-01-07T00:00:00Z', seconds, seconds * 1000, { seconds }, { _seconds: seconds, _nanoseconds: 0 }] // prettier-ignore
    const none = [null, 'soon', 1e300, -5, { seconds: 'x' }, []]
    await night(...[...times, ...none].map((at, index) => said(index + 1, at)), comment(12, 'ann', '2026-03-02')) // prettier-ignore
    expect(await written()).toEqual([
      ...times.map((_, index) => [index + 1, '2026-01-07', true]),
      ...[...none, null].map((_, index) => [times.length + index + 1, '2026-03-02', false]),
    ])
    expect((await activity()).days).toEqual(['2026-01-07 5', '2026-03-02 7'])
  })

  test('edits, prune, erase and PRIVACY_RAW=drop keep it, and so does an answer that leaves it out', async () => {
    await define('meta.at')
    const settings = { PRIVACY_RAW: 'drop' }
    await night.with(settings)(said(1, seconds), said(2, seconds + 86_400, { from: { userId: 'bob' } })) // prettier-ignore
    expect(await ask("select raw ? 'meta' from collab.comments")).toEqual([[false], [false]])
    const before = [await written(), await activity()]
    await night.with(settings)(
      said(1, seconds, { lastUpdated: '2026-05-05T00:00:00.000Z' }),
      comment(2, 'bob', '2026-05-06'),
    )
    await prune(live.database.pool, new Date(Date.now() + 60_000))
    expect([await written(), await activity()]).toEqual(before)
    await eraseUser(live.database.pool, { userId: 'bob', organizationId: null, reason: 'asked' })
    await migrate(live.database.url, { ...PROMISE, commentWrittenMember: 'other' })
    member = 'other'
    await night.with(settings)(said(1, null), comment(2, 'bob', '2026-05-07'))
    expect(await written()).toEqual(before[0])
    expect(await written()).toEqual([
      [1, '2026-01-07', true],
      [2, '2026-01-08', true],
    ])
  })

  test('set, changed and taken back later, the past follows, and what was broken off is made up for', async () => {
    const both = (id: number, author: string, made: string, sent: string) => ({
      ...comment(id, author, '2026-03-02'),
      made: `${made}T00:00:00Z`,
      meta: { sent: Date.parse(`${sent}Z`) },
    })
    await night(both(1, 'ann', '2026-01-05', '2026-02-05'), both(2, 'bob', '2026-01-06', '2026-02-08'), comment(3, 'bob', '2026-03-02')) // prettier-ignore
    const without = [await written(), await activity()]
    const changedAt =
      'select changed_at from collab.comments union all select changed_at from collab.annotations order by 1'
    const stored = await ask(changedAt)
    const cursor = 'select reporting.changes_cursor()'
    const [[before]] = (await ask(cursor)) as [[string]]
    const told = `select object, change, key ->> 'comment_id' from reporting.changes('${before}') where object is not null order by 3`
    // A transaction that another test ended just then keeps the cursor back, and earlier changes are repeated.
    const repeated = (await ask(told)).map(String)
    expect(await define('made')).toMatchObject({
      derived: { writtenMember: 'made', reportTimeZone: 'UTC', comments: 3, changed: 2 },
    })
    expect(await written()).toEqual([
      [1, '2026-01-05', true],
      [2, '2026-01-06', true],
      [3, '2026-03-02', false],
    ])
    expect((await activity()).thread).toEqual(['2026-01-05', '2026-03-02', '2026-01-06', 24])
    expect((await activity()).days).toEqual(['2026-01-05 1', '2026-01-06 1', '2026-03-02 1'])
    // The service changed nothing; a copy that follows the feed gets the rows as they are now.
    expect(await ask(changedAt)).toEqual(stored)
    expect((await ask(told)).filter((row) => !repeated.includes(String(row)))).toEqual([
      ['comment', 'edited', '1'],
      ['comment', 'edited', '2'],
    ])
    const breaksOff = migrate(
      live.database.url,
      { ...PROMISE, commentWrittenMember: 'meta.sent' },
      {
        onDerived() {
          throw new Error('broken off')
        },
      },
    )
    await expect(breaksOff).rejects.toThrow('broken off')
    await migrate(live.database.url)
    expect((await written()).map(([, day]) => day)).toEqual(['2026-02-05', '2026-02-08', '2026-03-02']) // prettier-ignore
    expect((await activity()).thread?.[3]).toBe(72)
    const touched = await rowsTouched(live.database)
    await migrate(live.database.url)
    await define('meta.sent')
    expect(await rowsTouched(live.database)).toBe(touched)
    await define(undefined)
    expect([await written(), await activity()]).toEqual(without)
  })

  test('migrate prints what it computed again, of how many comments, and who gets them', async () => {
    await night(said(1, seconds), said(2, seconds), comment(3, 'bob', '2026-03-02'))
    const command = await buildCommand()
    const { url } = live.database
    const defined = { DATABASE_URL: url, COMMENT_WRITTEN_MEMBER: 'meta.at' }
    const { stdout } = await command.run(['migrate'], defined)
    expect(stdout).toContain(
      'The written times of stored comments were computed again, with COMMENT_WRITTEN_MEMBER = meta.at and REPORT_TZ = UTC: 2 of 3 changed.',
    )
    expect((await command.run(['migrate'], defined)).stdout).not.toContain('computed')
  })

  test('a response that was requested before it was set is discarded', async () => {
    const app = await live.openApp()
    const { items, runId } = await startRun(app.sync, {
      trigger: 'cli',
      scope: parseScope({ ...scope(), operations: ['comments'] }),
      requestKey: null,
    })
    const claims = []
    for (const { itemId } of items)
      claims.push(await claimItem(live.database.pool, { runId, itemId }, 'w'))
    const claim = claims.find((each) => each?.batchKey != null)
    if (claim == null) throw new Error('no batch was planned')
    await setDefinitions(live.database.pool, { ...PROMISE, commentWrittenMember: 'made' })
    const commit = { claim, counts: noCounts(), doneScopes: '1'.padEnd(256, '0'), isEnd: true }
    expect(await commitItem(live.database.pool, commit)).toBe(false)
    const ids = { runId, itemId: claim.itemId }
    expect(await claimItem(live.database.pool, ids, 'w')).toMatchObject({ writtenMember: 'made' })
  })
})

/** What the settings say now. */
let member: string | undefined
beforeEach(() => {
  member = undefined
})

async function define(name: string | undefined) {
  member = name
  return migrate(live.database.url, { ...PROMISE, commentWrittenMember: name })
}

/** A thread of one author's day. */
function comment(commentId: number, author: string, day: string): Comment {
  return {
    commentId,
    commentText: `of ${day}`,
    from: { userId: author },
    lastUpdated: `${day}T00:00:00.000Z`,
    status: 'added',
    type: 'text',
  }
}

/** A record without a sound key. */
function odd(commentId: number): Comment {
  return {
    ...comment(commentId, 'ann', '2026-03-05'),
    commentId: `${commentId}` as unknown as number,
  }
}

/** The service has these comments now, and a run looks. */
const night = Object.assign((...comments: Comment[]) => check(comments, {}), {
  with:
    (settings: Record<string, string>) =>
    (...comments: Comment[]) =>
      check(comments, settings),
})

async function check(comments: Comment[], settings: Record<string, string>) {
  live.world.putThread(place, { live: comments, deleted: [] })
  const own = member === undefined ? {} : { COMMENT_WRITTEN_MEMBER: member }
  await live.define({ ...settings, ...own })
  return live.run({
    settings: { ...settings, ...own },
  })
}

function scope() {
  const { organizationId, ...within } = place
  return { organizationIds: [organizationId], ...within }
}

/** What reports of writing say. */
async function activity() {
  const texts = async (sql: string) => (await ask(sql)).map((row) => row.join(' '))
  const [thread] = await ask(
    `select first_comment_at::date::text, last_comment_at::date::text, first_answer_at::date::text, hours_to_first_answer::int
    from reporting.thread_summary`,
  )
  const [document] = await ask(
    'select first_comment_at::date::text, last_comment_at::date::text from reporting.document_engagement',
  )
  return {
    days: await texts(
      `select coalesce(day::text, 'null'), comments from reporting.comment_activity_daily order by 1`,
    ),
    weeks: await texts(
      'select week::text, author_user_id, comments from reporting.author_activity order by 1, 2',
    ),
    thread,
    document,
  }
}

function written(): Promise<unknown[][]> {
  return ask(
    'select comment_id, written_at::date::text, written_at_is_exact from collab.comments order by 1',
  )
}

async function notBefore(): Promise<unknown[]> {
  return (await ask('select written_not_before from reporting.comments order by comment_id')).flat()
}

async function checkedAt(): Promise<Date | null> {
  return ((await ask('select checked_at from collab.annotations'))[0] as [Date | null])[0]
}

async function ask(text: string): Promise<unknown[][]> {
  return (await live.database.pool.query({ text, rowMode: 'array' })).rows
}
