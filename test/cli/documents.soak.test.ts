import { describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { jobs } from '../../jobs/index.ts'
import {
  AcceptedRunSchema,
  FailureSchema,
  RunDetailsSchema,
  RunSchema,
} from '../../src/documents/run.ts'
import { ChangeSchema } from '../../src/documents/change.ts'
import { FreshnessSchema, OrganizationSchema } from '../../src/documents/freshness.ts'
import {
  AcceptedHeldSchema,
  HeldListingSchema,
  RejectedRecordSchema,
  SetAsideDoneSchema,
} from '../../src/documents/waiting.ts'
import { ScheduleSchema } from '../../src/documents/schedule.ts'
import { UsageError } from '../../src/base/errors.ts'
import { onApp } from '../client/on-app.ts'
import { BEARER, unlistened } from '../http/served.ts'
import { openLive } from '../helpers/live.ts'
import { buildCommand } from './built-command.ts'
import type { Environment } from './built-command.ts'

/** Whatever is said of one thing by `--json`, over HTTP and to a program is one document, of one schema. */

let runId: string

type Json = Record<string, any>

const command = await buildCommand()
const live = await openLive('none')
await live.importCatalog()
const app = await live.openApp()
const server = await unlistened(app)
const collabSync = onApp(app)
const environment: Environment = {
  COLLAB_API_URL: live.standIn.url,
  COLLAB_API_KEY: live.standIn.apiKey,
  COLLAB_AUTH_TOKEN: live.standIn.authToken,
  DATABASE_URL: live.database.url,
  SYNC_RETRIES: '0',
}
await live.run()
const [first = '', second = ''] = live.world.organizationIds()
live.standIn.setFaults([
  { kind: 'poison', poison: 'big-id', match: { operation: 'comments' }, times: 15 },
  { kind: 'forbidden', match: { operation: 'users', organizationId: first } },
  { kind: 'empty-list', match: { operation: 'users', organizationId: second } },
])
/** What `run --json` printed: of a run with failures, held listings and rejected records. */
const printed: Json = await json(['run'])
runId = printed['runId']
live.standIn.setFaults([])

/** What a command prints with `--json`. */
async function json(args: string[]): Promise<any> {
  const { stdout, stderr } = await command.run([...args, '--json'], environment)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

/** What the API answers. */
async function ask(url: string, method: 'GET' | 'POST' = 'GET', body?: object): Promise<any> {
  const options = { method, url, headers: BEARER, ...(body && { payload: body }) }
  return (await server.app.inject(options)).json()
}

/** What a program holds, as it would write it. */
async function held(document: Promise<unknown>): Promise<any> {
  return JSON.parse(JSON.stringify(await document))
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A document, or each of some, has every member of its schema and no other. */
function expectOnly(schema: z.ZodType, document: unknown): void {
  const revived = JSON.parse(JSON.stringify(document), (_, value: unknown) =>
    typeof value === 'string' && TIME.test(value) ? new Date(value) : value,
  )
  for (const each of [revived].flat()) expect(schema.parse(each)).toEqual(each)
}

/** All but the time at which it was read. */
function lasting(document: Json): Json {
  return { ...document, readAt: null }
}

test('a run: run, status and cancel print what the API and a program get', async () => {
  expect(printed['failuresByCause'].length).toBeGreaterThan(0)
  expect(printed['held'].first.length).toBeGreaterThan(0)
  expect(printed['held'].listings).toBe(printed['heldWaiting'])
  expect(printed['rejectedRecords']).toHaveLength(10)
  const documents = [
    await json(['status', runId]),
    await ask(`/v1/runs/${runId}`),
    await held(collabSync.getRun(runId)),
    await held(collabSync.waitForRun(runId)),
  ]
  for (const document of documents) expect(lasting(document)).toEqual(lasting(printed))
  for (const document of [printed, ...documents]) expectOnly(RunDetailsSchema, document)
})

test('runs: status prints the newest as the API lists them', async () => {
  const { runs } = await json(['status'])
  const { items } = await ask('/v1/runs?limit=10')
  const { items: listed } = await held(collabSync.listRuns({ limit: 10 }))
  expect(runs.length).toBeGreaterThan(1)
  for (const others of [items, listed]) expect(others.map(lasting)).toEqual(runs.map(lasting))
  for (const each of [runs, items, listed]) expectOnly(RunSchema, each)
})

test('what needs a person: held listings, rejected records and failures', async () => {
  const ofRun = `?runId=${runId}&limit=10`
  const { items: heldListings } = await ask(`/v1/held${ofRun}`)
  expect(printed['held'].first).toEqual(heldListings)
  expect((await held(collabSync.listHeld({ limit: 10 }))).items).toEqual(heldListings)
  expectOnly(HeldListingSchema, heldListings)

  const { items: rejected } = await ask(`/v1/rejected-records${ofRun}`)
  expect(printed['rejectedRecords']).toEqual(rejected)
  expect(await json(['rejected', '--run', runId, '--limit', '10'])).toEqual(rejected)
  const program = await held(collabSync.listRejectedRecords({ runId, limit: 10 }))
  expect(program.items).toEqual(rejected)
  expectOnly(RejectedRecordSchema, rejected)

  const { items: failures } = await ask(`/v1/failures${ofRun}`)
  expect((await held(collabSync.listFailures({ runId, limit: 10 }))).items).toEqual(failures)
  expect(failures.length).toBe(printed['scopesFailed'])
  expectOnly(FailureSchema, failures)
})

test('the schedule and how fresh everything is', async () => {
  const shown = await json(['schedule', 'set', '5 4 * * *'])
  expect(await ask('/v1/schedule')).toEqual(shown)
  expect(await held(collabSync.getSchedule())).toEqual(shown)
  expect(await json(['schedule', 'show'])).toEqual(shown)
  expect(shown['registered']).toBe(true)
  const { schedule, freshness } = await json(['status'])
  // It does not open the queue.
  expect(schedule).toEqual({ ...shown, registered: null })
  for (const each of [shown, schedule]) expectOnly(ScheduleSchema, each)

  expect(await ask('/v1/freshness')).toEqual(freshness)
  expect(await held(collabSync.getFreshness())).toEqual(freshness)
  expectOnly(FreshnessSchema, freshness)
  const { items } = await ask('/v1/organizations')
  expect((await held(collabSync.listOrganizations())).items).toEqual(items)
  expectOnly(OrganizationSchema, items)
})

test('what was done: a run asked for, records set aside, a listing accepted', async () => {
  const asked = [await json(['enqueue']), await ask('/v1/runs', 'POST', {})]
  expectOnly(AcceptedRunSchema, asked)
  for (const { runId: each } of asked) await collabSync.cancelRun(each)

  const [one, two] = printed['rejectedRecords'].map((each: Json) => each['rejectedRecordId'])
  const aside = await json(['rejected', 'set-aside', String(one), '--reason', 'known'])
  const body = { rejectedRecordIds: [two], reason: 'known' }
  expect(await ask('/v1/rejected-records/set-aside', 'POST', body)).toEqual(aside)
  expectOnly(SetAsideDoneSchema, aside)
  const [left] = await json(['rejected', 'list', '--set-aside', '--limit', '1'])
  expectOnly(RejectedRecordSchema, left)

  const [listing] = printed['held'].first
  const accepted = await ask(`/v1/held/${listing.heldId}/accept`, 'POST')
  expect(accepted).toEqual({ runId, accepted: 1, removed: listing.usersMissing })
  const rest = await json(['accept', runId])
  expect(rest).toMatchObject({ runId, accepted: printed['heldWaiting'] - 1 })
  expectOnly(AcceptedHeldSchema, [accepted, rest])
})

describe('what is wrong is refused alike by the queue, the API, a program and the command line', () => {
  test.each<[string, object, string, string[]]>([
    ['a NUL', { organizationIds: ['a\0'] }, 'scope.organizationIds.0', ['--organization', 'a\0']],
    ['a document of no organization', { documentId: 'd' }, 'scope.documentId', ['--document', 'd']],
    ['an operation', { operations: ['likes'] }, 'scope.operations.0', ['--operations', 'likes']],
  ])('%s', async (_, scope, member, options) => {
    const sentences: string[] = []
    const refused = (error: unknown) => {
      expect(error).toBeInstanceOf(UsageError)
      sentences.push((error as UsageError).message)
    }
    await jobs['start-run'](app, { data: { scope }, requestKey: 'wrong' }).catch(refused)
    await collabSync.startRun({ scope }).catch(refused)
    const answer = await ask('/v1/runs', 'POST', { scope })
    expect(answer).toMatchObject({ status: 400, errors: [{ in: 'body', member }] })
    const { detail } = answer.errors[0]
    expect(sentences[1]?.startsWith(`${member} `)).toBe(true)
    expect(sentences[1]).toContain(detail)
    expect(sentences[0]).toBe(`data.${sentences[1]}`)
    const ran = await command.run(['enqueue', ...options], environment)
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(options.some((option) => ran.stderr.startsWith(`${option} `))).toBe(true)
  })
})

test('changes: a line of the command is the document of the API and of a program; a cursor that is gone is 410', async () => {
  const { stdout } = await command.run(['changes', '--limit', '400'], environment)
  const printedChanges = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const page = await ask('/v1/changes?limit=400')
  expect(page).toMatchObject({ heldBack: expect.any(Number), cursor: page.nextCursor })
  const { items } = await held(collabSync.listChanges({ limit: 400 }))
  expectOnly(ChangeSchema, printedChanges)
  // Between two looks another transaction may have ended, up to which a cursor reads.
  const withoutCursor = (each: Json) => ({ ...each, cursor: null })
  expect(page.items.map(withoutCursor)).toEqual(printedChanges.map(withoutCursor))
  expect(items.map(withoutCursor)).toEqual(printedChanges.map(withoutCursor))
  const next = await ask(`/v1/changes?cursor=${page.items[9].cursor}&limit=5`)
  expect(next.items.map(withoutCursor)).toEqual(page.items.slice(10, 15).map(withoutCursor))
  const gone = await server.app.inject({
    url: `/v1/changes?cursor=000000000000${page.cursor.slice(12)}`,
    headers: BEARER,
  })
  expect(gone.statusCode).toBe(410)
  expect(gone.json().detail).toMatch(/another feed.*Start again/)
  expect(await ask('/v1/changes?cursor=x')).toMatchObject({ status: 400 })
  await expect(collabSync.listChanges({ cursor: 'x' })).rejects.toThrow(UsageError)
})
