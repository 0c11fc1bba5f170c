import {
  authorOf,
  covered,
  current,
  dayIn,
  dayOf,
  distinct,
  documents,
  everyComment,
  groups,
  hoursBetween,
  inHours,
  isDeleted,
  isStale,
  live,
  median,
  mondayOf,
  nameOf,
  organizationOf,
  people,
  threads,
  transitions,
  values,
} from './counting.ts'
import type { Asked, Row } from './counting.ts'
import type { KnownComment, Stay, Version } from './knowledge.ts'

/** Columns of a view as they are selected, and their values in each of its rows. */
interface View {
  readonly columns: string
  readonly rows: (asked: Asked) => Row[]
}

const COMMENT = 'organization_id, document_id, annotation_id, comment_id'
const MARKS = 'is_stale, in_catalog'

/** What each view of `reporting` must show, counted row by row. */
export const views: Readonly<Record<string, View>> = {
  comments: {
    columns: `${COMMENT}, author_user_id, author_name, comment_text, status, type, last_updated, author_name_then,
      author_email_then, written_at, written_at_is_exact, written_not_before, ${MARKS}`,
    rows: (asked) =>
      live(asked).map((comment) => {
        const { text, status, type, lastUpdated } = current(comment)
        const { author, thread, writtenAt, isExact } = comment
        return [
          ...keyOf(comment),
          author.userId,
          nameOf(asked, organizationOf(comment), author.userId),
          text,
          status,
          type,
          new Date(lastUpdated),
          author.name,
          author.email,
          new Date(writtenAt),
          isExact,
          isExact ? null : comment.notBefore,
          isStale(asked, thread),
          thread.inCatalog,
        ]
      }),
  },
  comments_with_deleted: {
    columns: `${COMMENT}, comment_text, is_deleted, written_at, changed_at`,
    rows: (asked) =>
      everyComment(asked).map((comment) => [
        ...keyOf(comment),
        current(comment).text,
        isDeleted(comment),
        new Date(comment.writtenAt),
        comment.changedAt,
      ]),
  },
  comment_history: {
    columns: `${COMMENT}, version, change, comment_text, status, last_updated, valid_from, valid_to`,
    rows: (asked) =>
      everyComment(asked).flatMap((comment) =>
        comment.versions.map(({ number, change, text, status, lastUpdated, from, until }) => [
          ...keyOf(comment),
          number,
          change,
          text,
          status,
          new Date(lastUpdated),
          from,
          until,
        ]),
      ),
  },
  comment_activity_daily: {
    columns: 'organization_id, day, comments, authors, annotations',
    rows: (asked) =>
      groups(live(asked), (comment) => [organizationOf(comment), dayOf(asked, comment)]).map(
        ([key, own]) => [...key, own.length, distinct(own.map(authorOf)), threadsOf(own)],
      ),
  },
  author_activity: {
    columns: 'organization_id, week, author_user_id, author_name, comments, annotations',
    rows: (asked) =>
      groups(live(asked), (comment) => [
        organizationOf(comment),
        mondayOf(dayOf(asked, comment)),
        authorOf(comment),
      ]).map(([[organization, week, author], own]) => {
        const name = nameOf(asked, organization as string, author as string)
        return [organization as string, week as string, author as string, name, own.length, threadsOf(own)] // prettier-ignore
      }),
  },
  thread_summary: {
    columns: `organization_id, document_id, annotation_id, comments, people, first_comment_at, last_comment_at, first_answer_at,
      hours_to_first_answer, hours_since_last_comment, ${MARKS}, organization_name, document_name`,
    rows: (asked) =>
      threads(asked).map(({ scope, place, comments, firstAt, lastAt, answerAt, hoursToAnswer }) => [
        place.organizationId,
        place.documentId as string,
        place.annotationId as string,
        comments.length,
        distinct(comments.map(authorOf)),
        firstAt && new Date(firstAt),
        lastAt && new Date(lastAt),
        answerAt && new Date(answerAt),
        hoursToAnswer,
        lastAt && hoursBetween(lastAt, asked.now),
        isStale(asked, scope),
        scope.inCatalog,
        `Name of ${place.organizationId}`,
        `Name of ${place.documentId}`,
      ]),
  },
  document_engagement: {
    columns: `organization_id, document_id, annotations, annotations_with_comments, comments, people, members,
      members_who_comment, last_comment_at, comments_not_in_catalog, in_catalog, organization_name, document_name`,
    rows: (asked) =>
      documents(asked).map(({ scope, place, annotations, comments, members, writing }) => [
        place.organizationId,
        place.documentId as string,
        annotations.filter(({ inCatalog }) => inCatalog).length,
        threadsOf(comments),
        comments.length,
        distinct(comments.map(authorOf)),
        members.length,
        writing.length,
        latest(comments),
        comments.filter(({ thread }) => !thread.inCatalog).length,
        scope.inCatalog,
        `Name of ${place.organizationId}`,
        `Name of ${place.documentId}`,
      ]),
  },
  user_directory: {
    columns: `organization_id, user_id, name, email, listed, documents, user_groups, array_to_string(document_ids, ' '),
      array_to_string(organization_user_group_ids, ' '), first_seen_at, left_at`,
    rows: (asked) =>
      people(asked).map(({ person, now, documents: inDocuments, groups: inGroups, stays }) => [
        person.organizationId,
        person.userId,
        now.name,
        now.email,
        now.listed,
        inDocuments,
        inGroups,
        idsOf(stays, 'document'),
        idsOf(stays, 'user group'),
        person.firstSeenAt,
        now.leftAt,
      ]),
  },
  memberships: {
    columns: `organization_id, kind, document_id, organization_user_group_id, user_id, name, since, until, in_catalog,
      removal_held_since, document_name, user_group_name`,
    rows: (asked) =>
      asked.known.stays.map(({ listing: { level, place, inCatalog }, userId, since, until }) => {
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
          inCatalog,
          null,
          documentId && `Name of ${documentId}`,
          groupId && `Name of ${groupId}`,
        ]
      }),
  },
  edits_and_deletions: {
    columns: `${COMMENT}, version, change, status_before, status, text_before, comment_text, noticed_at, not_before,
      hours_since_previous`,
    rows: (asked) =>
      everyComment(asked).flatMap((comment) =>
        comment.versions.flatMap((after, index) => {
          const before = comment.versions[index - 1]
          if (after.number === 1) return []
          return [
            [
              ...keyOf(comment),
              after.number,
              after.change,
              before?.status ?? null,
              after.status,
              before?.text ?? null,
              after.text,
              after.from,
              before?.from ?? null,
              before ? hoursBetween(before.lastUpdated, after.lastUpdated) : null,
            ],
          ]
        }),
      ),
  },
  status_transitions: {
    columns: 'organization_id, from_status, to_status, transitions, median_hours',
    rows: (asked) =>
      groups(transitions(asked), ({ comment, before, after }) => [
        organizationOf(comment),
        before.status,
        after.status,
      ]).map(([key, own]) => [
        ...key,
        own.length,
        inHours(median(own.map(({ before, after }) => msBetween(before, after)))),
      ]),
  },
  observed_values: {
    columns: 'organization_id, field, value, comments, versions, first_seen_at',
    rows: (asked) =>
      organizations(asked).flatMap((organization) =>
        values(asked, organization).map(({ field, value, comments, versions, firstSeen }) => [
          organization,
          field,
          value,
          comments,
          versions,
          firstSeen,
        ]),
      ),
  },
  change_delay_daily: {
    columns: 'organization_id, day, changes, undated',
    rows: (asked) => {
      const changes = everyComment(asked).flatMap((comment) => delaysOf(asked, comment))
      const byOrganization = groups(changes, ({ organization, day }) => [organization, day])
      return [...byOrganization, ...groups(changes, ({ day }) => [null, day])].map(([key, own]) => [
        ...key,
        own.length,
        own.filter(({ isDated }) => !isDated).length,
      ])
    },
  },
  coverage: {
    columns: 'organization_id, level, known, fresh, stale, never_synced, failing, held, refused',
    rows: (asked) =>
      organizations(asked).flatMap((organization) =>
        covered(asked, organization).map((counts) => [organization, ...counts]),
      ),
  },
  // Where there is no refresh; test/refresh counts the others.
  refresh_classes: { columns: 'class', rows: () => [] },
}

/** What functions of `reporting` must show of a time that is past. */
export function viewsAt(at: Date): Readonly<Record<string, View>> {
  const isThen = ({ from, until }: { from: Date; until: Date | null }) =>
    from <= at && (until === null || until > at)
  return {
    comments_at: {
      columns: `${COMMENT}, comment_text, status`,
      rows: (asked) =>
        everyComment(asked).flatMap((comment) => {
          const then = comment.versions.find(isThen)
          if (then === undefined || then.change === 'deleted') return []
          return [[...keyOf(comment), then.text, then.status]]
        }),
    },
    memberships_at: {
      columns: 'organization_id, kind, document_id, organization_user_group_id, user_id',
      rows: (asked) =>
        asked.known.stays
          .filter(({ since, until }) => isThen({ from: since, until }))
          .map(({ listing: { level, place }, userId }) => {
            const { organizationId, documentId = null, groupId = null } = place
            return [organizationId, level, documentId, groupId, userId]
          }),
    },
  }
}

function keyOf({ place, commentId }: KnownComment): Row {
  return [place.organizationId, place.documentId, place.annotationId, commentId]
}

function organizations({ known }: Asked): string[] {
  return [...new Set([...known.scopes.values()].map(({ place }) => place.organizationId))]
}

/** The changes of a comment that a look found late by what is known, with the days on which they were made. */
function delaysOf(asked: Asked, comment: KnownComment) {
  const organization = organizationOf(comment)
  const added = { organization, day: dayOf(asked, comment), isDated: true }
  const changes = comment.versions.flatMap((version, index) => {
    if (version.number === 1) return []
    const before = comment.versions[index - 1]
    const isDated =
      version.change !== 'deleted' &&
      before !== undefined &&
      before.lastUpdated < version.lastUpdated
    const at = isDated ? version.lastUpdated : version.from.toISOString()
    return [{ organization, day: dayIn(asked.zone, at), isDated }]
  })
  return comment.notBefore === null ? changes : [added, ...changes]
}

function msBetween(before: Version, after: Version): number {
  return Date.parse(after.lastUpdated) - Date.parse(before.lastUpdated)
}

function threadsOf(comments: readonly KnownComment[]): number {
  return distinct(comments.map(({ thread }) => thread))
}

function latest(comments: readonly KnownComment[]): Date | null {
  const last = comments
    .map(({ writtenAt }) => writtenAt)
    .toSorted()
    .at(-1)
  return last === undefined ? null : new Date(last)
}

function idsOf(stays: readonly Stay[], kind: string): string {
  return stays
    .filter(({ listing: { level } }) => level === kind)
    .map(({ listing: { place } }) => place.documentId ?? place.groupId ?? '')
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .join(' ')
}
