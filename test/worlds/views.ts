import {
  MARKS,
  authorNow,
  authorOf,
  covered,
  current,
  dateOf,
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
  marksOf,
  nameOf,
  oldest,
  organizationOf,
  threads,
  totalMarks,
  transitions,
  unchecked,
  values,
} from './counting.ts'
import type { Place } from '../../src/demo/layout.ts'
import type { ModelComment } from '../fuzz/record-model.ts'
import type { Asked, Row, View } from './counting.ts'
import type { KnownComment, Looked, Version } from './knowledge.ts'
import { peopleViews } from './people-views.ts'

const COMMENT = 'organization_id, document_id, annotation_id, comment_id'
const TOTAL_MARKS = `${MARKS}, stale_annotations`

/** What the reports of comments show of each. */
const SHOWN = `author_user_id, author_name, author_email, comment_text, status, type, last_updated, first_seen_at, changed_at,
  written_at, written_at_is_exact, written_not_before`

function shownOf(asked: Asked, comment: KnownComment): Row {
  const { text, status, type, lastUpdated } = current(comment)
  const { shown, firstSeenAt, changedAt, writtenAt, isExact, notBefore } = comment
  return [
    shown.authorUserId,
    ...authorNow(asked, comment),
    text,
    status,
    type,
    dateOf(lastUpdated),
    firstSeenAt,
    changedAt,
    dateOf(writtenAt),
    isExact,
    isExact ? null : notBefore,
  ]
}

/** The report of versions has no HTML, and alone has the author. */
function versionsView(column: 'html' | null): View {
  return {
    columns: `${COMMENT}, version, change, comment_text, ${column ? 'comment_html' : 'null'}, status, type, last_updated,
      valid_from, valid_to, ${column ? 'null, null' : 'author_user_id, author_name'}, ${MARKS}`,
    rows: (asked) =>
      everyComment(asked).flatMap((comment) =>
        comment.versions.map(
          ({ number, change, text, html, status, type, lastUpdated, from, until }) => [
            ...keyOf(comment),
            number,
            change,
            text,
            column && html,
            status,
            type,
            dateOf(lastUpdated),
            from,
            until,
            column ? null : comment.shown.authorUserId,
            column ? null : authorNow(asked, comment)[0],
            ...marksOf(asked, comment.thread),
          ],
        ),
      ),
  }
}

/** Entries of the catalog, each with the check of its listing of users. */
function catalogView(level: Looked['level'], id: string): View {
  return {
    columns: `organization_id, ${id}, name, active, failing_since, ${MARKS}`,
    rows: (asked) =>
      [...asked.known.scopes.values()]
        .filter((scope) => scope.level === level)
        .map((scope) => {
          const { organizationId, documentId, groupId } = scope.place
          const own = documentId ?? groupId ?? null
          const name = `Name of ${own ?? organizationId}`
          const { failingSince, inCatalog } = scope
          return [organizationId, own, name, inCatalog, failingSince, ...marksOf(asked, scope)]
        }),
  }
}

/** The columns of a comment that are received. */
export function columnsOf(place: Place, comment: ModelComment): Row {
  const { commentId, text, html, authorUserId, authorName, authorEmail, status, type } = comment
  const lastUpdated = comment.lastUpdated === null ? null : new Date(comment.lastUpdated)
  return [
    place.organizationId,
    place.documentId,
    place.annotationId,
    commentId,
    text,
    html,
    authorUserId,
    authorName,
    authorEmail,
    status,
    type,
    lastUpdated,
    comment.raw,
  ]
}

/** What each view must show, counted row by row. */
export const views: Readonly<Record<string, View>> = {
  ...peopleViews,
  'collab.organizations': catalogView('organization', 'null'),
  'collab.documents': catalogView('document', 'document_id'),
  'collab.user_groups': catalogView('user group', 'organization_user_group_id'),
  'collab.comments': {
    columns: `${COMMENT}, comment_text, comment_html, author_user_id, author_name, author_email, status, type, last_updated,
      raw, first_seen_at, changed_at, deleted_at, written_at, written_at_is_exact, written_not_before, ${MARKS}`,
    rows: (asked) =>
      everyComment(asked).map((comment) => [
        ...columnsOf(comment.place, comment.shown),
        comment.firstSeenAt,
        comment.changedAt,
        isDeleted(comment) ? current(comment).from : null,
        dateOf(comment.writtenAt),
        comment.isExact,
        comment.isExact ? null : comment.notBefore,
        ...marksOf(asked, comment.thread),
      ]),
  },
  'reporting.comments': {
    columns: `${COMMENT}, ${SHOWN}, author_name_then, author_email_then, ${MARKS}`,
    rows: (asked) =>
      live(asked).map((comment) => [
        ...keyOf(comment),
        ...shownOf(asked, comment),
        comment.shown.authorName,
        comment.shown.authorEmail,
        ...marksOf(asked, comment.thread),
      ]),
  },
  'reporting.comments_with_deleted': {
    columns: `${COMMENT}, ${SHOWN}, is_deleted, deleted_at, ${MARKS}`,
    rows: (asked) =>
      everyComment(asked).map((comment) => [
        ...keyOf(comment),
        ...shownOf(asked, comment),
        isDeleted(comment),
        isDeleted(comment) ? current(comment).from : null,
        ...marksOf(asked, comment.thread),
      ]),
  },
  'reporting.comment_history': versionsView(null),
  'collab.comment_versions': versionsView('html'),
  'reporting.comment_activity_daily': {
    columns: `organization_id, day, comments, authors, annotations, comments_not_in_catalog, ${TOTAL_MARKS}`,
    rows: (asked) =>
      groups(live(asked), (comment) => [organizationOf(comment), dayOf(asked, comment)]).map(
        ([key, own]) => [
          ...key,
          own.length,
          distinct(own.map(authorOf)),
          threadsOf(own),
          unchecked(own),
          ...totalMarks(asked, key[0]),
        ],
      ),
  },
  'reporting.author_activity': {
    columns: `organization_id, week, author_user_id, author_name, comments, annotations, comments_not_in_catalog,
      ${TOTAL_MARKS}`,
    rows: (asked) =>
      groups(live(asked), (comment) => [
        organizationOf(comment),
        mondayOf(dayOf(asked, comment)),
        authorOf(comment),
      ]).map(([key, own]) => [
        ...key,
        nameOf(asked, key[0], key[2]),
        own.length,
        threadsOf(own),
        unchecked(own),
        ...totalMarks(asked, key[0]),
      ]),
  },
  'reporting.thread_summary': {
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
        ...marksOf(asked, scope),
        `Name of ${place.organizationId}`,
        `Name of ${place.documentId}`,
      ]),
  },
  'reporting.document_engagement': {
    columns: `organization_id, document_id, annotations, annotations_with_comments, comments, people, members,
      members_who_comment, last_comment_at, comments_not_in_catalog, ${TOTAL_MARKS}, organization_name, document_name`,
    rows: (asked) =>
      documents(asked).map(({ scope, place, annotations, comments, members, writing }) => {
        const checked = annotations.filter(({ inCatalog }) => inCatalog)
        const stale = checked.filter((one) => isStale(asked, one)).length
        return [
          place.organizationId,
          place.documentId as string,
          checked.length,
          threadsOf(comments),
          comments.length,
          distinct(comments.map(authorOf)),
          members.length,
          writing.length,
          latest(comments),
          unchecked(comments),
          oldest([scope, ...checked]),
          isStale(asked, scope) || stale > 0,
          scope.inCatalog,
          stale,
          `Name of ${place.organizationId}`,
          `Name of ${place.documentId}`,
        ]
      }),
  },
  'reporting.edits_and_deletions': {
    columns: `${COMMENT}, version, change, author_user_id, author_name, status_before, status, text_before, comment_text,
      last_updated_before, last_updated, noticed_at, not_before, hours_since_previous, ${MARKS}`,
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
              comment.shown.authorUserId,
              authorNow(asked, comment)[0],
              before?.status ?? null,
              after.status,
              before?.text ?? null,
              after.text,
              dateOf(before?.lastUpdated ?? null),
              dateOf(after.lastUpdated),
              after.from,
              before?.from ?? null,
              before ? hoursBetween(before.lastUpdated, after.lastUpdated) : null,
              ...marksOf(asked, comment.thread),
            ],
          ]
        }),
      ),
  },
  'reporting.status_transitions': {
    columns: `organization_id, from_status, to_status, transitions, median_hours, transitions_not_in_catalog, ${TOTAL_MARKS}`,
    rows: (asked) =>
      groups(transitions(asked), ({ comment, before, after }) => [
        organizationOf(comment),
        before.status,
        after.status,
      ]).map(([key, own]) => [
        ...key,
        own.length,
        inHours(median(own.map(({ before, after }) => msBetween(before, after)))),
        unchecked(own.map(({ comment }) => comment)),
        ...totalMarks(asked, key[0]),
      ]),
  },
  'reporting.observed_values': {
    columns: `organization_id, field, value, comments, versions, first_seen_at, comments_not_in_catalog, ${TOTAL_MARKS}`,
    rows: (asked) =>
      organizations(asked).flatMap((organization) =>
        values(asked, organization).map(({ field, value, comments, versions, firstSeen }) => [
          organization,
          field,
          value,
          comments.length,
          versions,
          firstSeen,
          unchecked(comments),
          ...totalMarks(asked, organization),
        ]),
      ),
  },
  'reporting.change_delay_daily': {
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
  'reporting.coverage': {
    columns:
      'organization_id, operation, level, known, fresh, stale, never_synced, failing, held, refused, not_in_catalog',
    rows: (asked) =>
      organizations(asked).flatMap((organization) =>
        covered(asked, organization).map((counts) => [
          organization,
          counts[0] === 'annotation' ? 'comments' : 'users',
          ...counts,
        ]),
      ),
  },
  'reporting.freshness': {
    columns: `organization_id, document_id, annotation_id, organization_user_group_id, failing_since, organization_name,
      document_name, user_group_name, operation, checked_at, is_stale, true`,
    rows: (asked) =>
      [...asked.known.scopes.values()]
        .filter(({ inCatalog }) => inCatalog)
        .map((scope) => {
          const { organizationId, documentId = null, annotationId = null, groupId = null } = scope.place // prettier-ignore
          return [
            organizationId,
            documentId,
            annotationId,
            groupId,
            scope.failingSince,
            `Name of ${organizationId}`,
            documentId && `Name of ${documentId}`,
            groupId && `Name of ${groupId}`,
            annotationId === null ? 'users' : 'comments',
            ...marksOf(asked, scope),
          ]
        }),
  },
  // Where there is no refresh; test/refresh counts the others.
  'reporting.refresh_classes': { columns: 'class', rows: () => [] },
}

/** What functions of `reporting` must show of a time that is past. */
export function viewsAt(at: Date): Readonly<Record<string, View>> {
  const isThen = ({ from, until }: { from: Date; until: Date | null }) =>
    from <= at && (until === null || until > at)
  return {
    'reporting.comments_at': {
      columns: `${COMMENT}, comment_text, status`,
      rows: (asked) =>
        everyComment(asked).flatMap((comment) => {
          const then = comment.versions.find(isThen)
          if (then === undefined || then.change === 'deleted') return []
          return [[...keyOf(comment), then.text, then.status]]
        }),
    },
    'reporting.memberships_at': {
      columns: 'organization_id, kind, document_id, organization_user_group_id, user_id',
      rows: (asked) =>
        asked.known.stays
          .filter(({ since, until }) => isThen({ from: since, until }))
          .map(({ listing: { level, place }, userId }) => {
            const { organizationId, documentId = null, groupId = null } = place
            return [organizationId, level, documentId, groupId, userId]
          }),
    },
    'reporting.user_directory_at': {
      columns: 'organization_id, user_id, name, listed',
      rows: (asked) =>
        [...asked.known.people.values()]
          .filter(({ firstSeenAt }) => firstSeenAt <= at)
          .map(({ organizationId, userId, versions: all }) => {
            const then = all.find(isThen)
            return [organizationId, userId, then?.name ?? null, then?.listed ?? null]
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

/** The changes of a comment that count for the delay of checks, with their days. */
function delaysOf(asked: Asked, comment: KnownComment) {
  const organization = organizationOf(comment)
  const added = { organization, day: dayOf(asked, comment), isDated: true }
  const changes = comment.versions.flatMap((version, index) => {
    if (version.number === 1) return []
    const before = comment.versions[index - 1]
    const isDated =
      version.change !== 'deleted' &&
      before !== undefined &&
      (before.lastUpdated as string) < (version.lastUpdated as string)
    const at = isDated ? (version.lastUpdated as string) : version.from.toISOString()
    return [{ organization, day: dayIn(asked.zone, at), isDated }]
  })
  return comment.notBefore === null ? changes : [added, ...changes]
}

function msBetween(before: Version, after: Version): number {
  return Date.parse(after.lastUpdated as string) - Date.parse(before.lastUpdated as string)
}

function threadsOf(comments: readonly KnownComment[]): number {
  return distinct(comments.map(({ thread }) => thread))
}

function latest(comments: readonly KnownComment[]): Date | null {
  const last = comments
    .map(({ writtenAt }) => writtenAt as string)
    .toSorted()
    .at(-1)
  return last === undefined ? null : new Date(last)
}
