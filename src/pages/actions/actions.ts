import * as z from 'zod'
import type { CollabSync } from '../../client/collab-sync.ts'
import * as pages from '../../database/statements/pages.ts'
import { scopesDone, scopesInAll } from '../../documents/run.ts'
import type { RunDetails } from '../../documents/run.ts'
import { UsageError } from '../../errors.ts'
import { count, counted, nothingToRetry, shortId } from '../../format.ts'
import { listingName } from '../held.tsx'
import { pathWithNotice } from '../notices.ts'
import type { PageContext } from '../page-context.ts'

/** Something that changes something: first it says what will happen, and then, on a word, does it. */
export interface Action<Fields extends object> {
  /** Of its address, `/actions/NAME`. */
  readonly name: string
  readonly fields: z.ZodType<Fields>
  /** @throws UsageError where it cannot be done */
  ask(context: PageContext, fields: Fields): Promise<Question>
  /**
   * @param key names this one asking, so that a form sent twice does it once
   * @returns the address of a page that says what was done
   * @throws UsageError where it cannot be done
   */
  perform(context: PageContext, fields: Fields, key: string): Promise<string>
}

/** What a person reads before they decide. */
export interface Question {
  readonly title: string
  /** What will happen. */
  readonly sentences: readonly string[]
  /** The button that does it. */
  readonly words: string
  /** True where it takes something away. */
  readonly isDanger?: boolean
  /** True where it is to be said why: the field `reason`. */
  readonly asksReason?: boolean
  /** Where the way back leads. */
  readonly back: string
}

interface HeldFields {
  held: number
  run: string
  reason?: string | undefined
}

/**
 * Decides about one held listing, as it was looked at.
 * @param decide says what will happen, and does it; its notice tells how many users it was
 */
function heldAction(
  name: 'accept' | 'refuse',
  decide: {
    ask(
      users: string,
    ): Pick<Question, 'title' | 'words' | 'isDanger' | 'asksReason'> & { what: string }
    perform(collabSync: CollabSync, fields: HeldFields): Promise<number>
  },
): Action<HeldFields> {
  return {
    name,
    fields: z.object({
      held: z.coerce.number().int().positive(),
      run: z.uuid(),
      reason: z.string().max(1000).optional(),
    }),
    async ask({ database }, { held: heldId, run }) {
      const held = await pages.held.first(database, { heldId })
      if (held === undefined)
        throw new UsageError(
          'This listing is not held any more: somebody decided about it, or a later run settled it.',
        )
      if (held.runId !== run)
        throw new UsageError(
          'A later run has seen another answer since: look at the listing again.',
        )
      const { what, ...question } = decide.ask(counted(held.usersMissing, 'user'))
      return {
        ...question,
        sentences: [
          `The listing of ${listingName(held)}:`,
          `${counted(held.usersMissing, 'user')} of ${count(held.usersBefore)} ${what}`,
        ],
        back: '/held',
      }
    },
    async perform({ collabSync }, fields) {
      const users = await decide.perform(collabSync, fields)
      return pathWithNotice('/held', name === 'accept' ? 'held-accepted' : 'held-refused', [users])
    },
  }
}

/** Applies the removals of one held listing. */
export const acceptHeld = heldAction('accept', {
  ask: (users) => ({
    title: 'Accept the removal?',
    what: 'leave it, as the service answered. Their rows stay, with the time at which they left; a later answer that holds them again brings them back.',
    words: `Remove ${users}`,
    isDanger: true,
  }),
  perform: async (collabSync, { held, run }) =>
    (await collabSync.acceptHeld(held, { runId: run })).removed,
})

/** Leaves the users of one held listing in it. */
export const refuseHeld = heldAction('refuse', {
  ask: (users) => ({
    title: 'Refuse the removal?',
    what: "stay, though the service's answer lacks them. While it answers just the same, nobody is asked again.",
    words: `Keep ${users}`,
    asksReason: true,
  }),
  perform: async (collabSync, { held, run, reason = '' }) =>
    (await collabSync.refuseHeld(held, { runId: run, reason })).kept,
})

/** Sets a rejected record aside, by its content. */
export const setAside: Action<{ record: number; reason?: string | undefined }> = {
  name: 'set-aside',
  fields: z.object({
    record: z.coerce.number().int().positive(),
    reason: z.string().max(1000).optional(),
  }),
  async ask(_context, { record }) {
    return {
      title: `Set rejected record ${record} aside?`,
      sentences: [
        'Nothing is stored of it. The same content at the same place makes no later run partial, and is no longer listed as open.',
      ],
      words: 'Set it aside',
      asksReason: true,
      back: '/held#rejected',
    }
  },
  async perform({ collabSync }, { record, reason = '' }) {
    const { changed } = await collabSync.setAsideRejectedRecords({ ids: [record] }, { reason })
    return pathWithNotice('/held', 'rejected-set-aside', [changed])
  },
}

/** Ends a run early. */
export const cancelRun: Action<{ run: string }> = {
  name: 'cancel',
  fields: z.object({ run: z.uuid() }),
  async ask({ collabSync }, { run: runId }) {
    const run = await requireRun(collabSync, runId)
    if (run.finishedAt !== null) throw new UsageError(`Run ${shortId(runId)} is over already.`)
    return {
      title: `Cancel run ${shortId(runId)}?`,
      sentences: [
        `${count(scopesDone(run))} of ${count(scopesInAll(run))} scopes are done. What is stored stays; nothing further is asked for.`,
      ],
      words: 'Cancel the run',
      isDanger: true,
      back: `/runs/${runId}`,
    }
  },
  async perform({ collabSync }, { run }) {
    await collabSync.cancelRun(run)
    return pathWithNotice(`/runs/${run}`, 'run-cancelled')
  },
}

/** Asks for a run of just the scopes that failed in another and still fail. */
export const retryRun: Action<{ run: string }> = {
  name: 'retry',
  fields: z.object({ run: z.uuid() }),
  async ask({ collabSync }, { run: runId }) {
    const run = await requireRun(collabSync, runId)
    const { failing } = run.failuresByState
    if (failing === 0) throw new UsageError(nothingToRetry(run))
    return {
      title: 'Retry what failed?',
      sentences: [
        `A new run asks the service for just the ${counted(failing, 'scope')} that failed in run ${shortId(runId)} and still ${failing === 1 ? 'fails' : 'fail'}.`,
      ],
      words: 'Retry',
      back: `/runs/${runId}`,
    }
  },
  async perform({ collabSync }, { run }, key) {
    return pathOf(await collabSync.retryRun(run, { idempotencyKey: key }))
  },
}

/** @throws UsageError where there is no such run */
export async function requireRun(collabSync: CollabSync, runId: string): Promise<RunDetails> {
  const run = await collabSync.getRun(runId)
  if (run === null) throw new UsageError(`There is no run ${runId}; it may have been pruned.`)
  return run
}

/** As many as an id of the catalog has bytes at most. */
const ID_CHARACTERS_MAX = 2000

/** Asks for a run of one organization, or of everything in the catalog. */
export const sync: Action<{ organization?: string | undefined }> = {
  name: 'sync',
  fields: z.object({ organization: z.string().min(1).max(ID_CHARACTERS_MAX).optional() }),
  async ask({ collabSync }, { organization }) {
    if (organization !== undefined) {
      return {
        title: 'Sync one organization now?',
        sentences: [
          `Organization: ${organization}`,
          'A run asks the service for all its users and comments, beside whatever else is under way, and writes what changed.',
        ],
        words: 'Sync it now',
        back: '/organizations',
      }
    }
    const { scopes } = await collabSync.getFreshness()
    return {
      title: 'Sync everything now?',
      sentences: [
        `A run asks the service for all ${counted(scopes, 'scope')} of the catalog, as a nightly run does, and writes what changed.`,
      ],
      words: 'Sync everything now',
      back: '/runs',
    }
  },
  async perform({ collabSync }, { organization }, key) {
    const scope = organization === undefined ? {} : { organizationIds: [organization] }
    return pathOf(await collabSync.startRun({ scope, idempotencyKey: key }))
  },
}

/** The page of a run that was asked for, saying whether it is a new one and whether a worker knows of it. */
export function pathOf(run: Awaited<ReturnType<PageContext['collabSync']['startRun']>>): string {
  const notice = !run.isNew ? 'run-known' : run.isDelivered ? 'run-started' : 'run-stored'
  return pathWithNotice(`/runs/${run.runId}`, notice)
}
