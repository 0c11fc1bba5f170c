import { MARKS, groups, isStale, marksOf, nameOf, people } from './counting.ts'
import type { View } from './counting.ts'
import type { Stay } from './knowledge.ts'

/** What each view of users and members must show. */
export const peopleViews: Readonly<Record<string, View>> = {
  'reporting.user_directory': {
    columns: `organization_id, user_id, name, email, listed, documents, user_groups, array_to_string(document_ids, ' '),
      array_to_string(organization_user_group_ids, ' '), first_seen_at, left_at, stale_listings, documents_not_in_catalog,
      user_groups_not_in_catalog, ${MARKS}`,
    rows: (asked) =>
      people(asked).map(({ person, now, own, stays }) => {
        const listings = [...asked.known.scopes.values()].filter(
          ({ level, place, inCatalog }) =>
            level !== 'annotation' && inCatalog && place.organizationId === person.organizationId,
        )
        const of = (kind: string) => stays.filter(({ listing }) => listing.level === kind)
        const left = (kind: string) => of(kind).filter(({ listing }) => !listing.inCatalog).length
        return [
          person.organizationId,
          person.userId,
          now.name,
          now.email,
          now.listed,
          of('document').length,
          of('user group').length,
          idsOf(of('document')),
          idsOf(of('user group')),
          person.firstSeenAt,
          now.leftAt,
          listings.filter((listing) => isStale(asked, listing)).length,
          left('document'),
          left('user group'),
          ...marksOf(asked, own),
        ]
      }),
  },
  'collab.users': {
    columns: `organization_id, user_id, name, email, raw, listed, first_seen_at, removed_at, removal_held_since is not null, ${MARKS}`,
    rows: (asked) =>
      people(asked).map(({ person, now, own }) => [
        person.organizationId,
        person.userId,
        now.name,
        now.email,
        person.raw,
        now.listed,
        person.firstSeenAt,
        now.leftAt,
        own.held.includes(person.userId),
        ...marksOf(asked, own),
      ]),
  },
  'collab.user_versions': {
    columns: `organization_id, user_id, version, change, name, email, listed, removed_at, valid_from, valid_to, ${MARKS}`,
    rows: (asked) =>
      people(asked).flatMap(({ person, own }) =>
        person.versions.map(({ number, change, name, email, listed, leftAt, from, until }) => [
          person.organizationId,
          person.userId,
          number,
          change,
          name,
          email,
          listed,
          leftAt,
          from,
          until,
          ...marksOf(asked, own),
        ]),
      ),
  },
  'reporting.memberships': {
    columns: `organization_id, kind, document_id, organization_user_group_id, user_id, name, since, until, ${MARKS},
      removal_held_since, document_name, user_group_name`,
    rows: (asked) =>
      asked.known.stays.map(({ listing, userId, since, until }) => {
        const { level, place } = listing
        const { organizationId, documentId = null, groupId = null } = place
        return [
          organizationId,
          level,
          documentId,
          groupId,
          userId,
          nameOf(asked, organizationId, userId),
          since,
          until,
          ...marksOf(asked, listing),
          null,
          documentId && `Name of ${documentId}`,
          groupId && `Name of ${groupId}`,
        ]
      }),
  },
  'collab.document_users': membersView('document', 'document_id'),
  'collab.user_group_members': membersView('user group', 'organization_user_group_id'),
}

/** The last membership of each user in each listing of a kind. */
function membersView(kind: string, id: string): View {
  return {
    columns: `organization_id, ${id}, user_id, first_seen_at, removed_at, removal_held_since is not null, ${MARKS}`,
    rows: ({ known, ...asked }) =>
      groups(
        known.stays.filter(({ listing }) => listing.level === kind),
        ({ listing: { place }, userId }) => [
          place.organizationId,
          place.documentId ?? place.groupId ?? '',
          userId,
        ],
      ).map(([key, stays]) => {
        const { userId, firstSeenAt, until, listing } = stays.at(-1) as Stay
        const isHeld = until === null && listing.held.includes(userId)
        return [...key, firstSeenAt, until, isHeld, ...marksOf({ known, ...asked }, listing)]
      }),
  }
}

function idsOf(stays: readonly Stay[]): string {
  return stays
    .map(({ listing: { place } }) => place.documentId ?? place.groupId ?? '')
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .join(' ')
}
