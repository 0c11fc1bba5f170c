import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { createJsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'
import { version } from '../base/version.ts'

/** Describes every tagged route that is added later, at `/openapi.json`. */
export async function addOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'collab-sync', version: version(), description: DESCRIPTION },
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
            description: 'The cookie of a browser that signed in.',
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

const DESCRIPTION = `Starts and follows runs, decides on held removals and rejected records, and reads the stored data.

Every response with a status from 400 is a problem document (RFC 9457). Listings have pages: send \`nextCursor\` as \`cursor\`, or follow \`Link\`. Unknown members of a request are refused by name. Percent-encode the IDs in a path; the IDs \`.\` and \`..\` cannot be used in a path, because clients and proxies remove them.`

/** The generator makes each schema twice, for requests and for responses. Keeps those that an operation refers to. */
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
  markOptionalBodies(document)
  const schemas = Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)))
  const kept = JSON.stringify({ ...document, components: { ...document.components, schemas } })
  // No schema is used for both, so that those for requests need no other name.
  return JSON.parse(kept.replaceAll(/("(?:#\/components\/schemas\/)?\w+)Input"/g, '$1"'))
}

/** The generator requires every body. One without required members may be left out, which the server takes as `{}`. */
function markOptionalBodies({ paths = {}, components }: OpenAPIV3_1.Document): void {
  const operations = Object.values(paths).flatMap((methods) =>
    Object.values(methods as Record<string, OpenAPIV3_1.OperationObject>),
  )
  for (const { requestBody } of operations) {
    if (requestBody === undefined || '$ref' in requestBody) continue
    const schema = Object.values(requestBody.content)[0]?.schema ?? {}
    const name = '$ref' in schema ? schema.$ref.split('/').at(-1) : undefined
    const whole = name === undefined ? schema : components?.schemas?.[name]
    requestBody.required = (whole as OpenAPIV3_1.SchemaObject).required !== undefined
  }
}
