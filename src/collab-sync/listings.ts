import * as z from 'zod'
import { listRejected, pageFailures } from '../database/failure-pages.ts'
import { pageHeld } from '../database/held-pages.ts'
import { pageOrganizations } from '../database/organization-pages.ts'
import type { Database } from '../database/pool.ts'
import { pageRuns } from '../database/run-pages.ts'
import { durationOf, RUN_STATUSES } from '../database/run-reports.ts'
import { UsageError } from '../errors.ts'
import type { CollabSync } from './collab-sync.ts'
import { readPage } from './pages.ts'
import { isStorable } from '../database/storable.ts'
import { runIdOf, textOf } from './request.ts'

type Listings = Pick<
  CollabSync,
  'listRuns' | 'listFailures' | 'listRejectedRecords' | 'listHeld' | 'listOrganizations'
>

/** An id of a row of ours. */
const RowId = z.int().min(0)
/** As far as a timestamp of PostgreSQL's and a number of ours both reach. */
const RunPlace = z.tuple([z.int().min(0), z.uuid()]).readonly()
const Text = z.string().refine(isStorable)

/** What can be paged through. */
export function listingsOn(database: Database): Listings {
  return {
    async listRuns({ status, ...page } = {}) {
      if (status !== undefined && !RUN_STATUSES.includes(status)) {
        throw new UsageError(`status must be one of ${RUN_STATUSES.join(', ')}.`)
      }
      const { items, nextCursor } = await readPage(page, {
        name: 'runs',
        key: RunPlace,
        read: (after, max) => pageRuns(database, { status: status ?? null, after, max }),
        keyOf: ({ key }) => key,
      })
      const runs = items.map(({ item }) => ({ ...item, durationMs: durationOf(item) }))
      return { items: runs, nextCursor }
    },
    async listFailures({ runId, organizationId, ...page } = {}) {
      const of = {
        runId: runIdOf(runId),
        organizationId: textOf('organizationId', organizationId),
      }
      return readPage(page, {
        name: 'failures',
        key: RowId,
        read: (after, max) => pageFailures(database, { ...of, after, max }),
        keyOf: ({ failureId }) => failureId,
      })
    },
    async listRejectedRecords({ runId, ...page } = {}) {
      const of = runIdOf(runId)
      return readPage(page, {
        name: 'rejected',
        key: RowId,
        read: (after, max) => listRejected(database, { runId: of, setAside: false, after, max }),
        keyOf: ({ rejectedRecordId }) => rejectedRecordId,
      })
    },
    async listHeld({ runId, ...page } = {}) {
      const of = runIdOf(runId)
      return readPage(page, {
        name: 'held',
        key: RowId,
        read: (after, max) => pageHeld(database, { runId: of, after, max }),
        keyOf: ({ heldId }) => heldId,
      })
    },
    async listOrganizations({ search, ...page } = {}) {
      const part = textOf('search', search)
      return readPage(page, {
        name: 'organizations',
        key: Text,
        read: (after, max) => pageOrganizations(database, { search: part, after, max }),
        keyOf: ({ organizationId }) => organizationId,
      })
    },
  }
}
