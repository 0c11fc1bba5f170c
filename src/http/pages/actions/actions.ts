import type { ComponentChildren } from 'preact'
import * as z from 'zod'
import type { CollabSync } from '../../../client/collab-sync.ts'
import { countHeld, decideHeld, HELD_CHANGED } from '../../../core/sync/held.ts'
import * as holds from '../../../core/database/statements/held.ts'
import { countScopes } from '../../../core/run/start.ts'
import { CatalogLineSchema } from '../../../documents/catalog-line.ts'
import { checked, id } from '../../../documents/check.ts'
import { HintScopeSchema } from '../../../documents/hint.ts'
import { scopesDone, scopesInAll } from '../../../documents/run.ts'
import type { RunDetails } from '../../../documents/run.ts'
import { describeScope, isEverything, parseScope } from '../../../documents/scope.ts'
import type { Scope, ScopeIds } from '../../../documents/scope.ts'
import { AcceptHeldSchema, RefuseHeldSchema } from '../../../documents/waiting.ts'
import { UsageError } from '../../../base/errors.ts'
import { count, counted, listingName, nothingToRetry, shortId } from '../../../documents/format.ts'
import { describeLacking, heldListing } from '../held.tsx'
import { pathWithNotice } from '../notices.ts'
import type { PageContext } from '../page-context.ts'
import { thingPath } from '../things/thing-link.tsx'

/** What performs an action. Its `collabSync` notes actions under the same name. */
export interface ActionContext extends PageContext {
  /** The name of the token. */
  readonly by: string
}

/** An action of a user: the page first describes the effect, and performs it after a confirmation. */
export interface Action<Fields extends object> {
  /** Of its address, `/actions/NAME`. */
  readonly name: string
  readonly fields: z.ZodType<Fields>
  /** Its form with what the user typed, to be shown again with the problem. */
  form?(typed: unknown): ComponentChildren
  /** @throws UsageError if it is not possible */
  confirm(context: PageContext, fields: Fields): Promise<Question>
  /**
   * @param key names this form, so that sending it twice acts once
   * @returns the address of a page that reports the result
   * @throws UsageError if it is not possible
   */
  perform(context: ActionContext, fields: Fields, key: string): Promise<string>
}

/** The description of an action before its confirmation. */
export interface Question {
  readonly title: string
  /** The effect. */
  readonly sentences: readonly string[]
  /** The words of the button. */
  readonly words: string
  /** True if the action removes something. */
  readonly isDanger?: boolean
  /** Whether the form has the field `reason`. */
  readonly reason?: 'required' | 'optional'
  /** Fields of the form besides those of the address, such as the counts that the question shows. */
  readonly carries?: object
  /** The page to return to. */
  readonly back: string
}

/** Selects held listings by all given fields, with the counts that the question showed. */
const HeldFields = z.object({
  held: z.coerce.number().int().positive().optional(),
  run: z.uuid().optional(),
  organization: id.optional(),
  listings: z.coerce.number().optional(),
  people: z.coerce.number().optional(),
  responses: z.string().optional(),
  reason: z.string().max(1000).optional(),
})

type HeldFields = z.output<typeof HeldFields>

/** Decides on held listings as the question showed them: of an organization, of a run, or one. */
function heldAction(
  name: 'accept' | 'refuse',
  words: Pick<Question, 'title' | 'words' | 'isDanger' | 'reason'> & { effect: string },
): Action<HeldFields> {
  return {
    name,
    fields: HeldFields,
    async confirm({ database }, fields) {
      const counts = await countHeld({ database }, choiceOf(fields))
      if (counts.listings === 0) throw new UsageError(HELD_CHANGED)
      const { listings, people, responses } = counts
      const { effect, ...question } = words
      return {
        ...question,
        words: `${words.words} ${counted(people, 'person')} ${name === 'accept' ? 'from' : 'in'} ${counted(listings, 'listing')}`,
        sentences: [`${await describeHeld(database, fields)}:`, describeLacking(counts), effect],
        carries: { listings, people, responses },
        back: '/held',
      }
    },
    async perform({ database, by }, { reason, ...fields }) {
      const isAccepted = name === 'accept'
      const given = { reason: reason || undefined }
      checked(isAccepted ? AcceptHeldSchema : RefuseHeldSchema, given, '')
      const { listings = 0, people = 0, responses = '' } = fields
      const done = await decideHeld(
        { database },
        choiceOf(fields),
        { resolution: isAccepted ? 'accepted' : 'refused', by, reason: reason || null },
        { listings, people, responses },
      )
      const counts = [done.people, done.listings, done.left]
      return pathWithNotice('/held', isAccepted ? 'held-accepted' : 'held-refused', counts)
    },
  }
}

/** @throws UsageError if no field selects, because that would select all */
function choiceOf({ held, run, organization }: HeldFields) {
  if (held === undefined && run === undefined && organization === undefined)
    throw new UsageError('Name a held listing, a run or an organization.')
  return { heldId: held ?? null, runId: run ?? null, organizationId: organization ?? null }
}

async function describeHeld(
  database: PageContext['database'],
  { held, run, organization }: HeldFields,
): Promise<string> {
  const [listing] =
    held === undefined ? [] : await holds.byOrganization.all(database, heldListing(held))
  const where = organization === undefined ? [] : [`Organization ${organization}`]
  const seenBy = run === undefined ? [] : [`Run ${shortId(run)}`]
  return [...(listing === undefined ? where : [listingName(listing)]), ...seenBy].join(', ')
}

/** Applies the removals of held listings. */
export const acceptHeld = heldAction('accept', {
  title: 'Accept the removal?',
  words: 'Remove',
  effect:
    'The users leave, as in the response of the service. Their rows stay, with the time at which they left. If a later response contains them, they return.',
  isDanger: true,
  reason: 'optional',
})

/** Refuses the removals of held listings. */
export const refuseHeld = heldAction('refuse', {
  title: 'Refuse the removal?',
  words: 'Keep',
  effect:
    'The users stay, though the response of the service lacks them. A listing is held again only when its response changes.',
  reason: 'required',
})

/** Sets a rejected record aside, by its content. */
export const setAside: Action<{ record: number; reason?: string | undefined }> = {
  name: 'set-aside',
  fields: z.object({
    record: z.coerce.number().int().positive(),
    reason: z.string().max(1000).optional(),
  }),
  async confirm(_context, { record }) {
    return {
      title: `Set rejected record ${record} aside?`,
      sentences: [
        'collab-sync stores nothing of it. The same content in the same scope makes no later run partial and is not listed as open.',
      ],
      words: 'Set it aside',
      reason: 'required',
      back: '/held#rejected',
    }
  },
  async perform({ collabSync }, { record, reason = '' }) {
    const { changed } = await collabSync.setAsideRejectedRecords({ ids: [record] }, { reason })
    return pathWithNotice('/held', 'rejected-set-aside', [changed])
  },
}

/** Cancels a run. */
export const cancelRun: Action<{ run: string }> = {
  name: 'cancel',
  fields: z.object({ run: z.uuid() }),
  async confirm({ collabSync }, { run: runId }) {
    const run = await requireRun(collabSync, runId)
    if (run.finishedAt !== null) throw new UsageError(`Run ${shortId(runId)} is over already.`)
    return {
      title: `Cancel run ${shortId(runId)}?`,
      sentences: [
        `${count(scopesDone(run))} of ${count(scopesInAll(run))} scopes are done. No further calls are made; data already written is kept.`,
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

/** Starts a run of the scopes that failed in another run and still fail. */
export const retryRun: Action<{ run: string }> = {
  name: 'retry',
  fields: z.object({ run: z.uuid() }),
  async confirm({ collabSync }, { run: runId }) {
    const run = await requireRun(collabSync, runId)
    const { failing } = run.failuresByState
    if (failing === 0) throw new UsageError(nothingToRetry(run))
    return {
      title: 'Retry what failed?',
      sentences: [
        `A new run requests only the ${counted(failing, 'scope')} that failed in run ${shortId(runId)} and still ${failing === 1 ? 'fails' : 'fail'}.`,
      ],
      words: 'Retry',
      back: `/runs/${runId}`,
    }
  },
  async perform({ collabSync }, { run }, key) {
    return pathOf(await collabSync.retryRun(run, { idempotencyKey: key }))
  },
}

/** @throws UsageError if there is no such run */
export async function requireRun(collabSync: CollabSync, runId: string): Promise<RunDetails> {
  const run = await collabSync.getRun(runId)
  if (run === null) throw new UsageError(`There is no run ${runId}; it may have been pruned.`)
  return run
}

/** The IDs of a catalog entry. */
const LineFields = z.object(CatalogLineSchema.shape)

type LineFields = z.output<typeof LineFields>

const flag = z.stringbool().optional()

/** @throws UsageError for IDs that name no scope together */
function scopeOf({ organizationId, documentId, annotationId, ...ids }: ScopeIds): Scope {
  const { organizationUserGroupId: groupId } = ids
  return parseScope({
    ...(organizationId && { organizationIds: [organizationId] }),
    ...(documentId && { documentId }),
    ...(annotationId && { annotationId }),
    ...(groupId && { organizationUserGroupIds: [groupId] }),
  })
}

const OTHER_RUNS =
  'Batches that another run claims after this request and finishes are not fetched again. Batches that it has claimed already are fetched again.'

/** Starts a run of a scope of the catalog, of what fails in it now, or of everything. */
export const sync: Action<ScopeIds & { failing?: boolean | undefined }> = {
  name: 'sync',
  fields: LineFields.partial().extend({ failing: flag }),
  async confirm({ database, settings: { operations } }, { failing, ...ids }) {
    const scope = scopeOf(ids)
    const scopes = counted(await countScopes({ database, operations }, { scope, failing }), 'scope')
    // Runs of other scopes fetch each of them.
    const isWhole = !failing && Object.keys(ids).every((name) => name === 'organizationId')
    const words = isEverything(scope) && !failing ? 'Sync everything now' : 'Sync now'
    return {
      title: `${words}?`,
      sentences: [
        `Scope: ${describeScope(scope)}`,
        `A run requests ${failing ? `only the ${scopes} whose last fetch failed` : scopes}, beside other runs in progress, and writes what changed.`,
        ...(isWhole ? [OTHER_RUNS] : []),
      ],
      words,
      back: ids.organizationId ? thingPath(ids) : '/runs',
    }
  },
  async perform({ collabSync }, { failing, ...ids }, key) {
    const request = { scope: scopeOf(ids), failing, idempotencyKey: key }
    return pathOf(await collabSync.startRun(request))
  },
}

/** Reports that comments of an annotation or a document changed. */
export const giveHint: Action<LineFields> = {
  name: 'hint',
  fields: LineFields,
  async confirm(_context, ids) {
    const scope = checked(HintScopeSchema, scopeOf(ids), '')
    return {
      title: 'Report changed comments?',
      sentences: [`Scope: ${describeScope(scope)}`, 'Its comments are fetched next.'],
      words: 'Report the change',
      back: thingPath(ids),
    }
  },
  async perform({ collabSync }, ids) {
    const { runId, threads } = await collabSync.hint(checked(HintScopeSchema, scopeOf(ids), ''))
    if (runId !== null) return pathWithNotice(`/runs/${runId}`, 'run-started')
    return pathWithNotice(thingPath(ids), 'hinted', [threads])
  },
}

/** For a document that has no annotation in the catalog. */
export const ANNOTATIONS_TOO =
  'Comments are fetched by annotation: add the annotations of the document to the catalog, too.'

/** Adds an organization, a document, an annotation or a user group to the catalog. */
export const add: Action<LineFields & { sync?: boolean | undefined }> = {
  name: 'add',
  fields: LineFields.extend({ sync: flag }),
  async confirm(_context, { sync: isSynced, ...line }) {
    const effect = isSynced ? 'A run fetches it now, and later runs do.' : 'Later runs fetch it.'
    return {
      title: 'Add to the catalog?',
      sentences: [
        `Scope: ${describeScope(scopeOf(line))}`,
        effect,
        ...(line.documentId && !line.annotationId ? [ANNOTATIONS_TOO] : []),
      ],
      words: isSynced ? 'Add and sync it' : 'Add it',
      back: '/organizations',
    }
  },
  async perform({ collabSync }, { sync: isSynced, ...line }, key) {
    await collabSync.addToCatalog({ lines: [line] })
    if (!isSynced) return pathWithNotice(thingPath(line), 'added')
    return pathOf(await collabSync.startRun({ scope: scopeOf(line), idempotencyKey: key }))
  },
}

/** Removes something, and what is beneath it, from the catalog. */
export const remove: Action<LineFields> = {
  name: 'remove',
  fields: LineFields,
  async confirm(_context, line) {
    return {
      title: 'Remove from the catalog?',
      sentences: [
        `Scope: ${describeScope(scopeOf(line))}`,
        'Runs fetch neither it nor what is beneath it any more. The rows stay.',
      ],
      words: 'Remove it',
      isDanger: true,
      back: thingPath(line),
    }
  },
  async perform({ collabSync }, line) {
    await collabSync.removeFromCatalog({ lines: [line] })
    return pathWithNotice(thingPath(line), 'removed')
  },
}

/** The page of a requested run, with a notice whether it is new and whether the queue has it. */
export function pathOf(run: Awaited<ReturnType<PageContext['collabSync']['startRun']>>): string {
  const notice = !run.isNew ? 'run-known' : run.isDelivered ? 'run-started' : 'run-stored'
  return pathWithNotice(`/runs/${run.runId}`, notice)
}
