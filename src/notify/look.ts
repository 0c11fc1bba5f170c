import { lastDue } from '../cron.ts'
import type { Schedule } from '../cron.ts'
import { DEAD_AFTER_S } from '../database/claims.ts'
import { savepoint, transaction } from '../database/pool.ts'
import type { Client, Database } from '../database/pool.ts'
import type { RowOf } from '../database/statement.ts'
import * as catalog from '../database/statements/catalog.ts'
import * as notify from '../database/statements/notify.ts'
import * as scopes from '../database/statements/scopes.ts'
import * as workers from '../database/statements/workers.ts'
import type { Log } from '../log.ts'
import { isMissed, lateRun } from './nightly.ts'
import { HeldFirst } from './notification.ts'
import type { Facts } from './notification.ts'

/** What to look at, and for whom. */
export interface Watch {
  /** Null where the nightly runs are no concern of the process. */
  readonly nightly: Schedule | 'none' | null
  readonly nightlyLateAfterMs: number
  /** Keys of the receivers. */
  readonly receivers: readonly string[]
  /** Least seconds since anybody looked. */
  readonly secondsBetween: number
  /** Kinds whose last check by this process failed. */
  readonly failing: Set<string>
  readonly log: Log
}

/**
 * Looks for what people are to be notified of and notes it, each thing once: one worker looks at a time, in one transaction.
 * A kind that fails is logged once, and does not keep the others from being noted.
 * @returns false where it is not this process's turn
 */
export async function look(database: Database, watch: Watch): Promise<boolean> {
  // Outside of the transaction: it may take longer than the rest, and whoever is second finds the turn taken.
  const freshness = scopes.freshness.one(database)
  await Promise.allSettled([freshness])
  return transaction(database, async (client) => {
    const { nightly, receivers, secondsBetween: intervalS } = watch
    const turn = await notify.takeTurn.first(client, { intervalS, schedule: asText(nightly) })
    if (turn === undefined) return false
    const note: Note = (thing, subject, facts) =>
      notify.note.run(client, {
        thing,
        subject,
        kind: facts.kind,
        runId: 'runId' in facts ? facts.runId : null,
        facts: JSON.stringify(facts),
        receivers,
      })
    const check = async (kind: string, work: () => Promise<unknown>) => {
      const failure = await savepoint(client, work)
      if (failure === null) watch.failing.delete(kind)
      else if (!watch.failing.has(kind)) {
        watch.failing.add(kind)
        watch.log.warn({ err: failure.error, kind }, 'a kind of notification could not be checked')
      }
    }
    await check('runs', () => lookAtRuns(client, turn, note))
    await check('held', () => lookAtHeld(client, turn, note))
    if (nightly !== null && nightly !== 'none')
      await check('nightly', () =>
        lookAtNightly(client, turn, nightly, watch.nightlyLateAfterMs, note),
      )
    await check('freshness', async () => lookAtFreshness(client, turn, await freshness, note))
    await check('catalog', () => lookAtCatalog(client, turn, note))
    await check('workers', () => lookAtWorkers(client, turn, note))
    await check('members', () => lookAtMembers(client, turn, note))
    await check('old', async () => {
      await notify.forget.run(client)
      await notify.abandon.run(client, { receivers })
    })
    return true
  })
}

type Turn = RowOf<typeof notify.takeTurn>

/** What there is to become well again. */
type Subject =
  'run' | 'held' | 'nightly' | 'freshness' | 'catalog.held' | 'catalog.failed' | 'worker'

/**
 * Notes a thing with a delivery to each receiver; harmless where it is noted already.
 * @param thing names it, so that it is reported once
 * @param subject null where nothing is to become well again
 */
type Note = (thing: string, subject: Subject | null, facts: Facts) => Promise<unknown>

async function lookAtRuns(client: Client, turn: Turn, note: Note): Promise<void> {
  for (const ended of await notify.endedRuns.all(client, { since: turn.watchingSince })) {
    const { status, finishedAt, rejected: recordsRejected, ...run } = ended
    // The others are in no row; the compiler cannot know.
    if (status !== 'partial' && status !== 'failed' && status !== 'cancelled') continue
    // Who cancels a run waits for nothing.
    const subject = status === 'cancelled' ? null : 'run'
    const at = finishedAt.toISOString()
    await note(`run:${run.runId}`, subject, { kind: `run.${status}`, at, ...run, recordsRejected })
  }
  for (const { runId, trigger, finishedAt, problems } of await notify.runsWell.all(client)) {
    const at = finishedAt.toISOString()
    // A day of refresh resolves what failed in several runs, one after the other.
    await note(`well:run:${runId}:${at}`, null, {
      kind: 'run.recovered',
      runId,
      trigger,
      at,
      problems,
    })
  }
}

async function lookAtHeld(client: Client, turn: Turn, note: Note): Promise<void> {
  const at = turn.now.toISOString()
  const { firstHeldId, runId, ...held } = await notify.markHeld.one(client)
  if (runId !== null) {
    const first = HeldFirst.parse(held.first)
    await note(`held:${firstHeldId}`, 'held', { kind: 'held.waiting', at, ...held, runId, first })
    return
  }
  if (!(await isOpen(client, 'held')) || (await notify.anyHeld.one(client)).waits) return
  const ended = await notify.well.one(client, { subject: 'held' })
  await note(`well:held:${ended.firstId}`, null, { kind: 'held.settled', at })
}

async function lookAtNightly(
  client: Client,
  turn: Turn,
  nightly: Schedule,
  nightlyLateAfterMs: number,
  note: Note,
): Promise<void> {
  const at = turn.now.toISOString()
  const dueAt = lastDue(nightly, new Date(turn.now.getTime() - nightlyLateAfterMs))
  const runs = await notify.nightly.one(client, { dueAt })
  if (isMissed(runs, dueAt, turn.scheduleSince)) {
    // By its day, for a schedule that is due every few minutes.
    const thing = `missed:${dueAt.toISOString().slice(0, 10)}`
    const due = dueAt.toISOString()
    await note(thing, 'nightly', { kind: 'nightly.missed', at, dueAt: due, ...nightly })
  }
  const late = lateRun(runs, nightlyLateAfterMs)
  if (late !== null) {
    const { requestedAt, ...facts } = late
    const since = requestedAt.toISOString()
    const notification = { kind: 'nightly.late', at, dueAt: since, ...facts } as const
    await note(`late:${late.runId}`, 'nightly', notification)
  }
  const good = await notify.nightlyWell.first(client)
  if (good !== undefined) {
    const { runId, finishedAt } = good
    const notification = { kind: 'nightly.recovered', runId, at: finishedAt.toISOString() } as const
    await note(`well:nightly:${runId}`, null, notification)
  }
}

async function lookAtFreshness(
  client: Client,
  turn: Turn,
  freshness: RowOf<typeof scopes.freshness>,
  note: Note,
): Promise<void> {
  const { oldestCheck, promiseS, neverChecked, failing, stale, overdue } = freshness
  const at = turn.now.toISOString()
  const oldest = oldestCheck?.toISOString() ?? null
  const facts = { at, oldestCheck: oldest, promiseS, neverChecked, failing, stale, overdue }
  // What only failed last night is told of with its run, and what the catalog has just got is no broken promise.
  const isPassed = overdue > 0
  if (isPassed === (await isOpen(client, 'freshness'))) return
  if (isPassed) {
    // While one is open no other is noted, so that a promise broken for a week is reported once.
    const thing = `freshness:${oldest ?? at}`
    await note(thing, 'freshness', { kind: 'freshness.passed', ...facts })
    return
  }
  const ended = await notify.well.one(client, { subject: 'freshness' })
  await note(`well:freshness:${ended.firstId}`, null, { kind: 'freshness.recovered', ...facts })
}

async function lookAtCatalog(client: Client, turn: Turn, note: Note): Promise<void> {
  const at = turn.now.toISOString()
  const troubles = await catalog.troubles.all(client)
  for (const [state, well] of [
    ['held', 'catalog.settled'],
    ['failed', 'catalog.recovered'],
  ] as const) {
    const kind = `catalog.${state}` as const
    const trouble = troubles.find((each) => each.state === state)
    const open = await isOpen(client, kind)
    if (trouble === undefined) {
      if (!open) continue
      const ended = await notify.well.one(client, { subject: kind })
      await note(`well:${kind}:${ended.firstId}`, null, { kind: well, at })
    } else if (state === 'held')
      // Each import once: one that takes the place of another lacks something else.
      await note(`${kind}:${trouble.importId}`, kind, { ...trouble, kind, at })
    // While one is open no other is noted, so that what fails each night is reported once.
    else if (!open) await note(`${kind}:${trouble.importId}:${at}`, kind, { ...trouble, kind, at })
  }
}

async function lookAtWorkers(client: Client, turn: Turn, note: Note): Promise<void> {
  const at = turn.now.toISOString()
  const blocked = await workers.blocked.all(client, { deadAfterS: DEAD_AFTER_S })
  const [first] = blocked
  // While one is open no other is noted, so that a store that all workers have lost is reported once.
  if ((first !== undefined) === (await isOpen(client, 'worker'))) return
  if (first === undefined) {
    const ended = await notify.well.one(client, { subject: 'worker' })
    await note(`well:worker:${ended.firstId}`, null, { kind: 'worker.recovered', at })
    return
  }
  const { workerId, problem } = first
  const since = first.problemSince.toISOString()
  const facts = { at, workers: blocked.length, workerId, since, problem }
  await note(`worker:${workerId}:${since}`, 'worker', { kind: 'worker.blocked', ...facts })
}

async function lookAtMembers(client: Client, turn: Turn, note: Note): Promise<void> {
  const since = turn.watchingSince
  const { numbers } = await notify.markMembers.one(client, { since })
  const last = numbers.at(-1)
  if (last === undefined) return
  const at = turn.now.toISOString()
  await note(`members:${last}`, null, { kind: 'members.changed', at, numbers: [...numbers] })
}

async function isOpen(client: Client, subject: Subject): Promise<boolean> {
  return (await notify.isOpen.one(client, { subject })).open
}

function asText(nightly: Watch['nightly']): string | null {
  if (nightly === null) return null
  return nightly === 'none' ? '' : `${nightly.cron} ${nightly.timeZone}`
}
