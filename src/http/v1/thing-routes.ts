import * as z from 'zod'
import { id } from '../../schemas/check.ts'
import {
  KIND_NAMES,
  SearchRequestSchema,
  SearchSchema,
  THING_SCHEMAS,
  ThingPagesSchema,
} from '../../schemas/thing.ts'
import { ProblemError } from '../problem.ts'
import { AnnotationPath, LISTED, OrganizationPath } from './catalog-routes.ts'
import { digits, namingCursor, operation, operationId, withLimit } from './operation.ts'
import type { V1App, V1Options } from './operation.ts'

const THINGS = [
  ...LISTED,
  [
    'comment',
    '/organizations/:organizationId/documents/:documentId/annotations/:annotationId/comments/:commentId',
    AnnotationPath.extend({ commentId: digits(z.int('must be a whole number')) }),
  ],
  ['user', '/users/:organizationId/:userId', OrganizationPath.extend({ userId: id })],
] as const

/** Reads all stored data of one object, and searches objects. */
export function thingRoutes(app: V1App, { collabSync }: V1Options): void {
  for (const [kind, path, params] of THINGS) {
    const noun = KIND_NAMES[kind].toLowerCase()
    const get = operation('read', operationId('get', kind), {
      summary: `One ${noun}: why it is here or gone, its last check, its history and its contents`,
      params,
      querystring: withLimit(ThingPagesSchema),
      response: THING_SCHEMAS[kind],
      problems: [404],
    })
    app.get(path, get, async ({ params: ids, query }) => {
      const thing = await collabSync.getThing({ ...ids, ...query }).catch(namingCursor)
      if (thing === null) throw new ProblemError(404, `There is no such ${noun}.`)
      return thing
    })
  }
  const { seconds } = SearchRequestSchema.shape
  const search = operation('read', 'search', {
    summary: 'Find runs and objects by an ID, a part of one, a name or an email address',
    querystring: SearchRequestSchema.extend({
      seconds: digits(seconds).describe(seconds.description ?? ''),
    }),
    response: SearchSchema,
    config: { takesLong: true },
  })
  app.get('/search', search, async ({ query }) => collabSync.search(query))
}
