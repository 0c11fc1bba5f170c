import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { scopePath } from '../../../documents/format.ts'
import { parentOf } from '../../../documents/thing.ts'
import type { Found } from '../../../documents/thing.ts'
import { sendPage } from '../layout.tsx'
import { optionalText, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Table } from '../tables.tsx'
import type { Column } from '../tables.tsx'
import { NamedThing, thingPath } from './thing-link.tsx'

const Query = z.object({ q: optionalText })
const NOTHING = { items: [], notes: ['Search for an ID, a part of one, a name or an address.'] }

/** `/search`: finds runs and objects by an ID, a name or an email address. A single exact result redirects to its page. */
export function searchRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/search', { config: { right: 'read' } }, async (request, reply) => {
    const { q = '' } = readFields(Query, request.query)
    const { items, notes } = q === '' ? NOTHING : await collabSync.search({ q })
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
        <Table
          caption="Results, exact ones first"
          empty="Nothing was found."
          rows={items}
          columns={COLUMNS}
        />
      </section>,
    )
  })
}

const COLUMNS: readonly Column<Found>[] = [
  ['Result', Result, 'id'],
  ['In', ({ ids }) => ids !== null && scopePath(parentOf(ids) ?? {}), 'id'],
  ['Match', ({ isExact }) => (isExact ? 'exact' : 'part'), 'nowrap'],
]

function Result({ kind, ids, runId, name }: Found) {
  if (kind !== 'run' && ids !== null) return <NamedThing {...{ kind, ids, name }} />
  return <a href={`/runs/${runId}`}>Run {runId}</a>
}
