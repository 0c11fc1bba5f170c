import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { readFreshness } from '../../src/client/freshness.ts'
import { readAttention } from '../../src/client/waiting.ts'
import { catalogLines } from '../../src/demo/catalog.ts'
import { describeStale } from '../../src/schemas/format.ts'
import { buildCommand } from '../cli/built-command.ts'
import { openLive } from '../helpers/live.ts'
import { askPages } from '../pages/open-pages.ts'
import { hostileComments } from '../pages/hostile.ts'
import type { FaultRule } from '../service/faults.ts'

/** Nights made on purpose: what pages, commands, /v1 and SQL say of one state, and that its fixes work. */

const live = await openLive('none', { settings: { SYNC_RETRIES: '0' } })
const command = await buildCommand()
// As `schedule remove` does, since no worker starts.
await live.database.pool.query(
  `insert into sync.schedule (cron, time_zone, removed) values ('0 2 * * *', 'UTC', true)`,
)
const settings = live.environment
const [first, second] = [...live.world.organizationIds()] as [string, string]

const lines = () => [...catalogLines(live.world)]

/** Imports the catalog as the file catalog.ndjson would, which lacks the first organization if it `isCut`. */
function write(isCut: boolean): void {
  const kept = lines().filter((line) => !isCut || line.organizationId !== first)
  const text = kept.map((line) => `${JSON.stringify(line)}\n`).join('')
  writeFileSync(join(command.directory, 'catalog.ndjson'), text)
}

async function runWith(...faults: FaultRule[]) {
  live.standIn.setFaults(faults)
  const run = await live.run()
  live.standIn.setFaults([])
  return run
}

/** Runs the commands that the fix of a kind names, in their order, without the decision that it does not take. */
async function runFix(kind: string, without?: 'accept' | 'refuse'): Promise<void> {
  const rows = (await readAttention(live.database.pool)).filter((row) => row.kind === kind)
  expect(rows.map((row) => row.kind)).toEqual([kind])
  const named = [...(rows[0]?.fix.matchAll(/`collab-sync ([^`]+)`/g) ?? [])].map(
    ([, fix = '']) => fix,
  )
  const fixes = named.filter((fix) => !fix.startsWith(`${without} `) || fix.endsWith(' --dry-run'))
  expect(fixes.length).toBeGreaterThan(0)
  for (const fix of fixes) {
    const args = fix.replace('FILE', 'catalog.ndjson').replace('TEXT', 'wrong').split(' ')
    const { code, stderr } = await command.run(args, settings)
    expect({ fix, isRefused: code === 2, stderr }).toMatchObject({ isRefused: false })
  }
}

test('the fix of each open problem works in its state', async () => {
  write(false)
  await runFix('catalog_empty')
  await runFix('never_checked')
  await runWith({ kind: 'forbidden', match: { operation: 'comments', organizationId: first } })
  await runFix('failing')
  await runWith({ kind: 'empty-list', match: { operation: 'users', organizationId: first } })
  await runFix('held', 'refuse')
  await runWith({ kind: 'empty-list', match: { operation: 'users', organizationId: second } })
  await runFix('held', 'accept')
  await runWith(hostileComments(first))
  await runFix('rejected')
  await live.run()
  expect(await readAttention(live.database.pool)).toEqual([])
})

test('a held import waits, shows what it lacks, and after a refusal says what applies it', async () => {
  write(true)
  const lacking = lines().filter(({ organizationId }) => organizationId === first)
  expect(
    (await command.run(['catalog', 'import', 'catalog.ndjson', '--prune'], settings)).code,
  ).toBe(3)
  expect(await readAttention(live.database.pool)).toMatchObject([
    { kind: 'catalog_held', urgency: 'medium' },
  ])
  const shown: object[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = cursor === '' ? [] : ['--cursor', cursor]
    const args = ['catalog', 'show', '--limit', '20', ...page]
    const { document } = await command.json(args, settings)
    shown.push(...document.lacking.items)
    cursor = document.lacking.nextCursor
  }
  expect(shown).toHaveLength(lacking.length)
  for (const { organizationName: _, ...line } of lacking.slice(1) as Record<string, string>[])
    expect(shown).toContainEqual(
      expect.objectContaining({
        organizationId: line['organizationId'],
        documentId: line['documentId'] ?? null,
      }),
    )
  const { stdout } = await command.run(['catalog', 'show'], settings)
  expect(stdout).toContain('The held import lacks')

  await runFix('catalog_held', 'accept')
  expect(
    (await command.run(['catalog', 'import', 'catalog.ndjson', '--prune'], settings)).code,
  ).toBe(3)
  expect(await readAttention(live.database.pool)).toMatchObject([
    { kind: 'catalog_failed', urgency: 'medium' },
  ])
  await runFix('catalog_failed')
  expect(await readAttention(live.database.pool)).toEqual([])
  await importCatalog(live.database.pool, listSource('test', lines()), { prune: true })
  await live.run()
})

test('a refused token makes all scopes stale, and everything says why', async () => {
  await runWith({ kind: 'forbidden', match: { operation: 'comments', organizationId: first } })
  await runWith({ kind: 'unauthenticated' })
  const freshness = await readFreshness(live.database.pool)
  const { scopes, stale, failing, notTried, tooOld, uncheckedSinceStop } = freshness
  expect([stale, notTried, tooOld]).toEqual([scopes, 0, 0])
  expect(failing).toBeGreaterThan(0)
  expect(failing + uncheckedSinceStop).toBe(stale)
  const why = `${failing} failing, ${uncheckedSinceStop} not checked since a full run was stopped`
  expect(describeStale(freshness)).toBe(why)

  const app = await live.openApp()
  const pages = await askPages(app)
  expect(await pages.words('/')).toContain(`${scopes} of ${scopes} scopes are stale: ${why}.`)
  expect((await command.run(['status'], settings)).stdout).toContain(`${stale} stale (${why})`)
  const answer = await pages.get('/v1/freshness')
  expect(JSON.parse(answer.text)).toMatchObject({ stale, failing, tooOld, uncheckedSinceStop })
  expect(
    await live.rows('select count(*)::int as stale from reporting.freshness where is_stale'),
  ).toEqual([{ stale }])
})
