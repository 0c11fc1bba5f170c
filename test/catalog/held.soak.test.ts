import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { buildCommand } from '../cli/built-command.ts'
import type { BuiltCommand } from '../cli/built-command.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { LINES, sourceOf } from './ninety-scopes.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
  await importCatalog(database.pool, sourceOf(LINES), { prune: true })
})
afterEach(() => database.drop())

const NOT_HELD = 'Import 7 of the catalog is not held, none is: see collab-sync catalog show.'

describe('as a person sees it', () => {
  let command: BuiltCommand
  beforeAll(async () => {
    command = await buildCommand()
  })
  afterAll(() => command.remove())

  const run = (args: string[], input?: string) =>
    command.runProcess(args, { DATABASE_URL: database.url }, input)

  test('exit code 3 with what to do, status, and what was decided', async () => {
    const text = LINES.slice(40)
      .map((line) => JSON.stringify(line))
      .join('\n')
    const held = await run(['catalog', 'import', '-', '--prune'], text)
    expect(held.code).toBe(3)
    expect(held.stdout).toMatch(
      /standard input lacks 40 of the 90 scopes in the catalog, and more than 10 % of 1 organization, most of "acme"\. The import is held, and the catalog is unchanged\. To apply it: collab-sync accept --catalog 2\./,
    )
    const json = await run(['catalog', 'import', '-', '--prune', '--json'], text)
    expect(json.code).toBe(3)
    expect(JSON.parse(json.stdout)).toMatchObject({ held: { lacking: 40 }, catalog: {} })
    expect((await run(['status'])).stdout).toMatch(
      /Import 2 of the catalog is held: it lacks 40 of 90 scopes\. Nothing was changed\./,
    )
    expect((await run(['catalog', 'show'])).stdout).toMatch(/held .* lacks 40 of 90 scopes/)
    const dry = await run(['catalog', 'import', '-', '--prune', '--dry-run'], text)
    expect(dry.code).toBe(3)
    expect(dry.stdout).toMatch(
      /annotations +0 +0 +40 [^]*The import would be held\.\n\nNothing was changed: --dry-run\./,
    )
    expect(await run(['refuse', '--catalog', '2', '--reason', 'cut off'])).toMatchObject({
      code: 0,
    })
    const refused = await run(['catalog', 'import', '-', '--prune'], text)
    expect(refused.code).toBe(3)
    expect(refused.stdout).toMatch(/an import that lacks the same scopes was refused/)
    expect((await run(['status'])).stdout).toMatch(
      /The catalog is unchanged: import 2 was refused, and its source still lacks the same 40 scopes\./,
    )
    const refusedDry = await run(['catalog', 'import', '-', '--prune', '--dry-run'], text)
    expect(refusedDry.stdout).toMatch(
      /The catalog is unchanged, because an import that lacks the same scopes was/,
    )
    expect(await run(['catalog', 'import', '-', '--prune', '--accept-all'], text)).toMatchObject({
      code: 0,
    })
  })

  test.each([
    [['accept', '--catalog', '7'], NOT_HELD],
    [['refuse', '--catalog', '7'], NOT_HELD],
    [
      ['accept', '--catalog', 'last'],
      "Option '--catalog <import>' argument 'last' is invalid. It must be a whole number from 1.",
    ],
    [['accept'], 'Give a RUN, --listing, --organization or --catalog.'],
    [
      ['accept', 'abcdef', '--catalog', '7'],
      '--catalog cannot be combined with RUN, --listing or --organization.',
    ],
    [['refuse', '--listing', '1'], '--reason is missing: it documents the decision.'],
    [
      ['accept', '--listing', '1', '--reason', 'x'],
      'Nothing that is held as listing 1 waits to be accepted.',
    ],
    [
      ['accept', '--catalog', '7', '--dry-run'],
      '--dry-run is for listings. For an import, use: collab-sync catalog show.',
    ],
    [
      ['refuse', '--catalog', '7', '--reason', 'x'.repeat(1001)],
      '--reason must not be longer than 1,000 characters.',
    ],
    [
      ['catalog', 'import', '-', '--accept-all'],
      '--accept-all needs --prune: without it, nothing is deactivated.',
    ],
  ])('%j is wrong use', async (args, sentence) => {
    const { code, stdout, stderr } = await run(args, '')
    expect({ code, stdout, stderr: stderr.trimEnd() }).toEqual({
      code: 2,
      stdout: '',
      stderr: sentence,
    })
  })
})
