import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { createJsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'

/** Describes every tagged route that is added from now on, at `/openapi.json`. */
export async function addOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'collab-sync', version: '1.0.0', description: DESCRIPTION },
      // Where the document came from is where the API is.
      servers: [{ url: app.basePath || '/' }],
      security: [{ token: [] }, { session: [] }],
      components: {
        securitySchemes: {
          token: {
            type: 'http',
            scheme: 'bearer',
            description: 'HTTP_TOKEN, or a token of `collab-sync token add`.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'collab-sync-session',
            description: 'What a browser gets that signs in.',
          },
        },
      },
    },
    hideUntagged: true,
    transform: createJsonSchemaTransform({}),
    transformObject: (document) =>
      withUsedSchemas(jsonSchemaTransformObject(document) as OpenAPIV3_1.Document) as never,
  })
  app.get('/openapi.json', { config: { right: 'read' } }, async () => app.swagger())
}

const DESCRIPTION = `Asks collab-sync for runs, follows them, settles what waits for a person, and reads what is stored.

Every answer from 400 on is a problem document (RFC 9457). Listings come in pages: hand \`nextCursor\` back as \`cursor\`, or follow \`Link\`. What a request holds and the API does not know is refused by its name. An id in a path is percent-encoded; the ids \`.\` and \`..\` cannot be used in a path, because clients and proxies remove them.`

/** Every schema comes as one for requests and one for answers: those that something refers to are kept. */
function withUsedSchemas(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const all = document.components?.schemas ?? {}
  const used = new Set<string>()
  const visit = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      visit(all[name])
    }
  }
  visit(document.paths)
  const schemas = Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)))
  const kept = JSON.stringify({ ...document, components: { ...document.components, schemas } })
  // None of ours is for both, so that those for requests need no name of their own.
  return JSON.parse(kept.replaceAll(/("(?:#\/components\/schemas\/)?\w+)Input"/g, '$1"'))
}
