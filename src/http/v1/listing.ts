import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Page } from '../../collab-sync/collab-sync.ts'
import { UsageError } from '../../errors.ts'
import { ProblemError, pathOf } from '../problem.ts'

/**
 * Answers with a page of a listing, and says in `Link` where the next one is (RFC 8288).
 * @param query as it was checked: the next page is asked for with the same
 */
export async function sendPage<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  query: Record<string, string | number | undefined>,
  list: () => Promise<Page<T>>,
) {
  const page = await namingCursor(query['cursor'], list)
  if (page.nextCursor !== null) {
    const next = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...query, cursor: page.nextCursor }))
      if (value !== undefined) next.set(name, String(value))
    reply.header('link', `<${pathOf(request)}?${next}>; rel="next"`)
  }
  return reply.send(page)
}

/** Everything else in a listing's query has been checked before, so what is left to be wrong is the cursor. */
async function namingCursor<T>(cursor: unknown, list: () => Promise<T>): Promise<T> {
  try {
    return await list()
  } catch (error) {
    if (!(error instanceof UsageError) || cursor === undefined) throw error
    throw new ProblemError(400, error.message, {
      errors: [
        { in: 'query', member: 'cursor', detail: 'must be the nextCursor of a page before' },
      ],
    })
  }
}
