import {
  anyToldHeld,
  forgetOldNotifications,
  isOpen,
  markNightlyWell,
  markRunsWell,
  markWell,
  noteThing,
  readEndedRuns,
  readNightlyRuns,
  takeTurn,
  tellHeld,
} from '../database/notifications.ts'
import type { Subject, Turn } from '../database/notifications.ts'
import { readFreshness } from '../database/overview.ts'
import { transaction } from '../database/pool.ts'
import type { Client, Database } from '../database/pool.ts'
import type { Happening } from './happening.ts'
import { isMissed, lastDue, lateRun } from './nightly.ts'
import type { Nightly } from './nightly.ts'

/** What to look at, and for whom. */
export interface Watch {
  /** Null where the nightly runs are no concern of the process. */
  readonly nightly: Nightly | 'none' | null
  readonly nightlyLateAfterMs: number
  readonly freshnessPromiseMs: number
  /** Keys of the receivers. */
  readonly receivers: readonly string[]
  /** Least seconds since anybody looked. */
  readonly secondsBetween: number
}

/**
 * Looks for what people are to be told and notes it, each thing once: one worker looks at a time, in one transaction.
 * @returns false where it is not this process's turn
 */
export async function look(database: Database, watch: Watch): Promise<boolean> {
  // Outside of the transaction: it may take longer than the rest, and whoever is second finds the turn taken.
  const freshness = await readFreshness(database)
  return transaction(database, async (client) => {
    const { nightly } = watch
    const turn = await takeTurn(client, watch.secondsBetween, asText(nightly))
    if (turn === null) return false
    const note = (thing: string, subject: Subject | null, happening: Happening) =>
      noteThing(
        client,
        {
          thing,
          subject,
          kind: happening.kind,
          runId: 'runId' in happening ? happening.runId : null,
          facts: happening,
        },
        watch.receivers,
      )
    await lookAtRuns(client, turn, note)
    await lookAtHeld(client, turn, note)
    if (nightly !== null && nightly !== 'none')
      await lookAtNightly(client, turn, nightly, watch.nightlyLateAfterMs, note)
    await lookAtFreshness(client, turn, watch, freshness, note)
    await forgetOldNotifications(client, watch.receivers)
    return true
  })
}

type Note = (thing: string, subject: Subject | null, happening: Happening) => Promise<void>

async function lookAtRuns(client: Client, turn: Turn, note: Note): Promise<void> {
  for (const { status, finishedAt, ...run } of await readEndedRuns(client, turn.watchingSince)) {
    // Who cancels a run waits for nothing.
    const subject = status === 'cancelled' ? null : 'run'
    const at = finishedAt.toISOString()
    await note(`run:${run.runId}`, subject, { kind: `run.${status}`, at, ...run })
  }
  for (const { runId, trigger, finishedAt, problems } of await markRunsWell(client)) {
    const at = finishedAt.toISOString()
    await note(`well:run:${runId}`, null, { kind: 'run.recovered', runId, trigger, at, problems })
  }
}

async function lookAtHeld(client: Client, turn: Turn, note: Note): Promise<void> {
  const at = turn.now.toISOString()
  const held = await tellHeld(client)
  if (held !== null) {
    const { firstHeldId, ...rest } = held
    await note(`held:${firstHeldId}`, 'held', { kind: 'held.waiting', at, ...rest })
    return
  }
  if (!(await isOpen(client, 'held')) || (await anyToldHeld(client))) return
  const told = await markWell(client, 'held')
  await note(`well:held:${told}`, null, { kind: 'held.settled', at })
}

async function lookAtNightly(
  client: Client,
  turn: Turn,
  nightly: Nightly,
  nightlyLateAfterMs: number,
  note: Note,
): Promise<void> {
  const at = turn.now.toISOString()
  const dueAt = lastDue(nightly, turn.now, nightlyLateAfterMs)
  const runs = await readNightlyRuns(client, dueAt)
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
    const happening = { kind: 'nightly.late', at, dueAt: since, ...facts } as const
    await note(`late:${late.runId}`, 'nightly', happening)
  }
  const good = await markNightlyWell(client)
  if (good !== null) {
    const { runId, finishedAt } = good
    const happening = { kind: 'nightly.recovered', runId, at: finishedAt.toISOString() } as const
    await note(`well:nightly:${runId}`, null, happening)
  }
}

async function lookAtFreshness(
  client: Client,
  turn: Turn,
  { freshnessPromiseMs }: Watch,
  { oldestCheck, neverChecked }: { oldestCheck: Date | null; neverChecked: number },
  note: Note,
): Promise<void> {
  if (oldestCheck === null) return
  const facts = {
    at: turn.now.toISOString(),
    oldestCheck: oldestCheck.toISOString(),
    promiseS: freshnessPromiseMs / 1000,
    neverChecked,
  }
  const isPassed = turn.now.getTime() - oldestCheck.getTime() > freshnessPromiseMs
  if (isPassed === (await isOpen(client, 'freshness'))) return
  if (isPassed) {
    // While one is open no other is noted, so that a promise broken for a week is told once.
    const thing = `freshness:${facts.oldestCheck}`
    await note(thing, 'freshness', { kind: 'freshness.passed', ...facts })
    return
  }
  const told = await markWell(client, 'freshness')
  await note(`well:freshness:${told}`, null, { kind: 'freshness.recovered', ...facts })
}

function asText(nightly: Watch['nightly']): string | null {
  if (nightly === null) return null
  return nightly === 'none' ? '' : `${nightly.cron} ${nightly.timeZone}`
}
