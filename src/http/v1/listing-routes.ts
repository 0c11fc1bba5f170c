import type * as z from 'zod'
import {
  FailureSchema,
  FailuresRequestSchema,
  RunSchema,
  RunsRequestSchema,
} from '../../documents/run.ts'
import { ActionSchema } from '../../documents/action.ts'
import { AttentionRequestSchema, AttentionSchema } from '../../documents/attention.ts'
import { CatalogEntrySchema, CatalogRequestSchema } from '../../documents/catalog-line.ts'
import { ChangesPageSchema, ChangesRequestSchema } from '../../documents/change.ts'
import { OrganizationSchema } from '../../documents/freshness.ts'
import { HeldListingSchema, RejectedRecordSchema } from '../../documents/waiting.ts'
import { OfRunRequestSchema, PageRequestSchema, pageSchema } from '../../documents/page.ts'
import type { Page, PageRequest } from '../../documents/page.ts'
import { CursorGoneError } from '../../base/errors.ts'
import { pathOf, ProblemError } from '../problem.ts'
import { namingCursor, operation, withLimit } from './operation.ts'
import type { OperationParts, V1App, V1Options } from './operation.ts'

/** The listings, which are read page by page. */
export function listingRoutes(app: V1App, { collabSync }: V1Options): void {
  list(app, '/runs', withLimit(RunsRequestSchema), collabSync.listRuns, {
    id: 'listRuns',
    tag: 'Runs',
    summary: 'Runs, the newest first',
    answer: pageSchema(RunSchema),
    answered: 'A page of runs.',
  })
  list(app, '/attention', withLimit(AttentionRequestSchema), collabSync.listAttention, {
    id: 'listAttention',
    tag: 'What needs a person',
    summary: 'What is wrong now and needs a person, by kind and organization',
    answer: pageSchema(AttentionSchema),
    answered: 'A page of open problems.',
  })
  list(app, '/failures', withLimit(FailuresRequestSchema), collabSync.listFailures, {
    id: 'listFailures',
    tag: 'What needs a person',
    summary: 'Scopes that gave no usable answer, the newest first',
    answer: pageSchema(FailureSchema),
    answered: 'A page of failures.',
  })
  list(app, '/rejected-records', withLimit(OfRunRequestSchema), collabSync.listRejectedRecords, {
    id: 'listRejectedRecords',
    tag: 'What needs a person',
    summary: 'Records that could not be stored, the newest first',
    answer: pageSchema(RejectedRecordSchema),
    answered: 'A page of rejected records.',
  })
  list(app, '/held', withLimit(OfRunRequestSchema), collabSync.listHeld, {
    id: 'listHeld',
    tag: 'What needs a person',
    summary: 'Listings that wait for a person',
    answer: pageSchema(HeldListingSchema),
    answered: 'A page of held listings.',
  })
  list(app, '/actions', withLimit(OfRunRequestSchema), collabSync.listActions, {
    id: 'listActions',
    tag: 'Actions',
    summary: 'What users and programs did, the newest first',
    answer: pageSchema(ActionSchema),
    answered: 'A page of actions.',
  })
  list(app, '/organizations', withLimit(PageRequestSchema), collabSync.listOrganizations, {
    id: 'listOrganizations',
    tag: 'Freshness',
    summary: 'Organizations, with how fresh each one is',
    answer: pageSchema(OrganizationSchema),
    answered: 'A page of organizations.',
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
    tag: 'Catalog',
    summary:
      'What the catalog holds beneath a document, else an organization, else all organizations',
    answer: pageSchema(CatalogEntrySchema),
    answered: 'A page of the catalog.',
  })
  const listChanges = (query: PageRequest) => collabSync.listChanges(query).catch(goneCursor)
  list(app, '/changes', withLimit(ChangesRequestSchema), listChanges, {
    id: 'listChanges',
    tag: 'Changes',
    summary: 'What changed behind a cursor, in the order in which each row did',
    description:
      'To keep a copy: export the tables, and begin with the cursor that the export says. Numbers beyond 2^53 within raw are rounded; `collab-sync changes` has them whole.',
    answer: ChangesPageSchema,
    answered: 'A page of changes.',
    problems: [410],
  })
}

/** The cursor was one: to ask again is of no use. */
function goneCursor(error: unknown): never {
  throw error instanceof CursorGoneError ? new ProblemError(410, error.message) : error
}

/**
 * Adds a listing, which responds with a page and with the address of the next page in `Link` (RFC 8288).
 * @param query what it accepts; the address of the next page contains it as it was checked
 */
function list<Query extends PageRequest>(
  app: V1App,
  path: string,
  query: z.ZodType<Query>,
  read: (query: Query) => Promise<Page<unknown>>,
  parts: Omit<OperationParts, 'querystring'>,
): void {
  const options = operation('read', { ...parts, querystring: query })
  app.get(path, options, async (request, reply) => {
    const asked = request.query as Query
    const page = await read(asked).catch(namingCursor)
    if (page.nextCursor !== null) {
      const next = new URLSearchParams()
      for (const [name, value] of Object.entries({ ...asked, cursor: page.nextCursor }))
        if (value !== undefined) next.set(name, String(value))
      reply.header('link', `<${pathOf(request)}?${next}>; rel="next"`)
    }
    return reply.send(page)
  })
}
