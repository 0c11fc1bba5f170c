import type * as z from 'zod'
import {
  FailureSchema,
  FailuresRequestSchema,
  RunSchema,
  RunsRequestSchema,
} from '../../schemas/run.ts'
import { ActionSchema } from '../../schemas/action.ts'
import { AttentionRequestSchema, AttentionSchema } from '../../schemas/attention.ts'
import { CatalogEntrySchema, CatalogRequestSchema } from '../../schemas/catalog-line.ts'
import { ChangesPageSchema, ChangesRequestSchema } from '../../schemas/change.ts'
import { OrganizationSchema } from '../../schemas/freshness.ts'
import { RunChangesPageSchema, RunChangesRequestSchema } from '../../schemas/run-change.ts'
import { HeldListingSchema, RejectedRecordSchema } from '../../schemas/waiting.ts'
import { OfRunRequestSchema, PageRequestSchema, pageSchema } from '../../schemas/page.ts'
import type { Page, PageRequest } from '../../schemas/page.ts'
import { CursorGoneError } from '../../base/errors.ts'
import { noSuchRun, pathOf, ProblemError } from '../problem.ts'
import { namingCursor, operation, refused, RunPathSchema, withLimit } from './operation.ts'
import type { OperationParts, V1App, V1Options } from './operation.ts'

/** The parameters of a path that names a run; other paths have none. */
type RunPath = z.output<typeof RunPathSchema>

/** The listings, which return pages. */
export function listingRoutes(app: V1App, { collabSync }: V1Options): void {
  list(app, '/runs', withLimit(RunsRequestSchema), collabSync.listRuns, {
    id: 'listRuns',
    summary: 'Runs, newest first',
    response: pageSchema(RunSchema),
  })
  list(app, '/attention', withLimit(AttentionRequestSchema), collabSync.listAttention, {
    id: 'listAttention',
    summary: 'Open problems, by kind and organization',
    response: pageSchema(AttentionSchema),
  })
  list(app, '/failures', withLimit(FailuresRequestSchema), collabSync.listFailures, {
    id: 'listFailures',
    summary: 'Failed scopes, newest first',
    response: pageSchema(FailureSchema),
  })
  const ofRun = withLimit(RunChangesRequestSchema.omit({ runId: true }))
  const listRunChanges = async (query: z.output<typeof ofRun>, path: RunPath) => {
    const page = await collabSync.listRunChanges({ ...query, ...path })
    if (page === null) throw noSuchRun()
    return page
  }
  list(app, '/runs/:runId/changes', ofRun, listRunChanges, {
    id: 'listRunChanges',
    summary: 'What a run changed, newest first, with the counts of all',
    params: RunPathSchema,
    response: RunChangesPageSchema,
    problems: [404],
  })
  list(app, '/rejected-records', withLimit(OfRunRequestSchema), collabSync.listRejectedRecords, {
    id: 'listRejectedRecords',
    summary: 'Records that could not be stored, newest first',
    response: pageSchema(RejectedRecordSchema),
  })
  list(app, '/held', withLimit(OfRunRequestSchema), collabSync.listHeld, {
    id: 'listHeld',
    summary: 'Held removals of users, which need a decision',
    response: pageSchema(HeldListingSchema),
  })
  list(app, '/actions', withLimit(OfRunRequestSchema), collabSync.listActions, {
    id: 'listActions',
    summary: 'Actions of users and programs, newest first',
    response: pageSchema(ActionSchema),
  })
  list(app, '/organizations', withLimit(PageRequestSchema), collabSync.listOrganizations, {
    id: 'listOrganizations',
    summary: 'Organizations, with their freshness',
    response: pageSchema(OrganizationSchema),
  })
  const listCatalog = async (query: z.output<typeof CatalogRequestSchema>) => {
    if (query.documentId !== undefined && query.organizationId === undefined)
      throw new ProblemError(400, 'documentId needs organizationId.', {
        errors: [{ in: 'query', member: 'documentId', detail: 'needs organizationId' }],
      })
    return collabSync.listCatalog(query)
  }
  list(app, '/catalog', withLimit(CatalogRequestSchema), listCatalog, {
    id: 'listCatalog',
    summary: 'The catalog entries of a document, of an organization, or all organizations',
    response: pageSchema(CatalogEntrySchema),
  })
  // A cursor whose changes are not stored any more: a retry cannot succeed.
  const listChanges = (query: PageRequest) =>
    collabSync.listChanges(query).catch(refused(410, CursorGoneError))
  list(app, '/changes', withLimit(ChangesRequestSchema), listChanges, {
    id: 'listChanges',
    summary: 'Changes after a cursor, in their order',
    description:
      'To keep a copy, export the tables and start with the cursor of the export. Numbers above 2^53 in `raw` are rounded here, but not in `collab-sync changes`.',
    response: ChangesPageSchema,
    problems: [410],
  })
}

/**
 * Adds a listing, which responds with a page and with the address of the next page in `Link` (RFC 8288).
 * @param query the accepted parameters, which the address of the next page repeats
 */
function list<Query extends PageRequest>(
  app: V1App,
  path: string,
  query: z.ZodType<Query>,
  read: (query: Query, path: RunPath) => Promise<Page<unknown>>,
  { id, ...parts }: Omit<OperationParts, 'querystring'> & { readonly id: string },
): void {
  const options = operation('read', id, { ...parts, querystring: query })
  app.get(path, options, async (request, reply) => {
    const requested = request.query as Query
    const page = await read(requested, request.params as RunPath).catch(namingCursor)
    if (page.nextCursor !== null) {
      const next = new URLSearchParams()
      for (const [name, value] of Object.entries({ ...requested, cursor: page.nextCursor }))
        if (value !== undefined) next.set(name, String(value))
      reply.header('link', `<${pathOf(request)}?${next}>; rel="next"`)
    }
    return reply.send(page)
  })
}
