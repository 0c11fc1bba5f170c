import { jobs } from '../../jobs/index.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { migrateQueue } from '../../src/core/queue/backend.ts'
import { catalogLines, named } from '../../src/demo/catalog.ts'
import type { CatalogLine } from '../../src/demo/catalog.ts'
import { htmlOf } from '../../src/demo/comments.ts'
import type { Comment } from '../../src/demo/comments.ts'
import { randomChanges } from '../../src/demo/random-changes.ts'
import { World } from '../../src/demo/world.ts'
import { importCatalog } from '../../src/features/catalog/import.ts'
import { listSource } from '../../src/features/catalog/lines.ts'
import { readNameRedaction } from '../../src/features/privacy/rules.ts'
import { startHttp } from '../../src/http/start-http.ts'
import { thingPath } from '../../src/http/pages/things/thing-link.tsx'
import { startWorker } from '../../src/worker/worker.ts'
import { openProgram } from '../fuzz/place.ts'
import { runDirectly } from '../helpers/direct-run.ts'
import { closedAtEnd } from '../helpers/closing.ts'
import { createEmptyDatabase } from '../helpers/database.ts'
import { openPartsOf } from '../http/served.ts'
import type { FaultRule } from '../service/faults.ts'
import { startStandIn } from '../service/stand-in.ts'
import { openClock } from '../worlds/clock.ts'

const DAY_MS = 86_400_000
const NIGHTS = 31
/** The runs start this long after they are due. */
const DELAY_MS = 2_000

/** Nights that differ from the others, counted from 0; the last one is that of today. */
const MISSED = 12
const PARTIAL = 20
const HELD = NIGHTS - 1

const COMMENT = {
  organizationId: 'org-0',
  documentId: 'doc-0',
  annotationId: 'ann-3',
  commentId: 42,
}
const AUTHOR = { userId: 'ann', name: 'Ann Smith', email: 'ann@acme.example' }
const FIRST_TEXT = 'Please check the total on page 12.'
/** What becomes of its text, by night. Null deletes the comment. */
const CHANGES: ReadonlyMap<number, string | null> = new Map([
  [9, 'Please check the total on page 14, and the date.'],
  [16, null],
  [18, 'Please check the total on page 14.'],
])
/** The organization of the nights PARTIAL and HELD. */
const FAULTY = 'org-3'

/** The pages of collab-sync after thirty nights of the demo's generated data. */
export interface Nights {
  readonly url: string
  /** The path of a comment that was edited, deleted and restored. */
  readonly commentPath: string
}

/** Runs the nights, each at its own time of PostgreSQL, and serves the pages until the test file ends. */
export async function openNights(): Promise<Nights> {
  const dueAt = dueTimes()
  const world = demoWorld(dueAt[0] as Date)
  world.putUser(COMMENT.organizationId, AUTHOR)
  write(world, FIRST_TEXT, new Date((dueAt[0] as Date).getTime() - DAY_MS))
  const standIn = await startStandIn({ world })
  closedAtEnd(() => standIn.close())
  const database = await createEmptyDatabase()
  const clock = await openClock(database.url)
  closedAtEnd(() => clock.close())
  await clock.set(new Date((dueAt[0] as Date).getTime() - DAY_MS / 2))
  await migrate(database.url)
  await migrateQueue({ kind: 'postgres', url: database.url })
  const program = await openProgram(database.url, standIn.url, {
    COLLAB_API_KEY: standIn.apiKey,
    COLLAB_AUTH_TOKEN: standIn.authToken,
  })

  closedAtEnd(() => program.close())
  const { app } = program
  const run = async (trigger: 'cli' | 'schedule') =>
    runDirectly(app, { trigger, scope: {}, requestKey: null })
  const lines = [...catalogLines(world)].map(namedWell)
  await importCatalog(program.database, listSource('the demo', lines), {
    prune: false,
    redaction: readNameRedaction,
  })
  await run('cli')
  for (const [night, due] of dueAt.entries()) {
    const thread = world.thread(COMMENT)
    randomChanges(world, { count: 20 + ((night * 7) % 30), seed: night + 1 })
    if (thread !== undefined) world.putThread(COMMENT, thread)
    const text = CHANGES.get(night)
    if (text !== undefined) write(world, text, new Date(due.getTime() - DAY_MS / 3))
    await program.database.query('insert into sync.nightly_due values ($1)', [due])
    await clock.set(new Date(due.getTime() + DELAY_MS))
    standIn.latencyMs = latencyOf(night)
    standIn.setFaults(faultsOf(night))
    if (night !== MISSED) await run('schedule')
  }
  standIn.setFaults([])
  await clock.set(new Date())

  const worker = await startWorker(app, jobs, { keepsSchedule: true })
  closedAtEnd(() => worker.stop())
  const http = await startHttp(openPartsOf(app))
  closedAtEnd(() => http.stop())
  return { url: http.url, commentPath: thingPath(COMMENT) }
}

/** At 02:00 UTC of each night, as SYNC_CRON has it by default. */
function dueTimes(): Date[] {
  const last = Math.floor((Date.now() - 3 * 3_600_000) / DAY_MS) * DAY_MS + 2 * 3_600_000
  return Array.from({ length: NIGHTS }, (_, n) => new Date(last - (NIGHTS - 1 - n) * DAY_MS))
}

function demoWorld(now: Date): World {
  return new World({
    seed: 7,
    organizations: 8,
    documentsPerOrganization: 4,
    annotationsPerDocument: 16,
    commentsPerAnnotation: 5,
    usersPerOrganization: 30,
    groupsPerOrganization: 3,
    now,
  })
}

/** As in the demo, with plain names for the objects of the screenshot. */
function namedWell(line: CatalogLine): CatalogLine {
  const { organizationId, documentId, ...others } = line as Partial<typeof COMMENT>
  const isAbove = organizationId === COMMENT.organizationId && Object.keys(others).length === 0
  if (isAbove && documentId === undefined) return withName(line, { organizationName: 'Acme, Inc.' })
  if (isAbove && documentId === COMMENT.documentId)
    return withName(line, { documentName: 'Plan 2027' })
  return named(line)
}

function withName(line: CatalogLine, name: object): CatalogLine {
  return { ...line, ...name }
}

/** Adds, edits, deletes or restores the comment of the screenshot. */
function write(world: World, text: string | null, at: Date): void {
  const { commentId } = COMMENT
  const { live = [], deleted = [] } = world.thread(COMMENT) ?? {}
  const others = (comments: readonly Comment[]) =>
    comments.filter((each) => each.commentId !== commentId)
  const comment = {
    commentId,
    commentText: text ?? '',
    commentHtml: htmlOf(text ?? ''),
    from: AUTHOR,
    lastUpdated: at.toISOString(),
    status: 'added',
    type: 'text',
  }
  if (text === null)
    world.putThread(COMMENT, { live: others(live), deleted: [...others(deleted), comment] })
  else world.putThread(COMMENT, { live: [...others(live), comment], deleted: others(deleted) })
}

/** Nights take different times. */
function latencyOf(night: number): number {
  return 5 + ((night * 5) % 13) + (night % 7 === 5 ? 15 : 0)
}

function faultsOf(night: number): FaultRule[] {
  if (night === PARTIAL)
    return [{ kind: 'unavailable', match: { organizationId: FAULTY, operation: 'comments' } }]
  if (night === HELD)
    return [{ kind: 'empty-list', match: { organizationId: FAULTY, operation: 'users' } }]
  return []
}
