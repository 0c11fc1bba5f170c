import * as z from 'zod'
import { UsageError } from '../src/base/errors.ts'
import { OPERATIONS } from '../src/base/operations.ts'
import { finishIfDone } from '../src/core/run/finish.ts'
import { readPace } from '../src/core/rate-limit/pace.ts'
import { planPage, startRun } from '../src/core/run/start.ts'
import { syncBatch } from '../src/core/sync/batch.ts'
import { CatalogJobSchema } from '../src/schemas/catalog-line.ts'
import { checked, RunIdSchema } from '../src/schemas/check.ts'
import { HintJobSchema } from '../src/schemas/hint.ts'
import { StartRunJobSchema } from '../src/schemas/run.ts'
import type { Scope } from '../src/schemas/scope.ts'
import {
  addHinted,
  addScope,
  addToCatalog,
  removeFromCatalog,
} from '../src/features/catalog/change.ts'
import { readNameRedaction } from '../src/features/privacy/rules.ts'
import { hint } from '../src/features/refresh/hint.ts'
import type { App } from '../src/worker/app.ts'
import type { Job } from '../src/worker/worker.ts'

/**
 * Every kind of job by its name, which is stored in the queue: never rename one. Each is safe to deliver any number of times.
 * Programs may enqueue `start-run`, `catalog` and `hint` (docs/PROGRAMS.md).
 */
export const jobs = {
  /** Starts a run. Delivered twice, it makes one run. */
  async 'start-run'(app, { data, requestKey }) {
    const requested = checked(StartRunJobSchema, data ?? {}, 'data')
    const { scope = {}, add, failing, requestedBy: by } = requested
    if (add) await addScope(app.store.database, scope, by)
    const request = { trigger: 'api', scope, failing, requestKey, by } as const
    const { runId, items } = await startRun(app.sync, request)
    await app.deliver(items)
    return { runId }
  },

  /**
   * The nightly schedule is due: refreshes the catalog from the user's own query, if there is one, and starts a run,
   * beside which it deletes history that is older than PRUNE_OLDER_THAN. While a user
   * pauses the calls, it starts none: the workers make up for the last one when the pause ends.
   */
  async 'start-nightly-run'(app, { requestKey }) {
    const { pause } = await readPace(app.store.database)
    if (pause !== null) {
      app.log.info(pause, 'the nightly run starts when the pause ends')
      return { runId: null }
    }
    await app.refreshCatalog()
    try {
      const scope = scopeOfNight(app)
      const { runId, items } = await startRun(app.sync, { trigger: 'schedule', scope, requestKey })
      await app.deliver(items)
      await app.pruneFor(runId)
      return { runId }
    } catch (error) {
      // Last night's run is still in progress, or the catalog is empty: the error of a job alone would not be seen.
      if (error instanceof UsageError)
        app.log.error({ reason: error.message }, 'no nightly run was started')
      throw error
    }
  },

  /** Pages a run's organizations: enqueues the first batches of each, and the next page. */
  'page-organizations': itemJob(async (app, ids) => app.deliver(await planPage(app.sync, ids))),

  /** Pages the batches of one large organization, so that small organizations do not wait for it. */
  'page-documents': itemJob(async (app, ids) => app.deliver(await planPage(app.sync, ids))),

  /** Syncs one batch: its user listings or the comments of its annotations. */
  'sync-batch': itemJob((app, ids) => syncBatch(app.sync, ids)),

  /** Adds to the catalog, or removes from it. Delivered twice, it changes nothing more. */
  async catalog(app, { data }) {
    const requested = checked(CatalogJobSchema, data, 'data')
    const { database } = app.store
    const by = { source: `catalog ${requested.change}`, requestedBy: requested.requestedBy }
    if (requested.change === 'remove') return removeFromCatalog(database, requested.lines, by)
    const { lines, add } = requested
    return addToCatalog(database, lines, { ...by, add, redaction: readNameRedaction })
  },

  /** A program reports a change. Delivered twice, it costs one more poll at most. */
  async hint(app, { data }) {
    const { scope, add, requestedBy } = checked(HintJobSchema, data, 'data')
    if (add) await addHinted(app.store.database, scope, requestedBy)
    const { hinted, items } = await hint(app.sync, scope)
    await app.deliver(items)
    return hinted
  },
} satisfies Record<string, Job>

/** A nightly run leaves out what continuous refresh polls all day. */
function scopeOfNight({ refreshBudget, sync: { operations } }: App): Scope {
  const others = operations.filter((each) => !OPERATIONS[each].isRefreshed)
  return refreshBudget !== null && others.length > 0 ? { operations: others } : {}
}

/** A job for items of runs. It finishes the run where the item was the last one. */
function itemJob(perform: (app: App, ids: z.output<typeof ItemIds>) => Promise<unknown>): Job {
  return async (app, { data }) => {
    const ids = checked(ItemIds, data, 'data')
    await perform(app, ids)
    await finishIfDone(app.sync, ids.runId)
  }
}

/** Unknown members are ignored: a newer version may add some. */
const ItemIds = z.object({ runId: RunIdSchema, itemId: z.int() })
