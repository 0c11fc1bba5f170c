import * as z from 'zod'
import type { Database } from '../database/pool.ts'
import { RECORD_CHARACTERS } from '../database/rejected.ts'
import { pageRuns } from '../database/run-pages.ts'
import { durationOf, RUN_STATUSES } from '../database/run-reports.ts'
import * as failures from '../database/statements/failures.ts'
import * as held from '../database/statements/held.ts'
import * as organizations from '../database/statements/organizations.ts'
import * as rejected from '../database/statements/rejected.ts'
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
const USERS_NAMED = 100
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
        read: (after, limit) => pageRuns(database, { status: status ?? null, after, limit }),
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
        read: (before, limit) => failures.page.all(database, { ...of, before, limit }),
        keyOf: ({ failureId }) => failureId,
      })
    },
    async listRejectedRecords({ runId, ...page } = {}) {
      const of = {
        runId: runIdOf(runId),
        isSetAside: false,
        mostCharacters: RECORD_CHARACTERS,
      }
      return readPage(page, {
        name: 'rejected',
        key: RowId,
        read: (before, limit) => rejected.list.all(database, { ...of, before, limit }),
        keyOf: ({ rejectedRecordId }) => rejectedRecordId,
      })
    },
    async listHeld({ runId, ...page } = {}) {
      const of = { runId: runIdOf(runId), mostUsers: USERS_NAMED }
      return readPage(page, {
        name: 'held',
        key: RowId,
        read: (after, limit) => held.list.all(database, { ...of, after, limit }),
        keyOf: ({ heldId }) => heldId,
      })
    },
    async listOrganizations({ search, ...page } = {}) {
      const contains = textOf('search', search)
      return readPage(page, {
        name: 'organizations',
        key: Text,
        read: (after, limit) => organizations.page.all(database, { contains, after, limit }),
        keyOf: ({ organizationId }) => organizationId,
      })
    },
  }
}
