import type { FastifyInstance } from 'fastify'
import type { ComponentChildren } from 'preact'
import * as z from 'zod'
import { scopePath, shortId } from '../../../documents/format.ts'
import { KIND_NAMES, ownId, parentOf } from '../../../documents/thing.ts'
import type { Found } from '../../../documents/thing.ts'
import { sendPage } from '../layout.tsx'
import { optionalText, readFields } from '../page-context.ts'
import type { PageContext } from '../page-context.ts'
import { Table } from '../tables.tsx'
import type { Column } from '../tables.tsx'
import { thingPath } from './thing-link.tsx'

const Query = z.object({ q: optionalText })

/** `/search`: runs and things by an id, a name or an address. A single exact one opens its page. */
export function searchRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/search', { config: { right: 'read' } }, async (request, reply) => {
    const { q } = readFields(Query, request.query)
    const { items, notes } =
      q === undefined ? { items: [], notes: [] } : await collabSync.search({ q })
    const [exact, ...others] = items.filter(({ isExact }) => isExact)
    if (exact !== undefined && others.length === 0) return reply.redirect(pathOf(exact))
    return sendPage(
      reply,
      { title: 'Search', part: null, search: q },
      <section class="card">
        <p class="soft">
          Search for an ID or a part of one, a name, an address, a run, or a comment as{' '}
          <code>ANNOTATION/NUMBER</code>.
        </p>
        {notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
        {q !== undefined && (
          <Table
            label="Results"
            caption="Results, exact ones first"
            empty="Nothing was found."
            rows={items}
            columns={COLUMNS}
          />
        )}
      </section>,
    )
  })
}

function pathOf({ ids, runId }: Found): string {
  return ids === null ? `/runs/${runId}` : thingPath(ids)
}

const COLUMNS: readonly Column<Found>[] = [
  ['Result', Result, 'id'],
  ['Kind', ({ kind }) => (kind === 'run' ? 'Run' : KIND_NAMES[kind]), 'nowrap'],
  ['In', ({ ids }) => ids !== null && scopePath(parentOf(ids) ?? {}), 'id'],
  ['Match', ({ isExact }) => (isExact ? 'exact' : 'part'), 'nowrap'],
]

function Result(found: Found): ComponentChildren {
  const { kind, ids, runId, name } = found
  const own = kind === 'run' || ids === null ? shortId(runId ?? '') : ownId(kind, ids)
  return (
    <>
      <a href={pathOf(found)}>
        <bdi>{name ?? own}</bdi>
      </a>
      {name !== null && <div class="soft">{own}</div>}
    </>
  )
}
