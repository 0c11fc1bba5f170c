import { Writable } from 'node:stream'
import { beforeAll, describe, expect, test } from 'vitest'
import { jobs } from '../../jobs/index.ts'
import { openApp } from '../../src/worker/app.ts'
import { places } from '../../src/demo/catalog.ts'
import type { Place } from '../../src/demo/layout.ts'
import { CallError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import type { BatchScope } from '../../src/core/database/scopes.ts'
import { logFailure } from '../../src/core/sync/fetch/result.ts'
import type { ServiceSettings } from '../../src/settings/settings.ts'
import type { Settings } from '../../src/settings/table.ts'
import { startRun } from '../../src/core/run/start.ts'
import { startWorker } from '../../src/worker/worker.ts'
import { openLive, openLoaded, settled } from '../helpers/live.ts'
import type { Live } from '../helpers/live.ts'

type Line = Record<string, unknown>

describe('what a worker logs of a run with a failing scope', () => {
  let live: Live
  let place: Place
  let runId: string
  const lines: Line[] = []
  const texts: string[] = []

  beforeAll(async () => {
    live = await openLoaded('postgres')
    place = [...places(live.world)][0] as Place
    live.standIn.setFaults([{ kind: 'bad-request', match: { operation: 'comments', ...place } }])
    const heard = new Writable({
      write(chunk: Buffer, _encoding, done) {
        for (const text of chunk.toString().trimEnd().split('\n')) {
          texts.push(text)
          lines.push(JSON.parse(text) as Line)
        }
        done()
      },
    })
    const log = createLog('debug', heard)
    const { settings, store } = await live.openApp()
    const app = await openApp(settings as Settings & ServiceSettings, store, log)
    const request = { trigger: 'cli', scope: {}, requestKey: null } as const
    const started = await startRun(app.sync, request)
    runId = started.runId
    await app.deliver(started.items)
    const worker = await startWorker(app, jobs, { keepsSchedule: false })
    await settled(live.database, runId)
    await worker.stop()
    await app.close()
  })

  test('each line of a job names the job and its ids, each once', () => {
    const ofJobs = lines.filter(({ job }) => job !== undefined)
    expect(ofJobs.length).toBeGreaterThan(0)
    for (const line of ofJobs) expect(line).toMatchObject({ runId, itemId: expect.any(Number) })
    for (const text of texts) expect(text.split('"runId"').length, text).toBeLessThanOrEqual(2)
  })

  test('the scope that failed is named by its ids, with the reason', () => {
    const failed = lines.filter(({ msg }) => msg === 'scope failed')
    expect(failed).toMatchObject([
      {
        job: 'sync-batch',
        runId,
        itemId: expect.any(Number),
        operation: 'comments',
        organizationId: place.organizationId,
        documentId: place.documentId,
        annotationId: place.annotationId,
        kind: 'refused',
        reason: expect.stringMatching(/^HTTP 400 \S+$/),
      },
    ])
    expect(failed[0]).not.toHaveProperty('organizationUserGroupId')
  })

  test('the end of the run is one line with its status', () => {
    const ends = lines.filter(({ msg }) => msg === 'run finished')
    expect(ends).toMatchObject([{ runId, status: 'partial' }])
  })

  test('no line holds what the service said, which no erasure would find there', async () => {
    const { rows } = await live.database.pool.query(
      `select split_part(error_message, ', ', -1) as words from sync.failures where run_id = $1`,
      [runId],
    )
    expect(rows[0].words).toMatch(/\w \w/)
    expect(texts.join('\n')).not.toContain(rows[0].words)
  })

  test('no line holds key or token', () => {
    for (const secret of [live.standIn.apiKey, live.standIn.authToken])
      expect(texts.join('\n')).not.toContain(secret)
  })
})

test.each([
  ['NOT_FOUND', 'NOT_FOUND'],
  ['body_empty', 'body_empty'],
  ['Anna Berg has left', 'status of 18 characters'],
  [null, null],
])('the status %j of a failure is logged as %j', (errorStatus, logged) => {
  const texts: string[] = []
  const log = createLog('debug', { write: (text) => texts.push(text) })
  const error = new CallError('', { kind: 'unknown', httpStatus: 418, errorStatus })
  logFailure(log, 'users', {} as BatchScope, error)
  expect(JSON.parse(texts[0] ?? '')).toMatchObject({
    reason: ['HTTP 418', logged].filter(Boolean).join(' '),
  })
})

test('an error of PostgreSQL or a parser is logged without the value that it quotes, its detail and where it stood', async () => {
  const live = await openLive('postgres')
  const texts: string[] = []
  const log = createLog('info', { write: (text) => texts.push(text) })
  for (const statement of [
    `select 'S3CRET W0RDS'::bigint`,
    `select '{"S3CRET": W0RDS}'::jsonb`,
    `select 'S3CRET "quoted"\nW0RDS'::timestamptz`,
    `insert into sync.access_tokens (name, rights, token_hash) values ('a', 'read', 'S3CRET'), ('a', 'read', 'S3CRETS')`,
  ]) {
    const error = await live.database.pool.query(statement).catch((thrown: unknown) => thrown)
    log.warn({ err: error }, 'direct')
    log.warn({ err: Object.assign(new Error((error as Error).message), { cause: error }) }, 'job')
  }
  try {
    JSON.parse('S3CRET W0RDS')
  } catch (error) {
    log.warn({ err: error }, 'direct')
    log.warn({ err: Object.assign(new Error((error as Error).message), { cause: error }) }, 'job')
  }
  expect(texts).toHaveLength(10)
  expect(texts.join('')).toContain('invalid input syntax for type bigint')
  expect(texts.join('')).not.toMatch(/S3CRET|W0RDS/)
})
