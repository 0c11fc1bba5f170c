import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { countHeld } from '../../core/sync/held.ts'
import type { HeldCounts } from '../../core/sync/held.ts'
import * as held from '../../core/database/statements/held.ts'
import type { RowOf } from '../../core/database/statement.ts'
import { withHeldUsers } from '../../client/waiting.ts'
import { id } from '../../schemas/check.ts'
import { CURSOR_FAULT } from '../../schemas/page.ts'
import { count, counted, describeHeld, listingName, shortId } from '../../schemas/format.ts'
import { ProblemError } from '../problem.ts'
import { ActionButton, Card, pathWith, Time } from './elements.tsx'
import type { Fields } from './elements.tsx'
import { sendPage } from './layout.tsx'
import { optionalText, READ, readFields } from './page-context.ts'
import type { PageContext } from './page-context.ts'
import { REJECTED_COLUMNS } from '../../schemas/columns.ts'
import type { Column } from '../../schemas/columns.ts'
import type { RejectedRecord } from '../../schemas/waiting.ts'
import { Pager, Table } from './tables.tsx'
import type { Content } from './values.tsx'
import { ThingLink } from './things/thing-link.tsx'

const LISTINGS_A_PAGE = 10
/** Listings of each organization on the page of all organizations. */
const LISTINGS_OF_ORGANIZATION = 3
const RECORDS_A_PAGE = 10
const USERS_SHOWN = 8
const USERS_A_PAGE = 100

const HeldId = z.coerce.number(CURSOR_FAULT).int(CURSOR_FAULT).positive(CURSOR_FAULT)

const Query = z.object({
  run: z.uuid().optional(),
  organization: id.optional(),
  cursor: HeldId.optional(),
  rejectedCursor: optionalText,
})

/** The last users of the previous page. */
const UsersQuery = z.object({ leaving: id.optional(), staying: id.optional() })

type UsersQuery = z.output<typeof UsersQuery>

type Listing = Awaited<ReturnType<typeof withHeldUsers<RowOf<typeof held.byOrganization>>>>[number]

/** Parameters of `held.byOrganization` for one listing. */
export function heldListing(heldId: number) {
  const any = { runId: null, organizationId: null, after: null }
  return { ...any, heldId, mostOfOrganization: 1, limit: 1 }
}

/** `/held`: held removals by organization, and rejected records. `/held/ID`: the users who would leave a listing, and those who stay. */
export function heldRoutes(app: FastifyInstance, { collabSync, database }: PageContext): void {
  app.get('/held', READ, async (request, reply) => {
    const query = readFields(Query, request.query)
    const { run, organization, cursor, rejectedCursor } = query
    const found = await held.byOrganization.all(database, {
      heldId: null,
      runId: run ?? null,
      organizationId: organization ?? null,
      after: cursor ?? null,
      mostOfOrganization: organization === undefined ? LISTINGS_OF_ORGANIZATION : null,
      limit: LISTINGS_A_PAGE + 1,
    })
    const shown = found.slice(0, LISTINGS_A_PAGE)
    const organizationIds = [...new Set(shown.map(({ organizationId }) => organizationId))]
    const countOf = (organizationId: string | null) =>
      countHeld({ database }, { runId: run ?? null, organizationId })
    const [listings, groups, ofRun, rejected] = await Promise.all([
      withHeldUsers(database, shown, USERS_SHOWN),
      Promise.all(organizationIds.map(countOf)),
      run === undefined ? null : countOf(null),
      collabSync.listRejectedRecords({ runId: run, limit: RECORDS_A_PAGE, cursor: rejectedCursor }),
    ])
    const last = found.length > LISTINGS_A_PAGE ? shown.at(-1)?.heldId : undefined
    return sendPage(
      reply,
      { title: 'Waiting', part: '/held' },
      <>
        {run !== undefined && (
          <p>
            Only <a href={`/runs/${run}`}>run {shortId(run)}</a>. <a href="/held">All runs</a>
          </p>
        )}
        {organization !== undefined && <a href={pathWith('/held', { run })}>All organizations</a>}
        <Card title="Held removals" id="held">
          <p class="soft">
            These listings lost so many users that collab-sync removed none of them. Accept the
            removal if it is correct. Refuse it if it is an error of the service: the removal is
            held again only if the response changes.
          </p>
          {listings.length === 0 && <p>No removal is held.</p>}
          {ofRun !== null && <Several counts={ofRun} fields={{ run }} of="this run" />}
        </Card>
        {groups.map((counts, place) => (
          <Organization
            key={place}
            organizationId={organizationIds[place] as string}
            isAlone={organization !== undefined}
            {...{ run, counts, listings }}
          />
        ))}
        <Pager path="/held" query={query} nextCursor={last?.toString() ?? null} />
        <Card title="Rejected records" id="rejected">
          <p class="soft">
            The tables cannot store these records, or these fields of stored records. The other
            records of the responses are stored. A run that rejects a record is partial until you
            correct the record at the service or set it aside. A rejected field makes no run
            partial.
          </p>
          <Table
            caption="Rejected records, newest first"
            empty="No record is rejected."
            rows={rejected.items}
            columns={[...REJECTED_COLUMNS, SET_ASIDE]}
          />
          <Pager
            path="/held"
            query={query}
            cursorName="rejectedCursor"
            anchor="rejected"
            nextCursor={rejected.nextCursor}
          />
        </Card>
      </>,
    )
  })
  app.get<{ Params: { heldId: string } }>('/held/:heldId', READ, async (request, reply) => {
    const query = readFields(UsersQuery, request.query)
    const heldId = HeldId.safeParse(request.params.heldId).data ?? 0
    const found = await held.byOrganization.all(database, heldListing(heldId))
    const after = { missing: query.leaving, staying: query.staying }
    const [listing] = await withHeldUsers(database, found, USERS_A_PAGE, after)
    if (listing === undefined) throw new ProblemError(404, 'No removal of that ID is held.')
    return sendPage(
      reply,
      { title: 'Held removal', part: '/held' },
      <Card title={`Organization ${listing.organizationId}`}>
        <Listing listing={listing} query={query} />
        <Pager
          path={`/held/${heldId}`}
          query={{ cursor: query.leaving ?? query.staying }}
          nextCursor={null}
        />
      </Card>,
    )
  })
}

function Organization({
  organizationId,
  isAlone,
  run,
  counts,
  listings,
}: {
  counts: HeldCounts
  organizationId: string
  isAlone: boolean
  run: string | undefined
  listings: readonly Listing[]
}) {
  const shown = listings.filter((listing) => listing.organizationId === organizationId)
  const fields = { organization: organizationId, run }
  return (
    <Card title={`Organization ${organizationId}`}>
      <Several counts={counts} fields={fields} of={`organization ${organizationId}`} />
      {shown.map((listing) => (
        <Listing key={listing.heldId} listing={listing} />
      ))}
      {counts.listings > shown.length && !isAlone && (
        <a href={pathWith('/held', fields)}>All {counted(counts.listings, 'listing')}</a>
      )}
    </Card>
  )
}

function Several({ counts, fields, of }: { counts: HeldCounts; fields: Fields; of: string }) {
  if (counts.listings < 2) return null
  return (
    <div class="head">
      <p>
        In {of}, {describeLacking(counts)}
      </p>
      <Decide fields={fields} words=" all" about={`of ${of}`} />
    </div>
  )
}

/** How many people the listings lack, as a sentence. */
export function describeLacking(counts: HeldCounts): string {
  const { listings, people, usersBefore } = counts
  if (listings === 1) return `It lacks ${count(people)} of ${counted(usersBefore, 'user')}.`
  return describeHeld(counts)
}

function Decide({ words = '', ...button }: { fields: Fields; words?: string; about: string }) {
  return (
    <div class="row">
      <ActionButton action="accept" words={`Accept${words}`} {...button} />
      <ActionButton action="refuse" words={`Refuse${words}`} {...button} />
    </div>
  )
}

/**
 * Users who leave beside users who stay. A list that is cut links to the page of the listing, which shows the others.
 * @param query the last users of the previous page
 */
function Listing({ listing, query = {} }: { listing: Listing; query?: UsersQuery }) {
  const { heldId, organizationId, runId } = listing
  const name = listingName(listing)
  const sides = [
    ['Leave if you accept', 'leaving', listing.missing],
    ['Stay in any case', 'staying', listing.staying],
  ] as const
  return (
    <article class="held">
      <div class="head">
        <h3>
          <ThingLink ids={listing}>{name}</ThingLink>
        </h3>
        <Decide fields={{ held: heldId, run: runId }} about={`the removal in ${name}`} />
      </div>
      <p class="soft">
        {count(listing.usersMissing)} of {counted(listing.usersBefore, 'user')} missing, first seen{' '}
        <Time at={listing.at} />, last in run <a href={`/runs/${runId}`}>{shortId(runId)}</a>
        {listing.repeats > 0 && `, and again in ${counted(listing.repeats, 'nightly run')} since`}.
      </p>
      <div class="sides">
        {sides.map(([words, cursor, { inAll, first, more }]) => (
          <div key={cursor} class="side">
            <h4>
              {words}: {counted(inAll, 'user')}
            </h4>
            <ul>
              {first.map(({ userId, name }) => (
                // A name may be written from right to left: it must not reorder the text beside it.
                <li key={userId}>
                  <ThingLink ids={{ organizationId, userId }}>
                    <bdi>{name ?? userId}</bdi>
                  </ThingLink>
                  {name !== null && <bdi class="soft">{userId}</bdi>}
                </li>
              ))}
            </ul>
            {more > 0 && (
              <a href={pathWith(`/held/${heldId}`, { ...query, [cursor]: first.at(-1)?.userId })}>
                and {count(more)} more {cursor === 'leaving' ? 'who leave' : 'who stay'}
              </a>
            )}
          </div>
        ))}
      </div>
    </article>
  )
}

const SET_ASIDE: Column<RejectedRecord, Content> = [
  'action',
  ({ rejectedRecordId: record }) => (
    <ActionButton
      action="set-aside"
      fields={{ record }}
      words="Set aside"
      about={`rejected record ${record}`}
    />
  ),
]
