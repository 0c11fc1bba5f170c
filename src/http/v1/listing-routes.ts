import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
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
import type { OperationParts, V1Options } from './operation.ts'

/** What can be paged through; a Fastify plugin. */
export async function listingRoutes(
  plain: FastifyInstance,
  { collabSync }: V1Options,
): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>()
  app.get(
    '/runs',
    listing(RunsRequestSchema, RunSchema, {
      id: 'listRuns',
      tag: 'Runs',
      summary: 'Runs, the newest first',
      answered: 'A page of runs.',
    }),
    async (request, reply) => sendPage(request, reply, request.query, collabSync.listRuns),
  )
  app.get(
    '/attention',
    listing(AttentionRequestSchema, AttentionSchema, {
      id: 'listAttention',
      tag: 'What needs a person',
      summary: 'What is wrong now and needs a person, by kind and organization',
      answered: 'A page of open problems.',
    }),
    async (request, reply) => sendPage(request, reply, request.query, collabSync.listAttention),
  )
  app.get(
    '/failures',
    listing(FailuresRequestSchema, FailureSchema, {
      id: 'listFailures',
      tag: 'What needs a person',
      summary: 'Scopes that gave no usable answer, the newest first',
      answered: 'A page of failures.',
    }),
    async (request, reply) => sendPage(request, reply, request.query, collabSync.listFailures),
  )
  app.get(
    '/rejected-records',
    listing(OfRunRequestSchema, RejectedRecordSchema, {
      id: 'listRejectedRecords',
      tag: 'What needs a person',
      summary: 'Records that could not be stored, the newest first',
      answered: 'A page of rejected records.',
    }),
    async (request, reply) =>
      sendPage(request, reply, request.query, collabSync.listRejectedRecords),
  )
  app.get(
    '/held',
    listing(OfRunRequestSchema, HeldListingSchema, {
      id: 'listHeld',
      tag: 'What needs a person',
      summary: 'Listings that wait for a person',
      answered: 'A page of held listings.',
    }),
    async (request, reply) => sendPage(request, reply, request.query, collabSync.listHeld),
  )
  app.get(
    '/actions',
    listing(OfRunRequestSchema, ActionSchema, {
      id: 'listActions',
      tag: 'Actions',
      summary: 'What users and programs did, the newest first',
      answered: 'A page of actions.',
    }),
    async (request, reply) => sendPage(request, reply, request.query, collabSync.listActions),
  )
  app.get(
    '/organizations',
    listing(PageRequestSchema, OrganizationSchema, {
      id: 'listOrganizations',
      tag: 'Freshness',
      summary: 'Organizations, with how fresh each one is',
      answered: 'A page of organizations.',
    }),
    async (request, reply) => sendPage(request, reply, request.query, collabSync.listOrganizations),
  )
  app.get(
    '/catalog',
    listing(CatalogRequestSchema, CatalogEntrySchema, {
      id: 'listCatalog',
      tag: 'Catalog',
      summary:
        'What the catalog holds beneath a document, else an organization, else all organizations',
      answered: 'A page of the catalog.',
    }),
    async (request, reply) => {
      const { organizationId, documentId } = request.query
      if (documentId !== undefined && organizationId === undefined)
        throw new ProblemError(400, 'documentId needs organizationId.', {
          errors: [{ in: 'query', member: 'documentId', detail: 'needs organizationId' }],
        })
      return sendPage(request, reply, request.query, collabSync.listCatalog)
    },
  )
  app.get(
    '/changes',
    operation('read', {
      id: 'listChanges',
      tag: 'Changes',
      summary: 'What changed behind a cursor, in the order in which each row did',
      description:
        'To keep a copy: export the tables, and begin with the cursor that the export says. Numbers beyond 2^53 within raw are rounded; `collab-sync changes` has them whole.',
      querystring: withLimit(ChangesRequestSchema),
      answer: ChangesPageSchema,
      answered: 'A page of changes.',
      problems: [410],
    }),
    async (request, reply) =>
      sendPage(request, reply, request.query, (query) =>
        collabSync.listChanges(query).catch(goneCursor),
      ),
  )
}

/** An operation that answers with a page of items. */
function listing<Shape extends (typeof PageRequestSchema)['shape']>(
  request: z.ZodObject<Shape, z.core.$strict>,
  item: z.ZodType,
  parts: Pick<OperationParts, 'id' | 'tag' | 'summary' | 'answered'>,
) {
  return operation('read', {
    ...parts,
    querystring: withLimit(request),
    answer: pageSchema(item),
  })
}

/** The cursor was one: to ask again is of no use. */
function goneCursor(error: unknown): never {
  throw error instanceof CursorGoneError ? new ProblemError(410, error.message) : error
}

/**
 * Answers with a page of a listing, and says in `Link` where the next one is (RFC 8288).
 * @param query as it was checked: the next page is asked for with the same
 */
async function sendPage<Query extends PageRequest>(
  request: FastifyRequest,
  reply: FastifyReply,
  query: Query,
  list: (query: Query) => Promise<Page<unknown>>,
) {
  const page = await list(query).catch(namingCursor)
  if (page.nextCursor !== null) {
    const next = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...query, cursor: page.nextCursor }))
      if (value !== undefined) next.set(name, String(value))
    reply.header('link', `<${pathOf(request)}?${next}>; rel="next"`)
  }
  return reply.send(page)
}
