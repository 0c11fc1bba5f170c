import { join, relative } from 'node:path'
import { importCatalog } from '../../features/catalog/import.ts'
import { listSource } from '../../features/catalog/lines.ts'
import { readNameRedaction } from '../../features/privacy/rules.ts'
import { catalogLines, named } from '../../demo/catalog.ts'
import type { Change } from '../../demo/changes.ts'
import { randomChanges } from '../../demo/random-changes.ts'
import { startStandIn } from '../../demo/stand-in.ts'
import { createWorld } from '../../demo/world.ts'
import type { World } from '../../demo/world.ts'
import type { RunDetails } from '../../documents/run.ts'
import { count, counted } from '../../documents/format.ts'
import { readDemoSettings } from '../../settings/demo.ts'
import type { Store } from '../../worker/store.ts'
import { printDemoReports, readDemoReports } from '../demo-reports.ts'
import { EXIT, exitCodeOf } from '../exit.ts'
import { heading, paint, print, printJson } from '../output.ts'
import { progressStyle } from '../progress.ts'
import { requireRunDetails } from '../../client/runs.ts'
import { describeRun } from '../run-details.ts'
import { quietLog, withAppOn, withStore } from '../with-store.ts'
import type { AppOpening } from '../with-store.ts'
import { workOff } from './run.ts'

/** Some 1,700 calls of 40 to 60 ms: long enough to watch, short enough to wait for. */
const LATENCY_MS = 40
const LATENCY_JITTER_MS = 20
const CHANGES = 60
const SEED = 7

/**
 * `collab-sync demo`: the whole main job on this machine alone, against a local stand-in for the service. May be
 * repeated: the world is the same every time, so that a second demo finds little to write.
 */
export async function demo({ json }: { json?: boolean }): Promise<number> {
  const world = createWorld({
    seed: SEED,
    organizations: 8,
    documentsPerOrganization: 12,
    annotationsPerDocument: 16,
    commentsPerAnnotation: 5,
    usersPerOrganization: 30,
    groupsPerOrganization: 3,
    // The comments' times count back from it: with the same midnight a second demo serves the same comments.
    now: new Date(new Date().setUTCHours(0, 0, 0, 0)),
  })
  const standIn = await startStandIn({
    world,
    latencyMs: LATENCY_MS,
    latencyJitterMs: LATENCY_JITTER_MS,
  })
  try {
    const settings = readDemoSettings(process.env, {
      need: ['service', 'database', 'queue'],
      service: standIn,
    })
    if (!json) print(INTRODUCTION)
    const opening = { settings, log: quietLog(settings), name: 'demo', migrates: true }
    return await withStore(opening, (store) => show(store, opening, world, json))
  } finally {
    await standIn.close()
  }
}

const INTRODUCTION = `${paint.bold('The whole job, on this machine alone.')}
A stand-in plays the service, PostgreSQL is an embedded one, the queue is kept in it.
Nothing of yours is used: settings such as DATABASE_URL and REDIS_URL are left alone.`

async function show(
  store: Store,
  opening: AppOpening,
  world: World,
  json: boolean | undefined,
): Promise<number> {
  const say = json ? () => {} : print
  say(heading('1. What there is to sync: a catalog'))
  const { lines } = await importDemoCatalog(store, world)
  say(`  ${counted(lines, 'line')} imported, as collab-sync catalog import would.`)

  say(heading('2. The first run'))
  const firstRun = await runOnce(store, opening, json)
  say(describeRun(firstRun))
  if (firstRun.status !== 'succeeded') return giveUp(firstRun, json)

  say(heading('3. The service goes on living, and the next run writes what changed'))
  const changes = randomChanges(world, { count: CHANGES, seed: SEED })
  say(`  ${inWords(changes)}.\n`)
  const secondRun = await runOnce(store, opening, json)
  say(describeRun(secondRun))
  if (secondRun.status !== 'succeeded') return giveUp(secondRun, json)

  const reports = await readDemoReports(store.database)
  if (json) printJson({ catalogLines: lines, firstRun, secondRun, reports })
  else {
    print(heading('4. What can be asked now'))
    printDemoReports(reports)
    print(furtherSteps(opening))
  }
  return EXIT.done
}

async function runOnce(
  store: Store,
  opening: AppOpening,
  json: boolean | undefined,
): Promise<RunDetails> {
  const request = { trigger: 'cli', requestKey: null, scope: {} } as const
  const runId = await withAppOn(store, opening, (app) =>
    workOff(app, request, progressStyle({ json })),
  )
  return requireRunDetails(store.database, runId)
}

async function importDemoCatalog({ database }: Store, world: World) {
  const lines = [...catalogLines(world)].map(named)
  const source = listSource('the demo', lines)
  return importCatalog(database, source, { prune: false, redaction: readNameRedaction })
}

function giveUp(run: RunDetails, json: boolean | undefined): number {
  if (json) printJson(run)
  return exitCodeOf(run.status)
}

const WORDS: Record<Change['kind'], string> = {
  edit: 'comments edited',
  addComment: 'added',
  deleteComment: 'deleted',
  restoreComment: 'restored',
  addUser: 'users joined',
  removeUser: 'left',
  renameUser: 'renamed',
  leaveDocument: 'left a document',
  joinGroup: 'joined a group',
}

function inWords(changes: readonly Change[]): string {
  return Object.entries(WORDS)
    .map(([kind, words]) => [changes.filter((change) => change.kind === kind).length, words])
    .filter(([times]) => times !== 0)
    .map(([times, words]) => `${count(times as number)} ${words}`)
    .join(', ')
}

function furtherSteps({ settings }: AppOpening): string {
  const passwordFile = relative('', join(settings.home, 'password'))
  return [
    heading('Look further (in a checkout: npx collab-sync …)'),
    '  collab-sync psql --demo           asks in SQL, such as: select * from reporting.comments limit 5;',
    '  collab-sync status --demo         the runs, and what needs a person',
    '  collab-sync serve --demo          the same as pages, on http://127.0.0.1:8080',
    `  (while it is up, any client can connect; its password is in ${passwordFile})`,
    heading('Do it for real'),
    '  1. put COLLAB_API_URL, COLLAB_API_KEY and COLLAB_AUTH_TOKEN into .env (see .env.example)',
    '  2. set DATABASE_URL to a PostgreSQL of yours, or leave it to the embedded one: the demo has a home of its own',
    '  3. collab-sync doctor, then migrate, then catalog import FILE, then run',
  ].join('\n')
}
