import { join, relative } from 'node:path'
import { importCatalog } from '../../features/catalog/import.ts'
import { listSource } from '../../features/catalog/lines.ts'
import { readNameRedaction } from '../../features/privacy/rules.ts'
import { catalogLines, named } from '../../demo/catalog.ts'
import { randomChanges } from '../../demo/random-changes.ts'
import type { ChangeKind } from '../../demo/random-changes.ts'
import { DEMO_CHANGES, DEMO_WORLD } from '../../demo/demo-world.ts'
import { startStandIn } from '../../demo/stand-in.ts'
import { World } from '../../demo/world.ts'
import type { RunDetails } from '../../schemas/run.ts'
import { count, counted } from '../../schemas/format.ts'
import { readDemoSettings } from '../../settings/demo.ts'
import type { Store } from '../../worker/store.ts'
import { printDemoReports, readDemoReports } from '../demo-reports.ts'
import { EXIT, exitCodeOf } from '../exit.ts'
import { FIRST_STEPS } from '../help.ts'
import { heading, paint, print, printJson } from '../output.ts'
import { progressStyle } from '../progress.ts'
import { requireRunDetails } from '../../client/runs.ts'
import { describeRun } from '../run-details.ts'
import { quietLog, withAppOn, withStore } from '../with-store.ts'
import type { AppOpening } from '../with-store.ts'
import { workOff } from './run.ts'

/**
 * `collab-sync demo`: a complete sync on this machine, against a local stand-in for the service. The generated data is the
 * same each time, so that a second demo writes little.
 */
export async function demo({ json }: { json?: boolean }): Promise<number> {
  const world = new World({
    ...DEMO_WORLD,
    // Times of comments are computed from it. With midnight, two demos of one day serve the same comments.
    now: new Date(new Date().setUTCHours(0, 0, 0, 0)),
  })
  // About 1,700 calls of 40 to 60 ms: a run takes long enough to show its progress.
  const standIn = await startStandIn({ world, latencyMs: 40, latencyJitterMs: 20 })
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

const INTRODUCTION = `${paint.bold('A complete sync on this machine.')}
The demo runs a stand-in for the service and an embedded PostgreSQL, which also stores the queue.
It ignores your settings for the service, the database and the queue.`

async function show(
  store: Store,
  opening: AppOpening,
  world: World,
  json: boolean | undefined,
): Promise<number> {
  const say = json ? () => {} : print
  const runOnce = async () => {
    const request = { trigger: 'cli', requestKey: null, scope: {} } as const
    const runId = await withAppOn(store, opening, (app) =>
      workOff(app, request, progressStyle({ json })),
    )
    const run = await requireRunDetails(store.database, runId)
    say(describeRun(run))
    return run
  }
  say(heading('1. Import a catalog: what to sync'))
  const source = listSource('the demo', [...catalogLines(world)].map(named))
  const how = { prune: false, redaction: readNameRedaction }
  const { lines } = await importCatalog(store.database, source, how)
  say(`  ${counted(lines, 'line')} imported, as by collab-sync catalog import.`)

  say(heading('2. The first run loads everything'))
  const firstRun = await runOnce()
  if (firstRun.status !== 'succeeded') return giveUp(firstRun, json)

  say(heading('3. Data changes in the service, and the second run writes the changes'))
  const changes = randomChanges(world, DEMO_CHANGES)
  say(`  ${inWords(changes)}.\n`)
  const secondRun = await runOnce()
  if (secondRun.status !== 'succeeded') return giveUp(secondRun, json)

  const reports = await readDemoReports(store.database)
  if (json) printJson({ catalogLines: lines, firstRun, secondRun, reports })
  else {
    print(heading('4. Sample reports'))
    printDemoReports(reports)
    print(nextSteps(opening))
  }
  return EXIT.done
}

function giveUp(run: RunDetails, json: boolean | undefined): number {
  if (json) printJson(run)
  return exitCodeOf(run.status)
}

const WORDS: Record<ChangeKind, string> = {
  edit: 'comments edited',
  addComment: 'added',
  deleteComment: 'deleted',
  restoreComment: 'of them restored',
  addUser: 'users joined',
  removeUser: 'left',
  renameUser: 'renamed',
  leaveDocument: 'left a document',
  joinGroup: 'joined a group',
}

function inWords(changes: readonly ChangeKind[]): string {
  return Object.entries(WORDS)
    .map(([kind, words]) => `${count(changes.filter((each) => each === kind).length)} ${words}`)
    .join(', ')
}

function nextSteps({ settings }: AppOpening): string {
  const passwordFile = relative('', join(settings.home, 'password'))
  return [
    heading('Next commands (in a checkout: npx collab-sync …)'),
    '  collab-sync psql --demo           opens psql, for example: select * from reporting.comments limit 5;',
    '  collab-sync status --demo         shows the runs and open problems',
    '  collab-sync serve --demo          serves the pages on http://127.0.0.1:8080',
    `  (while serve is running, any client can connect; the password is in ${passwordFile})`,
    heading('Sync your own data'),
    FIRST_STEPS,
  ].join('\n')
}
