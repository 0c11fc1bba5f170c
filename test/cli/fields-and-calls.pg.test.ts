import { beforeEach, describe, expect, test } from 'vitest'
import { places } from '../../src/demo/catalog.ts'
import type { Comment } from '../../src/demo/comments.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { openLive, openLoaded } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'
import { buildCommand } from './built-command.ts'

const command = await buildCommand()

/** The rows of a check of `doctor`. */
async function findings({ environment }: Live, check: string, more: Record<string, string> = {}) {
  const { document } = await command.json(['doctor'], { ...environment, ...more })
  return (document.findings as Finding[]).filter((each) => each.check === check)
}

describe('the field with the time of writing', () => {
  let live: Live
  let place: Place
  beforeEach(async () => {
    live = await openLoaded('none', {
      world: { organizations: 1, documentsPerOrganization: 1, annotationsPerDocument: 1 },
    })
    place = [...places(live.world)][0] as Place
  })

  const UPDATED_MS = Date.parse('2026-03-02T10:00:00.000Z')
  /** Comments with more fields each, every third of which was edited an hour after it was written. */
  const comments = (count: number, fieldsOf: (writtenMs: number, index: number) => object) =>
    Array.from({ length: count }, (_, index): Comment => {
      const lastUpdated = UPDATED_MS + index * 1000
      const writtenMs = lastUpdated - (index % 3 === 0 ? 3_600_000 : 0)
      return {
        commentId: index + 1,
        commentText: 'text',
        lastUpdated: new Date(lastUpdated).toISOString(),
        status: 'added',
        type: 'text',
        ...fieldsOf(writtenMs, index),
        from: { userId: 'ann', createdAt: UPDATED_MS - 1e9 } as NonNullable<Comment['from']>,
      }
    })
  const store = async (all: Comment[], settings: Record<string, string> = {}) => {
    live.world.putThread(place, { live: all, deleted: [] })
    await live.define(settings)
    await live.run({ settings })
  }
  const written = (settings?: Record<string, string>) => findings(live, 'written time', settings)

  test('doctor names it if nearly all comments have it, with the line for .env', async () => {
    await store(
      comments(40, (ms, index) => ({
        ...(index > 0 && { meta: { made: { seconds: ms / 1000, nanoseconds: 0 } } }),
        modified: new Date(UPDATED_MS + index * 1000).toISOString(),
        reminder: ms + 1_800_000,
        position: index + 1,
        'a.b': ms,
        day: '2026-03-01',
        ...(index % 4 > 0 && { sometimes: ms }),
      })),
    )
    expect(await written()).toEqual([
      {
        check: 'written time',
        state: 'warn',
        found: expect.stringContaining('meta.made may contain when a comment was written'),
        fix: expect.stringContaining('add the line COMMENT_WRITTEN_MEMBER=meta.made to .env'),
      },
    ])
    const settings = { COMMENT_WRITTEN_MEMBER: 'meta.made' }
    await live.define(settings)
    expect(await written(settings)).toEqual([])
  })

  test('it reads the comments with the newest lastUpdated, at least 20', async () => {
    const older = comments(100, () => ({}))
    const newer = comments(300, (made) => ({ made })).slice(100)
    await store([...older, ...newer])
    expect(await written()).toMatchObject([{ found: expect.stringContaining('newest 200') }])
    await live.rows('delete from collab_store.comments where comment_id < 282')
    expect(await written()).toEqual([])
  })

  test('a field that is not stored, or not any more, is not suggested', async () => {
    const all = comments(40, (made) => ({ made }))
    await store(all)
    expect(await written()).toMatchObject([{ state: 'warn' }])
    for (const settings of [{ PRIVACY_EXCLUDE: 'comment.made' }, { PRIVACY_RAW: 'drop' }]) {
      await live.define(settings)
      expect(await written(settings)).toEqual([])
    }
  })
})

describe('the calls of a run of everything', () => {
  test('are said alike by doctor and the catalog, as a run and a dry run count them', async () => {
    const live = await openLive('none')
    const { environment } = live
    const lines = [...places(live.world)].map((place) => JSON.stringify(place)).join('\n')
    const imported = await command.runProcess(['catalog', 'import', '-'], environment, lines)
    const [said] = /^A run of everything .*$/m.exec(imported.stdout) ?? []
    const { scopes_expected: scopes } = await live.run()
    const { document } = await command.json(['run', '--dry-run'], environment)
    expect(document.total).toMatchObject({ scopes, calls: scopes })
    expect(said).toBe(`A run of everything makes about ${String(scopes)} calls.`)
    const everywhere = async (settings: Record<string, string>) => {
      const shown = await command.run(['catalog', 'show'], { ...environment, ...settings })
      const [checked] = await findings(live, 'full run', settings)
      expect(checked).toMatchObject({ state: 'ok' })
      expect(shown.stdout.split('\n')).toContain(checked?.found)
      return checked?.found
    }
    expect(await everywhere({})).toBe(said)

    const atLimit = await everywhere({ SYNC_RATE_LIMIT: '0.5' })
    expect(atLimit).toMatch(`${said} At SYNC_RATE_LIMIT=0.5, this takes about `)
    await command.run(['pace', '0.25'], environment)
    expect(await everywhere({ SYNC_RATE_LIMIT: '0.5' })).toMatch(
      `${said} At the pace of 0.25 calls a second, this takes about `,
    )
    expect(await everywhere({ SYNC_RATE_LIMIT: '0.1' })).toContain(' At SYNC_RATE_LIMIT=0.1, ')
    const users = await everywhere({ SYNC_OPERATIONS: 'users' })
    expect(users).not.toContain(said)
  })

  test('are not said of an empty catalog, nor by an import that changes nothing', async () => {
    const live = await openLive('none')
    expect(await findings(live, 'full run')).toEqual([])
    const line = '{"organizationId": "acme"}'
    const args = ['catalog', 'import', '-', '--dry-run']
    const { stdout } = await command.runProcess(args, live.environment, line)
    expect(stdout).toContain('Nothing was changed')
    expect(stdout).not.toContain('A run of everything')
  })
})
