import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fillComments } from '../export/fill-comments.ts'
import { createTestDatabase } from '../helpers/database.ts'
import type { TestDatabase } from '../helpers/database.ts'
import { buildCommand } from './built-command.ts'
import type { BuiltCommand } from './built-command.ts'

let command: BuiltCommand
let database: TestDatabase

beforeAll(async () => {
  command = await buildCommand()
  database = await createTestDatabase()
  await fillComments(database, 20)
  await database.pool.query(
    `update collab_store.comments set rest = jsonb_build_object('data', jsonb_build_object('severity',
      case when comment_id <= 15 then to_jsonb(comment_id) else '"high"' end))`,
  )
})
afterAll(async () => {
  await command?.remove()
  await database?.drop()
})

const column = (args: string[], settings: Record<string, string> = {}) =>
  command.run(['column', ...args], { DATABASE_URL: database.url, ...settings })

const SEVERITY = ['severity', '--member', 'data.severity', '--type', 'integer']

describe('collab-sync column', () => {
  test('add, list and remove say how the stored values fit', async () => {
    expect(await column(['list'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^None/),
    })
    expect(await column(['add', 'comments', ...SEVERITY])).toEqual({
      code: 0,
      stdout:
        'comments.severity is data.severity as integer: 20 records with a value, 5 of them null because it does not fit.\n',
      stderr: '',
    })
    const document = {
      object: 'comments',
      name: 'severity',
      member: 'data.severity',
      type: 'integer',
      index: 'none',
      values: 20,
      misfits: 5,
    }
    expect(JSON.parse((await column(['list', '--json'])).stdout)).toEqual({ columns: [document] })
    expect((await column(['list'])).stdout).toMatch(
      /comments\.severity +data\.severity +integer +none +20 +5$/m,
    )
    const again = await column(['add', 'comments', ...SEVERITY, '--index', '--json'])
    expect(JSON.parse(again.stdout)).toEqual({ ...document, index: 'whole' })
    const exported = await command.run(['export', 'reporting.comments', '--format', 'ndjson'], {
      DATABASE_URL: database.url,
    })
    expect(exported.stdout).toContain('"severity":15')
    const removed = await column(['remove', 'comments', 'severity', '--json'])
    expect(JSON.parse(removed.stdout)).toEqual({
      object: 'comments',
      name: 'severity',
      removed: true,
    })
  })

  test('a copy that export --state keeps is begun anew once a column was added', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'collab-sync-column-'))
    const [out, state] = [join(directory, 'comments.csv'), join(directory, 'state')]
    const exported = () =>
      command.run(['export', 'comments', '--state', state, '--out', out], {
        DATABASE_URL: database.url,
      })
    expect(await exported()).toMatchObject({ code: 0 })
    await rm(out)
    expect(await column(['add', 'comments', ...SEVERITY])).toMatchObject({ code: 0 })
    expect(await exported()).toMatchObject({ code: 2, stderr: expect.stringMatching(/columns/) })
    await rm(state)
    expect(await exported()).toMatchObject({ code: 0 })
    expect(await readFile(out, 'utf8')).toMatch(/^\ufeff?organization_id,.*,severity,is_gone/)
    await column(['remove', 'comments', 'severity'])
    await rm(directory, { recursive: true })
  })

  test('add says where PRIVACY_RAW stores no such member', async () => {
    const added = await column(['add', 'users', 'team', '--member', 'team', '--type', 'text'], {
      PRIVACY_RAW: 'drop',
    })
    expect(added).toMatchObject({ code: 0, stderr: expect.stringMatching(/^PRIVACY_RAW=drop /) })
  })

  test.each([
    [['add', 'threads', ...SEVERITY], /threads.*comments, users/],
    [
      ['add', 'comments', 'x', '--member', 'data.severity', '--type', 'int'],
      /'int'.*text, integer/,
    ],
    [['add', 'comments', 'x', '--type', 'integer'], /--member/],
    [['add', 'comments', 'status', ...SEVERITY.slice(1)], /^The name status is in use/],
    [['add', 'comments', 'x', '--member', 'data.none', '--type', 'text'], /^No stored record/],
    [
      ['add', 'comments', 'x', '--member', 'data.severity', '--type', 'boolean'],
      /^Type boolean fits none/,
    ],
    [['remove', 'comments', 'status'], /^Nobody added a column "status" to comments\.\n$/],
  ])('%j ends with 2 and one sentence', async (args, sentence) => {
    const ended = await column(args)
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) })
    expect(ended.stderr.trimEnd()).not.toContain('\n')
  })
})
