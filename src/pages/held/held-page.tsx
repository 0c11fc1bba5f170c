import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { shortId } from '../../format.ts'
import { readHeldUsers } from '../../database/held-users.ts'
import { sendPage } from '../layout.tsx'
import { noticeOf } from '../notices.ts'
import type { PageContext } from '../page-context.ts'
import { optionalText, readFields } from '../query.ts'
import { HeldSection } from './held-listing.tsx'
import { RejectedSection } from './rejected.tsx'

const LISTINGS_A_PAGE = 10
const RECORDS_A_PAGE = 10
const USERS_SHOWN = 8

const Query = z.object({
  run: optionalText,
  cursor: optionalText,
  rejectedCursor: optionalText,
})

/** `/held`: what waits for a person, and why: held removals side by side with what they would do, and rejected records. */
export function heldRoutes(app: FastifyInstance, { collabSync, database }: PageContext): void {
  app.get('/held', { config: { right: 'read' } }, async (request, reply) => {
    const { run, cursor, rejectedCursor } = readFields(Query, request.query)
    const ofRun = run ? { runId: run } : {}
    const [held, rejected] = await Promise.all([
      collabSync.listHeld({ ...ofRun, limit: LISTINGS_A_PAGE, ...(cursor && { cursor }) }),
      collabSync.listRejectedRecords({
        ...ofRun,
        limit: RECORDS_A_PAGE,
        ...(rejectedCursor && { cursor: rejectedCursor }),
      }),
    ])
    const heldIds = held.items.map(({ heldId }) => heldId)
    const users = await readHeldUsers(database, heldIds, USERS_SHOWN)
    return sendPage(
      reply,
      { title: 'Held and rejected', part: '/held', notice: noticeOf(request.query) },
      <>
        {run !== undefined && (
          <p>
            Of <a href={`/runs/${run}`}>run {shortId(run)}</a> alone.{' '}
            <a href="/held">Of all runs</a>
          </p>
        )}
        <HeldSection held={held} users={users} query={{ run, cursor, rejectedCursor }} />
        <RejectedSection rejected={rejected} query={{ run, cursor, rejectedCursor }} />
      </>,
    )
  })
}
