import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { FOUND_COLUMNS } from '../../../schemas/thing-columns.ts'
import { pathWith } from '../elements.tsx'
import { sendPage } from '../layout.tsx'
import { optionalText, READ, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Table } from '../tables.tsx'
import { thingPath } from './thing-link.tsx'

const Query = z.object({ q: optionalText, seconds: z.coerce.number().optional() })
const NOTHING = {
  items: [],
  isComplete: true,
  notes: ['Search for an ID, a part of one, a name or an address.'],
}
const LONGER_SECONDS = 30

/** `/search`: finds runs and objects by an ID, a name or an email address. A single exact result redirects to its page. */
export function searchRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/search', READ, async (request, reply) => {
    const { q = '', seconds } = readFields(Query, request.query)
    const { items, isComplete, notes } =
      q === '' ? NOTHING : await collabSync.search({ q, seconds })
    const [exact, ...others] = items.filter(({ isExact }) => isExact)
    if (exact !== undefined && others.length === 0)
      return reply.redirect(exact.ids === null ? `/runs/${exact.runId}` : thingPath(exact.ids))
    return sendPage(
      reply,
      { title: 'Search', part: null, search: q },
      <section class="card">
        {notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
        {!isComplete && seconds !== LONGER_SECONDS && (
          <p>
            <a href={pathWith('/search', { q, seconds: LONGER_SECONDS })}>
              Search for up to {LONGER_SECONDS} seconds
            </a>
          </p>
        )}
        <Table
          caption="Results, exact ones first"
          empty="Nothing was found."
          rows={items}
          columns={FOUND_COLUMNS}
        />
      </section>,
    )
  })
}
