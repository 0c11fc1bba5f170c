import type { FastifyInstance, FastifyRequest } from 'fastify'
import { signatureFault } from '../../webhook.ts'
import { ProblemError } from '../problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True where a signature by HINT_WEBHOOK_SECRET takes the place of a token; its plugin calls {@link keepBodies}. */
    takesSignature?: true
  }
}

/** Bodies as they came: a signature is of bytes, not of what they mean. */
const bodies = new WeakMap<FastifyRequest, Buffer>()

/** Has the JSON bodies of a plugin's routes kept as they come, for {@link checkSignature}. */
export function keepBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, body, done) => {
      bodies.set(request, body)
      parse(request, body.toString(), done)
    },
  )
}

/**
 * Whether a request is to be let in by its signature: whose it is shows when its body is there.
 * @param secret HINT_WEBHOOK_SECRET; without one nobody is
 */
export function saysSigned(request: FastifyRequest, secret: string | undefined): secret is string {
  const { config } = request.routeOptions
  const { authorization, 'webhook-signature': signature } = request.headers
  return (
    secret !== undefined &&
    config?.takesSignature === true &&
    signature !== undefined &&
    authorization === undefined
  )
}

/**
 * Refuses a request that only says it is signed, also one whose body nobody kept.
 * @throws ProblemError 401
 */
export function checkSignature(request: FastifyRequest, secret: string | undefined): void {
  if (!saysSigned(request, secret)) return
  const body = bodies.get(request) ?? Buffer.alloc(0)
  const fault = signatureFault(secret, request.headers, body, new Date())
  if (fault !== null) throw new ProblemError(401, fault)
}
