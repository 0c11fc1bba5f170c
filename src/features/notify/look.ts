import { savepoint, transaction } from '../../core/database/pool.ts'
import type { Client, Database } from '../../core/database/pool.ts'
import type { RowOf } from '../../core/database/statement.ts'
import * as notify from '../../core/database/statements/notify.ts'
import type { Log } from '../../base/log.ts'
import { ATTENTION, Facts } from './notification.ts'

/** What a look needs, and for whom it looks. */
export interface Watch {
  /** Keys of the receivers. */
  readonly receivers: readonly string[]
  /** Least seconds since any process looked. */
  readonly secondsBetween: number
  /** Checks that failed when this process last made them. */
  readonly failing: Set<string>
  readonly log: Log
}

/**
 * Looks for what to notify of and notes each thing once. One process looks at a time, in one transaction.
 * A check that fails is logged once and does not stop the others.
 * @returns false where it is not this process's turn
 */
export async function look(database: Database, watch: Watch): Promise<boolean> {
  return transaction(database, async (client) => {
    const { receivers, secondsBetween: intervalS } = watch
    const turn = await notify.takeTurn.first(client, { intervalS })
    if (turn === undefined) return false
    const note: Note = (thing, facts, subject = null) =>
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
    await check('attention', () => lookAtAttention(client, turn, note))
    await check('members', () => lookAtMembers(client, turn, note))
    await check('old', async () => {
      await notify.forget.run(client)
      await notify.abandon.run(client, { receivers })
    })
    return true
  })
}

type Turn = RowOf<typeof notify.takeTurn>

/**
 * Notes a thing with a delivery to each receiver; harmless where it is noted already.
 * @param thing names it, so that it is reported once
 * @param subject the kind of sync.attention that is to be resolved; left out where nothing is
 */
type Note = (thing: string, facts: Facts, subject?: string | null) => Promise<unknown>

async function lookAtRuns(client: Client, turn: Turn, note: Note): Promise<void> {
  for (const ended of await notify.endedRuns.all(client, { since: turn.watchingSince })) {
    const { status, finishedAt, ...run } = ended
    // The statement returns no other status; the compiler cannot know.
    if (status !== 'failed' && status !== 'cancelled') continue
    await note(`run:${run.runId}`, {
      kind: `run.${status}`,
      at: finishedAt.toISOString(),
      ...run,
    })
  }
}

async function lookAtAttention(client: Client, turn: Turn, note: Note): Promise<void> {
  const at = turn.now.toISOString()
  for (const { kind, facts } of await notify.attention.all(client)) {
    // Other kinds are shown, but not sent.
    if (!isReported(kind)) continue
    const [type, resolved] = ATTENTION[kind]
    if (facts === null) await note(`${resolved}:${at}`, { kind: resolved, at })
    else await note(`${type}:${at}`, Facts.parse({ kind: type, at, ...facts }), kind)
  }
}

function isReported(kind: string): kind is keyof typeof ATTENTION {
  return Object.hasOwn(ATTENTION, kind)
}

async function lookAtMembers(client: Client, turn: Turn, note: Note): Promise<void> {
  const since = turn.watchingSince
  const { numbers } = await notify.markMembers.one(client, { since })
  const last = numbers.at(-1)
  if (last === undefined) return
  const at = turn.now.toISOString()
  await note(`members:${last}`, { kind: 'members.changed', at, numbers: [...numbers] })
}
