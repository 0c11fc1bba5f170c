import type { ComponentChildren } from 'preact'
import * as z from 'zod'
import { countHeld, decideHeld, HELD_CHANGED } from '../../../core/sync/held.ts'
import * as holds from '../../../core/database/statements/held.ts'
import { countScopes } from '../../../core/run/start.ts'
import { CatalogLineSchema } from '../../../schemas/catalog-line.ts'
import { checked, id } from '../../../schemas/check.ts'
import { HintScopeSchema } from '../../../schemas/hint.ts'
import { scopesDone, scopesInAll } from '../../../schemas/run.ts'
import type { RequestedRun, RunDetails } from '../../../schemas/run.ts'
import { describeScope, isEverything, parseScope } from '../../../schemas/scope.ts'
import type { Scope, ScopeIds } from '../../../schemas/scope.ts'
import { AcceptHeldSchema, RefuseHeldSchema } from '../../../schemas/waiting.ts'
import { UsageError } from '../../../base/errors.ts'
import {
  count,
  counted,
  listingName,
  nothingToRetry,
  shortId,
  time,
} from '../../../schemas/format.ts'
import { describeLacking, heldListing } from '../waiting.tsx'
import { pathWithNotice } from '../notices.ts'
import type { PageContext } from '../page-context.ts'
import { thingPath } from '../things/thing-link.tsx'

/** What performs an action. Its `collabSync` notes actions under the same name. */
export interface ActionContext extends PageContext {
  /** The name of the token. */
  readonly by: string
}

/** An action of a user: the page first describes the effect, and performs it after a confirmation. */
export interface Action<Fields extends object = object> {
  readonly fields: z.ZodType<Fields>
  /** Its form with what the user typed, to be shown again with the problem. */
  form?(typed: unknown): ComponentChildren
  /** @throws UsageError if it is not possible */
  confirm(fields: Fields, context: PageContext): Question | Promise<Question>
  /**
   * @param key names this form, so that sending it twice acts once
   * @returns the address of a page that reports the result
   * @throws UsageError if it is not possible
   */
  perform(fields: Fields, context: ActionContext, key: string): Promise<string>
}

/** Actions by name, as in their addresses: `/actions/NAME`. */
export type Actions = Readonly<Record<string, Action>>

/** The description of an action before its confirmation. */
export interface Question {
  readonly title: string
  readonly sentences: readonly string[]
  /** The words of the button. */
  readonly words: string
  readonly isDanger?: boolean
  /** Whether the form has the field `reason`. */
  readonly reason?: 'required' | 'optional'
  /** Fields of the form besides those of the address, such as the counts that the question shows. */
  readonly carries?: object
  readonly back: string
}

/** Declares an action, with the type of its fields inferred. */
export function action<Fields extends object>(declared: Action<Fields>): Action {
  return declared as unknown as Action
}

const reason = z.string().max(1000).optional()

/** Selects held listings by all given fields, with the counts that the question showed. */
const HeldFields = z.object({
  held: z.coerce.number().int().positive().optional(),
  run: z.uuid().optional(),
  organization: id.optional(),
  listings: z.coerce.number().default(0),
  people: z.coerce.number().default(0),
  responses: z.string().default(''),
  reason,
})

type HeldFields = z.output<typeof HeldFields>

/** Decides on held listings as the question showed them: of an organization, of a run, or one. */
function heldAction(
  resolution: 'accepted' | 'refused',
  { effect, words, ...texts }: Omit<Question, 'sentences' | 'back'> & { effect: string },
): Action {
  const isAccepted = resolution === 'accepted'
  return action<HeldFields>({
    fields: HeldFields,
    async confirm(fields, { database }) {
      const counts = await countHeld({ database }, choiceOf(fields))
      const { listings, people, responses } = counts
      if (listings === 0) throw new UsageError(HELD_CHANGED)
      return {
        ...texts,
        words: `${words} ${counted(people, 'person')} ${isAccepted ? 'from' : 'in'} ${counted(listings, 'listing')}`,
        sentences: [`${await describeHeld(database, fields)}:`, describeLacking(counts), effect],
        carries: { listings, people, responses },
        back: '/held',
      }
    },
    async perform(fields, { database, by }) {
      const given = { reason: fields.reason || undefined }
      checked(isAccepted ? AcceptHeldSchema : RefuseHeldSchema, given)
      const { listings, people, left } = await decideHeld(
        { database },
        choiceOf(fields),
        { resolution, by, reason: fields.reason || null },
        fields,
      )
      return pathWithNotice('/held', `held-${resolution}`, [people, listings, left])
    },
  })
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

const RunFields = z.object({ run: z.uuid() })

/** @throws UsageError if there is no such run */
async function requireRun(runId: string, { collabSync }: PageContext): Promise<RunDetails> {
  const run = await collabSync.getRun(runId)
  if (run === null) throw new UsageError(`There is no run ${runId}; it may have been pruned.`)
  return run
}

const LineFields = z.object(CatalogLineSchema.shape)

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

/** The first sentence of each question about a scope. */
function describe(ids: ScopeIds): string {
  return `Scope: ${describeScope(scopeOf(ids))}`
}

/** What a run that starts now waits for. */
async function describeWait(collabSync: PageContext['collabSync']): Promise<string[]> {
  const { pause } = await collabSync.getPace()
  return pause === null
    ? []
    : [`All calls are paused until ${time(pause.until)}. The run waits until then.`]
}

const OTHER_RUNS =
  'What another run begins to fetch after this request is not fetched again by this run. What it fetches already is fetched again.'

/** For a document that has no annotation in the catalog. */
export const ANNOTATIONS_TOO =
  'Comments are fetched by annotation: add the annotations of the document to the catalog, too.'

export const ACTIONS: Actions = {
  accept: heldAction('accepted', {
    title: 'Accept the removal?',
    words: 'Remove',
    effect:
      'The users leave, as in the response of the service. Their rows stay, with the time at which they left. If a later response contains them, they return.',
    isDanger: true,
    reason: 'optional',
  }),

  refuse: heldAction('refused', {
    title: 'Refuse the removal?',
    words: 'Keep',
    effect:
      'The users stay, though the response of the service lacks them. A listing is held again only when its response changes.',
    reason: 'required',
  }),

  'set-aside': action({
    fields: z.object({ record: z.coerce.number().int().positive(), reason }),
    confirm: ({ record }) => ({
      title: `Set rejected record ${record} aside?`,
      sentences: [
        'collab-sync stores nothing of it. The same content in the same scope makes no later run partial and is not listed as open.',
      ],
      words: 'Set it aside',
      reason: 'required',
      back: '/held#rejected',
    }),
    async perform({ record, reason: why = '' }, { collabSync }) {
      const done = await collabSync.setAsideRejectedRecords({ ids: [record] }, { reason: why })
      return pathWithNotice('/held', 'rejected-set-aside', [done.changed])
    },
  }),

  cancel: action({
    fields: RunFields,
    async confirm({ run: runId }, context) {
      const run = await requireRun(runId, context)
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
    async perform({ run }, { collabSync }) {
      await collabSync.cancelRun(run)
      return pathWithNotice(`/runs/${run}`, 'run-cancelled')
    },
  }),

  retry: action({
    fields: RunFields,
    async confirm({ run: runId }, context) {
      const run = await requireRun(runId, context)
      const { failing } = run.failuresByState
      if (failing === 0) throw new UsageError(nothingToRetry(run))
      return {
        title: 'Retry what failed?',
        sentences: [
          `A new run requests only the ${counted(failing, 'scope')} that failed in run ${shortId(runId)} and still ${failing === 1 ? 'fails' : 'fail'}.`,
          ...(await describeWait(context.collabSync)),
        ],
        words: 'Retry',
        back: `/runs/${runId}`,
      }
    },
    perform: async ({ run }, { collabSync }, key) =>
      pathOf(await collabSync.retryRun(run, { idempotencyKey: key })),
  }),

  /** Starts a run of a scope of the catalog, of what fails in it now, or of everything. */
  sync: action({
    fields: LineFields.partial().extend({ failing: flag }),
    async confirm({ failing, ...ids }, { database, collabSync, settings: { operations } }) {
      const scope = scopeOf(ids)
      const inAll = await countScopes({ database, operations }, { scope, failing })
      const scopes = counted(inAll, 'scope')
      // Runs of other scopes fetch each of them.
      const isWhole = !failing && Object.keys(ids).every((name) => name === 'organizationId')
      const words = isEverything(scope) && !failing ? 'Sync everything now' : 'Sync now'
      return {
        title: `${words}?`,
        sentences: [
          describe(ids),
          `A run requests ${failing ? `only the ${scopes} whose last fetch failed` : scopes}, beside other runs in progress, and writes what changed.`,
          ...(isWhole ? [OTHER_RUNS] : []),
          ...(await describeWait(collabSync)),
        ],
        words,
        back: ids.organizationId ? thingPath(ids) : '/runs',
      }
    },
    perform: async ({ failing, ...ids }, { collabSync }, key) =>
      pathOf(await collabSync.startRun({ scope: scopeOf(ids), failing, idempotencyKey: key })),
  }),

  hint: action({
    fields: LineFields,
    confirm(ids) {
      checked(HintScopeSchema, scopeOf(ids))
      return {
        title: 'Report changed comments?',
        sentences: [describe(ids), 'Its comments are fetched next.'],
        words: 'Report the change',
        back: thingPath(ids),
      }
    },
    async perform(ids, { collabSync }) {
      const { runId, annotations } = await collabSync.hint(checked(HintScopeSchema, scopeOf(ids)))
      if (runId !== null) return pathWithNotice(`/runs/${runId}`, 'run-started')
      return pathWithNotice(thingPath(ids), 'hinted', [annotations])
    },
  }),

  add: action({
    fields: LineFields.extend({ sync: flag }),
    confirm: ({ sync, ...line }) => ({
      title: 'Add to the catalog?',
      sentences: [
        describe(line),
        sync ? 'A run fetches it now, and later runs do.' : 'Later runs fetch it.',
        ...(line.documentId && !line.annotationId ? [ANNOTATIONS_TOO] : []),
      ],
      words: sync ? 'Add and sync it' : 'Add it',
      back: '/organizations',
    }),
    async perform({ sync, ...line }, { collabSync }, key) {
      await collabSync.addToCatalog({ lines: [line] })
      if (!sync) return pathWithNotice(thingPath(line), 'added')
      return pathOf(await collabSync.startRun({ scope: scopeOf(line), idempotencyKey: key }))
    },
  }),

  remove: action({
    fields: LineFields,
    confirm: (line) => ({
      title: 'Remove from the catalog?',
      sentences: [
        describe(line),
        'Runs fetch neither it nor what is beneath it any more. The rows stay.',
      ],
      words: 'Remove it',
      isDanger: true,
      back: thingPath(line),
    }),
    async perform(line, { collabSync }) {
      await collabSync.removeFromCatalog({ lines: [line] })
      return pathWithNotice(thingPath(line), 'removed')
    },
  }),
}

/** The page of a requested run, with a notice whether it is new and whether the queue has it. */
function pathOf({ runId, isNew, isDelivered }: RequestedRun): string {
  const notice = !isNew ? 'run-known' : isDelivered ? 'run-started' : 'run-stored'
  return pathWithNotice(`/runs/${runId}`, notice)
}
