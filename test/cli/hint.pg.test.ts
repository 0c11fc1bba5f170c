import { beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { places } from '../../src/demo/catalog.ts'
import { HintedSchema } from '../../src/schemas/hint.ts'
import { onApp } from '../client/on-app.ts'
import { openLive } from '../helpers/live.ts'
import { BEARER, unlistened } from '../http/served.ts'
import { buildCommand } from './built-command.ts'
import type { Environment } from './built-command.ts'

const command = await buildCommand()
const live = await openLive('postgres')
const app = await live.openApp()
const server = await unlistened(app)
const collabSync = onApp(app)
const environment: Environment = { DATABASE_URL: live.database.url }
beforeEach(async () => {
  await live.database.pool.query(
    `truncate collab_store.organizations, sync.catalog_imports, sync.runs cascade;
    update collab_store.definitions set refresh_budget = null`,
  )
})

function place() {
  const [first] = places(live.world)
  if (first === undefined) throw new Error('an empty world')
  return first
}
const args = (...more: string[]) => {
  const { organizationId, documentId, annotationId } = place()
  const names = ['--organization', organizationId, '--document', documentId]
  return ['hint', ...names, '--annotation', annotationId, ...more]
}
const scope = () => {
  const { organizationId, documentId, annotationId } = place()
  return { organizationIds: [organizationId], documentId, annotationId }
}
const { rows } = live
/** What each surface answers to the same hint. */
async function answers(more: { add?: boolean } = {}): Promise<unknown[]> {
  const printed = await command.json(args(...(more.add ? ['--add'] : [])), environment)
  expect(printed).toMatchObject({ code: 0 })
  const over = await server.app.inject({
    method: 'POST',
    url: '/v1/hints',
    headers: BEARER,
    payload: { scope: scope(), ...more },
  })
  expect(over.statusCode).toBe(202)
  return [
    printed.document,
    over.json(),
    await collabSync.hint(scope(), more),
    await jobs.hint(app, { data: { scope: scope(), ...more }, requestKey: 'key' }),
  ]
}

describe('each surface', () => {
  test.each([
    ['without refresh', null],
    ['with refresh', 40],
  ])('gives the same document %s', async (_, budget) => {
    await live.importCatalog()
    await live.rows('update collab_store.definitions set refresh_budget = $1', budget)
    const all = await answers()
    for (const each of all) {
      expect(each).toEqual(all[0])
      expect(HintedSchema.strict().parse(each)).toEqual(each)
    }
    expect(all[0]).toEqual({ runId: budget === null ? expect.any(String) : null, annotations: 1 })
    expect(await rows('select from sync.runs')).toHaveLength(budget === null ? 1 : 0)
    expect(await rows('select from sync.hints')).toHaveLength(budget === null ? 0 : 1)
    const { stdout } = await command.run(args(), environment)
    expect(stdout).toMatch(
      budget === null
        ? /^Run [\da-f-]{36} fetches 1 annotation\.\n$/
        : /^Continuous refresh fetches 1 annotation next\.\n$/,
    )
  })

  test('refuses what the catalog lacks, and adds it where that is asked for', async () => {
    const sentence = /^Organization ".*" is not in the catalog; add it with --add/
    expect(await command.run(args(), environment)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(sentence),
    })
    await expect(collabSync.hint(scope())).rejects.toThrow(sentence)
    const data = { scope: scope() }
    await expect(jobs.hint(app, { data, requestKey: 'key' })).rejects.toThrow(sentence)
    expect(await rows('select from collab_store.organizations')).toEqual([])
    const all = await answers({ add: true })
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(await rows('select source, added from sync.catalog_imports')).toEqual([
      { source: 'hint --add', added: 3 },
    ])
  })

  test('adds nothing for a document alone, which has no comments to fetch', async () => {
    const document = { ...scope(), annotationId: undefined }
    const sentence = /^add needs an annotation/
    await expect(collabSync.hint(document, { add: true })).rejects.toThrow(sentence)
    const data = { scope: document, add: true }
    await expect(jobs.hint(app, { data, requestKey: 'key' })).rejects.toThrow(sentence)
    expect(await rows('select from collab_store.organizations')).toEqual([])
  })
})

test.each([
  [undefined, /^data /],
  [{ scope: { organizationIds: ['a'], documentId: 'd', x: 1 } }, 'data.scope has no member "x".'],
  [{ scope: { organizationIds: ['a'], documentId: 'd' }, add: 1 }, 'data.add must be true or'],
])('a job with %j is refused by the member at fault', async (data, sentence) => {
  await expect(jobs.hint(app, { data, requestKey: 'key' })).rejects.toThrow(sentence)
})
