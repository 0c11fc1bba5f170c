import { describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { jobs } from '../../jobs/index.ts'
import {
  AcceptedRunSchema,
  FailureSchema,
  RunDetailsSchema,
  RunSchema,
} from '../../src/schemas/run.ts'
import { ChangeSchema } from '../../src/schemas/change.ts'
import { FreshnessSchema, OrganizationSchema } from '../../src/schemas/freshness.ts'
import {
  AcceptedHeldSchema,
  HeldListingSchema,
  RejectedRecordSchema,
  SetAsideDoneSchema,
} from '../../src/schemas/waiting.ts'
import { ScheduleSchema } from '../../src/schemas/schedule.ts'
import { UsageError } from '../../src/base/errors.ts'
import { onApp } from '../client/on-app.ts'
import { BEARER, unlistened } from '../http/served.ts'
import { openLoaded } from '../helpers/live.ts'
import { buildCommand } from './built-command.ts'

/** Whatever is said of one thing by `--json`, over HTTP and to a program is one document, of one schema. */

const NO_RUN = '00000000-0000-4000-8000-000000000000'

type Json = Record<string, any>

const command = await buildCommand()
const live = await openLoaded('none')
const app = await live.openApp()
const server = await unlistened(app)
const collabSync = onApp(app)
const environment = { ...live.environment, SYNC_RETRIES: '0' }
await live.run()
const [first = '', second = ''] = live.world.organizationIds()
live.standIn.setFaults([
  { kind: 'poison', poison: 'big-id', match: { operation: 'comments' }, times: 15 },
  { kind: 'forbidden', match: { operation: 'users', organizationId: first } },
  { kind: 'empty-list', match: { operation: 'users', organizationId: second } },
])
/** What `run --json` printed: of a run with failures, held listings and rejected records. */
const printed: Json = await json(['run'])
const runId: string = printed['runId']
live.standIn.setFaults([])

/** What a command prints with `--json`. */
async function json(args: string[]): Promise<any> {
  return (await command.json(args, environment)).document
}

const inject = (url: string, method: 'GET' | 'POST' | 'PUT' = 'GET', body?: object) =>
  server.app.inject({ method, url, headers: BEARER, ...(body && { payload: body }) })

/** What the API answers. */
const ask = async (...request: Parameters<typeof inject>) => (await inject(...request)).json()

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

const TEN = { limit: 10 }
const REJECTED = 'rejected-records?runId=RUN&limit=10'
const rejected = () => collabSync.listRejectedRecords({ runId, limit: 10 })

/** All but the times at which documents were read. */
const lasting = (document: Json | Json[]): Json[] =>
  [document].flat().map((each) => ({ ...each, readAt: null }))

test('the run has failures, held listings and rejected records, and is the one that status prints', async () => {
  expect(printed['failuresByCause'].length).toBeGreaterThan(0)
  expect(printed['held'].first.length).toBeGreaterThan(0)
  expect(printed['held'].listings).toBe(printed['heldWaiting'])
  expect(printed['rejectedRecords']).toHaveLength(10)
  const { items } = await ask(`/v1/failures?runId=${runId}&limit=500`)
  expect(items).toHaveLength(printed['scopesFailed'])
  for (const other of [json(['status', runId]), held(collabSync.waitForRun(runId))])
    expect(lasting(await other)).toEqual(lasting(printed))
})

test('the schedule that is set is registered; status does not open the queue to see that', async () => {
  const shown = await json(['schedule', 'set', '5 4 * * *'])
  expect(shown['registered']).toBe(true)
  const { schedule } = await json(['status'])
  expect(schedule).toEqual({ ...shown, registered: null })
  expectOnly(ScheduleSchema, schedule)
})

/** The command that prints each thing (and where in its document), the path, the schema, and what a program calls. */
test.each<[string | null, string, z.ZodType, () => Promise<unknown>]>([
  ['status RUN', 'runs/RUN', RunDetailsSchema, () => collabSync.getRun(runId)],
  ['status # runs', 'runs?limit=9', RunSchema, () => collabSync.listRuns({ limit: 9 })],
  ['status RUN # held first', 'held?limit=10', HeldListingSchema, () => collabSync.listHeld(TEN)],
  ['rejected --run RUN --limit 10', REJECTED, RejectedRecordSchema, () => rejected()],
  ['status RUN # rejectedRecords', REJECTED, RejectedRecordSchema, () => rejected()],
  [null, 'failures?limit=10', FailureSchema, () => collabSync.listFailures(TEN)],
  ['schedule show', 'schedule', ScheduleSchema, () => collabSync.getSchedule()],
  ['status # freshness', 'freshness', FreshnessSchema, () => collabSync.getFreshness()],
  [null, 'organizations', OrganizationSchema, () => collabSync.listOrganizations()],
])('%s and /v1/%s are one document, also to a program', async (line, path, schema, call) => {
  const documents = [await ask(`/v1/${path.replace('RUN', runId)}`), await held(call())]
  if (line !== null) {
    const [args = '', members] = line.replace('RUN', runId).split(' # ')
    const whole = await json(args.split(' '))
    documents.push((members?.split(' ') ?? []).reduce((found, name) => found[name], whole))
  }
  const [one, ...others] = documents.map((each) => each.items ?? each)
  expect(lasting(one).length).toBeGreaterThan(0)
  for (const other of others) expect(lasting(other)).toEqual(lasting(one))
  for (const each of [one, ...others]) expectOnly(schema, each)
})

test('what was done is one document too, and each act is refused where it cannot be', async () => {
  const asked = [await json(['enqueue']), await ask('/v1/runs', 'POST', {})]
  expectOnly(AcceptedRunSchema, asked)
  for (const { runId: each } of asked) await collabSync.cancelRun(each)

  const [one, two, three] = printed['rejectedRecords'].map((each: Json) => each['rejectedRecordId'])
  const done = await json(['rejected', 'set-aside', String(one), '--reason', 'known'])
  expectOnly(SetAsideDoneSchema, done)
  const listed = await ask(`/v1/held?runId=${runId}&limit=500`)
  const ofKind = (kind: string) => listed.items.find((each: Json) => each['kind'] === kind)
  const [whole, other] = [ofKind('organization'), ofKind('document')]
  const [reason, ids] = ['known', { rejectedRecordIds: [three] }]
  const { usersMissing: kept } = other
  const removed = { runId, accepted: 1, removed: whole.usersMissing }
  for (const [path, body, status, told = { status }] of [
    ['rejected-records/set-aside', { rejectedRecordIds: [two], reason }, 200, done],
    ['rejected-records/set-aside', {}, 400],
    ['rejected-records/set-aside', ids, 400],
    ['rejected-records/set-aside', { ...ids, runId, reason }, 400],
    ['rejected-records/set-aside', { rejectedRecordIds: [999_999_999], reason }, 409],
    ['rejected-records/set-aside', { runId, reason }, 200, { changed: expect.any(Number) }],
    [`held/${whole.heldId}/accept?runId=${NO_RUN}`, undefined, 409],
    [`held/${whole.heldId}/accept?runId=${runId}`, undefined, 200, removed],
    [`held/${whole.heldId}/accept`, undefined, 409],
    ['held/x/accept', undefined, 400],
    [`held/${other.heldId}/refuse`, {}, 400],
    [`held/${other.heldId}/refuse`, { reason }, 200, { refused: 1, kept }],
    [`held/${other.heldId}/refuse`, { reason }, 409],
    [`runs/${runId}/cancel`, undefined, 409, { detail: expect.stringContaining('over') }],
    [`runs/${runId}/cancel`, { force: true }, 400],
    [`runs/${NO_RUN}/cancel`, undefined, 404],
    [`runs/${NO_RUN}/retry`, undefined, 404],
  ] as const) {
    const { statusCode, ...answer } = await inject(`/v1/${path}`, 'POST', body)
    expect([path, statusCode, answer.json()]).toEqual([path, status, expect.objectContaining(told)])
  }
  expect((await ask(`/v1/rejected-records?runId=${runId}`)).items).toEqual([])
  const [left] = await json(['rejected', 'list', '--set-aside', '--limit', '1'])
  expectOnly(RejectedRecordSchema, left)
  const rest = await json(['accept', runId])
  expect(rest).toMatchObject({ runId, accepted: printed['heldWaiting'] - 2 })
  expectOnly(AcceptedHeldSchema, rest)
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
  const gone = await inject(`/v1/changes?cursor=000000000000${page.cursor.slice(12)}`)
  expect(gone.statusCode).toBe(410)
  expect(gone.json().detail).toMatch(/another feed.*Start again/)
  expect(await ask('/v1/changes?cursor=x')).toMatchObject({ status: 400 })
  await expect(collabSync.listChanges({ cursor: 'x' })).rejects.toThrow(UsageError)
})
