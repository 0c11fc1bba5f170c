import type { FastifyInstance } from 'fastify'
import { ACTION_COLUMNS } from '../../schemas/columns.ts'
import { sendPage } from './layout.tsx'
import { CursorQuery, READ, readFields } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import { Pager, Table } from './tables.tsx'

/** `/history`: the actions of users and programs, newest first. */
export function historyRoutes(app: FastifyInstance, { collabSync }: PageContext): void {
  app.get('/history', READ, async (request, reply) => {
    const { cursor } = readFields(CursorQuery, request.query)
    const { items, nextCursor } = await collabSync.listActions({ cursor })
    return sendPage(
      reply,
      { title: 'History', part: '/history' },
      <section class="card">
        <p class="soft">
          Actions of users and programs. Nightly runs, continuous refresh and change notifications
          are not listed. A program chose the name after <code>says:</code> itself.
        </p>
        <Table
          caption="Actions, newest first"
          empty="There are no actions."
          rows={items}
          columns={ACTION_COLUMNS}
        />
        <Pager path="/history" query={{ cursor }} nextCursor={nextCursor} />
      </section>,
    )
  })
}
