import { expect, test } from 'vitest'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { buildCommand } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import { LINES, sourceOf } from './ninety-scopes.ts'

/** Commands of the catalog and what they print. */

const command = await buildCommand()
const database = await createTestDatabase()
await importCatalog(database.pool, sourceOf(LINES), { prune: true })

const run = (args: string[], input?: string) =>
  command.runProcess(args, { DATABASE_URL: database.url }, input)

const NOT_HELD = 'Import 7 of the catalog is not held, none is: see collab-sync catalog show.'

test.each([
  [['accept', '--catalog', '7'], NOT_HELD],
  [['refuse', '--catalog', '7'], NOT_HELD],
  [['accept'], 'Give a RUN, --listing, --organization or --catalog.'],
  [['refuse', '--listing', '1'], /^--reason is missing/],
  [['accept', '--catalog', '7', '--dry-run'], /^--dry-run is for listings/],
  [['catalog', 'import', '-', '--accept-all'], /^--accept-all needs --prune/],
  [
    ['catalog', 'add', '--organization', 'a', '--annotation', 'x'],
    /^--annotation needs --document/,
  ],
  [['catalog', 'show', '--group', 'g'], /^Name one organization, document/],
  [['run', '--add'], /^--add needs --organization/],
  [
    ['run', '--add', '--dry-run', '--organization', 'acme'],
    /^--add cannot be combined with --dry-run/,
  ],
])('%j is wrong use', async (args, sentence) => {
  const { code, stdout, stderr } = await run(args, '')
  expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({
    code: 2,
    stdout: '',
    lines: 1,
  })
  expect(stderr).toMatch(sentence)
})

test('a held import: exit code 3 with the commands that decide, status, and the decision', async () => {
  const text = LINES.slice(40)
    .map((line) => JSON.stringify(line))
    .join('\n')
  const prune = ['catalog', 'import', '-', '--prune']
  const held = await run(prune, text)
  expect(held.code).toBe(3)
  expect(held.stdout).toMatch(
    /lacks 40 of the 90 scopes in the catalog, and more than 10 % of organization "acme"\./,
  )
  expect(held.stdout).toMatch(/collab-sync accept --catalog 2\./)
  const json = await run([...prune, '--json'], text)
  expect(json.code).toBe(3)
  expect(JSON.parse(json.stdout)).toMatchObject({ held: { lacking: 40 }, catalog: {} })
  expect((await run(['status'])).stdout).toMatch(/it lacks 40 of 90 scopes/)
  expect((await run(['catalog', 'show'])).stdout).toMatch(/held .* lacks 40 of 90 scopes/)
  const dry = await run([...prune, '--dry-run'], text)
  expect(dry.code).toBe(3)
  expect(dry.stdout).toMatch(/annotations +0 +0 +40 [^]*The import would be held\./)
  const refusal = ['refuse', '--catalog', '2', '--reason', 'cut off']
  expect(await run(refusal)).toMatchObject({ code: 0 })
  const refused = await run(prune, text)
  expect(refused.code).toBe(3)
  expect(refused.stdout).toMatch(/an import that lacks the same scopes was refused/)
  expect((await run(['status'])).stdout).toMatch(/import 2 was refused/)
  const refusedDry = await run([...prune, '--dry-run'], text)
  expect(refusedDry.stdout).toMatch(
    /The catalog would be unchanged, because an import that lacks the same scopes was/,
  )
  expect(await run([...prune, '--accept-all'], text)).toMatchObject({ code: 0 })
})

test('what the commands print of single entries and their names', async () => {
  const plan = ['--organization', 'acme', '--document', 'plan']
  const named = { organizationId: 'acme', documentId: 'plan', documentName: 'The <plan>' }
  const imported = await run(['catalog', 'import', '-'], JSON.stringify(named))
  expect(imported.stdout).toMatch(/documents +0 +0 +0 +1 +1/)
  const listed = await run(['catalog', 'list', '--organization', 'acme'])
  expect(listed.stdout).toMatch(/document +plan +The <plan> +never/)
  const page = await run(['catalog', 'list', ...plan, '--limit', '50'])
  const [, cursor = ''] = /--cursor (\S+)/.exec(page.stderr) ?? []
  const rest = await run(['catalog', 'list', ...plan, '--cursor', cursor, '--json'])
  expect(JSON.parse(rest.stdout)).toMatchObject({ items: { length: 32 }, nextCursor: null })
  const again = await run(['catalog', 'add', '--organization', 'acme'])
  expect(again.stdout).toMatch(/^Nothing to change/)
  expect((await run(['catalog', 'show', ...plan])).stdout).toMatch(/is in the catalog/)
  expect((await run(['catalog', 'remove', ...plan])).stdout).toMatch(/documents +0 +0 +1/)
  const shown = await run(['catalog', 'show', ...plan, '--json'])
  expect(JSON.parse(shown.stdout)).toMatchObject({ documentId: 'plan', active: false })
})
