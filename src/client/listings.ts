import * as z from 'zod'
import { readChanges, readHeldBack } from '../features/export/changes.ts'
import { readRuns } from './run-reports.ts'
import * as actions from '../core/database/statements/actions.ts'
import * as attention from '../core/database/statements/attention.ts'
import * as catalog from '../core/database/statements/catalog.ts'
import * as changes from '../core/database/statements/changes.ts'
import * as failures from '../core/database/statements/failures.ts'
import * as held from '../core/database/statements/held.ts'
import * as organizations from '../core/database/statements/organizations.ts'
import * as rejected from '../core/database/statements/rejected.ts'
import * as runs from '../core/database/statements/runs.ts'
import { ATTENTION_KINDS, AttentionRequestSchema, AttentionSchema } from '../schemas/attention.ts'
import { CatalogRequestSchema } from '../schemas/catalog-line.ts'
import { ChangeSchema, ChangesRequestSchema } from '../schemas/change.ts'
import type { ChangesPage } from '../schemas/change.ts'
import { checked, id, RunIdSchema } from '../schemas/check.ts'
import { FailureSchema, FailuresRequestSchema, RunsRequestSchema } from '../schemas/run.ts'
import { RunChangesPageSchema, RunChangesRequestSchema } from '../schemas/run-change.ts'
import type { RunChangesPage } from '../schemas/run-change.ts'
import { MISSING_NAMED, RECORD_CHARACTERS } from '../schemas/waiting.ts'
import { CURSOR_FAULT, OfRunRequestSchema, PageRequestSchema } from '../schemas/page.ts'
import type { Page, PageRequest } from '../schemas/page.ts'
import { RECORD_OBJECTS } from '../base/columns.ts'
import { UsageError } from '../base/errors.ts'
import type { Parts } from './parts.ts'

type On = Pick<Parts, 'database'>

const RowId = z.int().min(0)

export const listRuns = listing(RunsRequestSchema, {
  name: 'runs',
  // The range that both a timestamp of PostgreSQL and a safe integer have.
  key: z.tuple([z.int().min(0), RunIdSchema]),
  read: async ({ database }, { status = null }, after, limit) => {
    const [beforeUs, beforeRunId] = after ?? [null, null]
    const keys = await runs.page.all(database, { status, beforeUs, beforeRunId, limit })
    const runIds = keys.map(({ runId }) => runId)
    const reports = await readRuns(database, runIds, runIds.length)
    const byId = new Map(reports.map((run) => [run.runId, run]))
    return keys.flatMap(({ runId, requestedAtUs }) => {
      const run = byId.get(runId)
      return run === undefined ? [] : [{ requestedAtUs, run }]
    })
  },
  keyOf: ({ requestedAtUs, run }) => [requestedAtUs, run.runId],
  itemOf: ({ run }) => run,
})

export const listAttention = listing(AttentionRequestSchema, {
  name: 'attention',
  key: z.tuple([z.enum(ATTENTION_KINDS), id.nullable()]),
  read: async ({ database }, { kind = null }, after, limit) => {
    const [afterKind, afterOrganizationId] = after ?? [null, null]
    const of = { kind, afterKind, afterOrganizationId, limit }
    return z.array(AttentionSchema).parse(await attention.page.all(database, of))
  },
  keyOf: ({ kind, organizationId }) => [kind, organizationId],
})

export const listFailures = listing(FailuresRequestSchema, {
  name: 'failures',
  key: RowId,
  read: async ({ database }, { runId = null, organizationId = null }, before, limit) => {
    const page = await failures.page.all(database, { runId, organizationId, before, limit })
    return page.map((row) => ({ ...row, state: FailureSchema.shape.state.parse(row.state) }))
  },
  keyOf: ({ failureId }) => failureId,
})

export const listRejectedRecords = listing(OfRunRequestSchema, {
  name: 'rejected',
  key: RowId,
  read: ({ database }, { runId = null }, before, limit) => {
    const of = { runId, isSetAside: false, mostCharacters: RECORD_CHARACTERS }
    return rejected.list.all(database, { ...of, before, limit })
  },
  keyOf: ({ rejectedRecordId }) => rejectedRecordId,
})

export const listActions = listing(OfRunRequestSchema, {
  name: 'actions',
  key: RowId,
  read: ({ database }, { runId = null }, before, limit) =>
    actions.list.all(database, { runId, before, limit }),
  keyOf: ({ actionId }) => actionId,
})

export const listHeld = listing(OfRunRequestSchema, {
  name: 'held',
  key: RowId,
  read: ({ database }, { runId = null }, after, limit) => {
    const of = { runId, heldId: null, organizationId: null, isRefused: false }
    return held.list.all(database, { ...of, mostUsers: MISSING_NAMED, after, limit })
  },
  keyOf: ({ heldId }) => heldId,
})

export const listOrganizations = listing(PageRequestSchema, {
  name: 'organizations',
  key: id,
  read: ({ database }, _, after, limit) =>
    organizations.page.all(database, { after, limit, organizationId: null }),
  keyOf: ({ organizationId }) => organizationId,
})

export const listCatalog = listing(CatalogRequestSchema, {
  name: 'catalog',
  key: z.tuple([id.nullable(), id.nullable()]),
  read: ({ database }, { organizationId = null, documentId = null }, after, limit) => {
    if (documentId !== null && organizationId === null)
      throw new UsageError('documentId needs organizationId.')
    const [afterUserGroupId, afterId] = after ?? [null, null]
    const of = { organizationId, documentId, afterUserGroupId, afterId, limit }
    return catalog.list.all(database, of)
  },
  keyOf: (entry) => [
    entry.organizationUserGroupId,
    entry.organizationUserGroupId === null
      ? (entry.annotationId ?? entry.documentId ?? entry.organizationId)
      : null,
  ],
})

/** Lists changes after a cursor. @throws CursorGoneError if a new export is needed */
export async function listChanges(
  parts: On,
  request: z.input<typeof ChangesRequestSchema> = {},
): Promise<ChangesPage> {
  const given = checked(ChangesRequestSchema, request)
  const { cursor: after = null, limit: max = LIMIT_DEFAULT } = given
  const page = await readChanges(parts.database, { after, max, objects: null })
  const items = page.changes.map(({ key, row, runId, person, ...change }) =>
    ChangeSchema.parse({
      ...change,
      key: JSON.parse(key),
      ...(person !== null && { person }),
      row: JSON.parse(row ?? 'null'),
      run_id: runId,
    }),
  )
  const { lines: heldBack } = await readHeldBack(parts.database)
  const { cursor } = page
  return { items, nextCursor: page.hasMore ? cursor : null, cursor, heldBack }
}

/** Lists what a run changed, newest first; null if there is no such run. */
export async function listRunChanges(
  { database }: On,
  request: z.input<typeof RunChangesRequestSchema>,
): Promise<RunChangesPage | null> {
  const given = checked(RunChangesRequestSchema, request)
  const { runId, object, change = null } = given
  const counts = await changes.countOfRun.all(database, { runId, objects: RECORD_OBJECTS })
  const [run] = counts
  if (run === undefined) return null
  const page = await readPage(given, {
    name: 'changes',
    key: z.tuple([z.int().min(0), z.int().min(0)]),
    read: async (after, limit) => {
      if (run.object === null) return []
      const [beforeNumber, beforePlace] = after ?? [null, null]
      const objects = object === undefined ? RECORD_OBJECTS : [object]
      const of = { runId, objects, change, beforeNumber, beforePlace, limit }
      return changes.pageOfRun.all(database, of)
    },
    keyOf: ({ number, place }) => [number, place],
  })
  return RunChangesPageSchema.parse({ ...run, ...page, counts: run.object === null ? [] : counts })
}

/** With `[]`, an array that `keyOf` returns is a tuple. */
type ListingKey = string | number | readonly unknown[] | []

/** A listing in the order of a key, so that a row that is added between two pages causes no gap and no duplicate. */
interface Listing<Row, Key, Item, Given extends unknown[] = []> {
  /** Part of its cursors: a cursor of another listing is refused. */
  readonly name: string
  readonly key: z.ZodType<Key>
  /** The member of the request that has the cursor; `cursor` if omitted. */
  readonly member?: string
  /** Reads up to `max` rows after a key, or the first ones. */
  read(...given: [...Given, after: Key | null, max: number]): Promise<readonly Row[]>
  keyOf(row: Row): Key
  /** What the page shows of a row; all of it if omitted. */
  itemOf?(row: Row): Item
}

function listing<S extends z.ZodType<PageRequest>, Row, Key extends ListingKey, Item = Row>(
  schema: S,
  { read, ...how }: Listing<Row, Key, Item, [On, z.output<S>]>,
): (parts: On, request?: z.input<S>) => Promise<Page<Item>> {
  return async (parts, request) => {
    const given = checked(schema, request ?? {})
    return readPage(given, { ...how, read: (after, max) => read(parts, given, after, max) })
  }
}

const LIMIT_DEFAULT = 50

/** Reads a page. @throws UsageError naming the member of the cursor */
export async function readPage<Row, Key extends ListingKey, Item = Row>(
  { limit = LIMIT_DEFAULT, cursor }: PageRequest,
  { name, key, member = 'cursor', read, keyOf, itemOf }: Listing<Row, Key, Item>,
): Promise<Page<Item>> {
  const after = cursor === undefined ? null : decoded(cursor)
  const known = z
    .tuple([z.literal(name), key])
    .nullable()
    .safeParse(after)
  if (!known.success) throw new UsageError(`${member} ${CURSOR_FAULT}.`)
  // One more item shows whether there is another page.
  const found = await read(known.data?.[1] ?? null, limit + 1)
  const rows = found.slice(0, limit)
  const items = itemOf === undefined ? (rows as unknown[] as Item[]) : rows.map(itemOf)
  const last = rows.at(-1)
  if (found.length <= limit || last === undefined) return { items, nextCursor: null }
  const next = JSON.stringify([name, keyOf(last)])
  return { items, nextCursor: Buffer.from(next).toString('base64url') }
}

/** @returns undefined for a text that is no JSON */
function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString()) ?? undefined
  } catch {
    return undefined
  }
}
