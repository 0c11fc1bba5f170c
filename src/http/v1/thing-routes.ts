import * as z from 'zod'
import { id } from '../../documents/check.ts'
import {
  KIND_NAMES,
  SearchRequestSchema,
  SearchSchema,
  THING_SCHEMAS,
  ThingPagesSchema,
} from '../../documents/thing.ts'
import { ProblemError } from '../problem.ts'
import { AnnotationPath, LISTED, OrganizationPath } from './catalog-routes.ts'
import { digits, namingCursor, operation, operationId, withLimit } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

/** Each kind of thing, with its path and the schema of its ids. */
const THINGS = [
  ...LISTED,
  [
    'comment',
    '/organizations/:organizationId/documents/:documentId/annotations/:annotationId/comments/:commentId',
    AnnotationPath.extend({ commentId: digits(z.int('must be a whole number')) }),
  ],
  ['user', '/users/:organizationId/:userId', OrganizationPath.extend({ userId: id })],
] as const

/** Reading all that is stored of one thing, and finding things. */
export function thingRoutes(app: V1App, { collabSync }: V1Options): void {
  for (const [kind, path, params] of THINGS) {
    const noun = KIND_NAMES[kind].toLowerCase()
    app.get(
      path,
      operation('read', {
        id: operationId('get', kind),
        tag: 'Things',
        summary: `One ${noun}: why it is here or gone, when it was checked, its life, what it holds`,
        params,
        querystring: withLimit(ThingPagesSchema),
        answer: THING_SCHEMAS[kind],
        answered: `The ${noun}.`,
        problems: [404],
      }),
      async ({ params: ids, query }, reply) => {
        const thing = await collabSync.getThing({ ...ids, ...query }).catch(namingCursor)
        if (thing === null) throw new ProblemError(404, `There is no such ${noun}.`)
        return reply.send(thing)
      },
    )
  }
  app.get(
    '/search',
    operation('read', {
      id: 'search',
      tag: 'Things',
      summary: 'Runs and things by an id, a part of one, a name or an address',
      querystring: SearchRequestSchema,
      answer: SearchSchema,
      answered: 'What was found, exact ones first.',
    }),
    async (request, reply) => reply.send(await collabSync.search(request.query)),
  )
}
