import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { readHeldUsers } from '../database/waiting.ts'
import type { HeldUsers, SomeUsers } from '../database/waiting.ts'
import { count, counted, shortId } from '../format.ts'
import { AskButton, Card, Time } from './elements.tsx'
import { sendPage } from './layout.tsx'
import { optionalText, readFields } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import type { HeldListing } from '../documents/waiting.ts'
import type { Page } from '../documents/page.ts'
import { RejectedSection } from './rejected.tsx'
import { Pager } from './tables.tsx'

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
      { title: 'Held and rejected', part: '/held' },
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

/** Listings that lacked so many users that nobody was removed, each with what accepting it would do. */
function HeldSection({
  held,
  users,
  query,
}: {
  held: Page<HeldListing>
  users: ReadonlyMap<number, HeldUsers>
  query: Record<string, string | undefined>
}) {
  return (
    <Card title="Held removals" id="held">
      <p class="soft">
        A listing that suddenly lacks many of its users may be a fault of the service, so nobody was
        removed. Accept it where it is right; refuse it where it is not, and the same answer is not
        held again.
      </p>
      {held.items.length === 0 && <p>Nothing is held.</p>}
      {held.items.map((listing) => (
        <Listing key={listing.heldId} listing={listing} users={users.get(listing.heldId)} />
      ))}
      <Pager path="/held" query={query} nextCursor={held.nextCursor} />
    </Card>
  )
}

function Listing({ listing, users }: { listing: HeldListing; users: HeldUsers | undefined }) {
  const name = listingName(listing)
  return (
    <article class="held">
      <div class="head">
        <h3>{name}</h3>
        {['accept', 'refuse'].map((action) => (
          <AskButton
            key={action}
            action={action}
            fields={{ held: String(listing.heldId), run: listing.runId }}
            words={action === 'accept' ? 'Accept' : 'Refuse'}
            about={`the removal in ${name}`}
          />
        ))}
      </div>
      <p class="soft small">
        {counted(listing.usersMissing, 'user')} of {count(listing.usersBefore)} missing, first seen{' '}
        <Time at={listing.at} />, last in run{' '}
        <a href={`/runs/${listing.runId}`}>{shortId(listing.runId)}</a>
        {listing.repeats > 0 && `, and again in ${counted(listing.repeats, 'nightly run')} since`}.
      </p>
      {users !== undefined && <Sides users={users} />}
    </article>
  )
}

function Sides({ users: { missing, staying } }: { users: HeldUsers }) {
  return (
    <div class="sides">
      <div class="side">
        <h4>Before: {counted(missing.inAll + staying.inAll, 'user')}, as stored now</h4>
        <ul>
          <UserLines users={missing} mark="leaves" />
          <UserLines users={staying} />
        </ul>
      </div>
      <div class="side">
        <h4>After: {counted(staying.inAll, 'user')}, as the service answered</h4>
        {staying.inAll === 0 ? (
          <p class="soft small">Nobody is left.</p>
        ) : (
          <ul>
            <UserLines users={staying} />
          </ul>
        )}
      </div>
    </div>
  )
}

function UserLines({ users, mark }: { users: SomeUsers; mark?: string }) {
  const more = users.inAll - users.first.length
  return (
    <>
      {users.first.map(({ userId, name }) => (
        // Names of every script: none may turn around what stands beside it.
        <li key={userId}>
          {mark === undefined ? (
            <bdi>{name ?? userId}</bdi>
          ) : (
            <del>
              <bdi>{name ?? userId}</bdi>
            </del>
          )}
          {name !== null && <bdi class="soft">{userId}</bdi>}
          {mark !== undefined && <span class="soft">({mark})</span>}
        </li>
      ))}
      {more > 0 && (
        <li class="soft">
          and {count(more)} more{mark !== undefined && ` who ${mark.replace(/s$/, '')}`}
        </li>
      )}
    </>
  )
}

/** A listing in words, such as `document plan of acme`. */
export function listingName(
  listing: Pick<HeldListing, 'kind' | 'organizationId' | 'documentId' | 'organizationUserGroupId'>,
): string {
  const { organizationId, documentId, organizationUserGroupId } = listing
  if (listing.kind === 'document') return `document ${documentId} of ${organizationId}`
  if (listing.kind === 'group') return `user group ${organizationUserGroupId} of ${organizationId}`
  return `organization ${organizationId}`
}
