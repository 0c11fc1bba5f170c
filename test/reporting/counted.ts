import { places } from '../../src/demo/catalog.ts'
import type { World } from '../../src/demo/world.ts'
import type { Known, Version } from './known.ts'

type Row = Record<string, unknown>

/** What each view must show of what is known, counted row by row. Times of our clock are left out. */
export const counted: Record<string, (known: Known, world: World, now: Date) => Row[]> = {
  comments: (known) =>
    known.live().map(({ place, comment, first }) => ({
      organization_id: place.organizationId,
      document_id: place.documentId,
      annotation_id: place.annotationId,
      comment_id: comment.commentId,
      author_user_id: comment.from?.userId ?? null,
      author_name: known.nameOf(place.organizationId, comment.from?.userId),
      comment_text: comment.commentText ?? null,
      status: comment.status,
      type: comment.type,
      last_updated: comment.lastUpdated,
      author_name_then: comment.from?.name ?? null,
      author_email_then: comment.from?.email ?? null,
      written_at: first.lastUpdated,
      written_at_is_exact: false,
    })),
  comments_with_deleted: (known) =>
    [...known.comments.values()].map(({ place, versions }) => ({
      organization_id: place.organizationId,
      document_id: place.documentId,
      annotation_id: place.annotationId,
      comment_id: versions[0]?.comment.commentId,
      comment_text: versions.at(-1)?.comment.commentText ?? null,
      is_deleted: versions.at(-1)?.change === 'deleted',
      written_at: versions[0]?.comment.lastUpdated,
    })),
  comment_history: (known) =>
    [...known.comments.values()].flatMap(({ place, versions }) =>
      versions.map(({ change, comment }, index) => ({
        organization_id: place.organizationId,
        annotation_id: place.annotationId,
        document_id: place.documentId,
        comment_id: comment.commentId,
        version: index + 1,
        change,
        comment_text: comment.commentText ?? null,
        status: comment.status,
        last_updated: comment.lastUpdated,
      })),
    ),
  comment_activity_daily: (known) =>
    grouped(known.live(), ({ place, first }) => [
      place.organizationId,
      first.lastUpdated.slice(0, 10),
    ]).map(([[organization_id, day], group]) => ({
      organization_id,
      day,
      comments: group.length,
      authors: distinct(group.map(({ comment }) => comment.from?.userId)),
      annotations: distinct(group.map(({ place }) => JSON.stringify(place))),
      is_stale: false,
      in_catalog: true,
      stale_annotations: 0,
      comments_not_in_catalog: 0,
    })),
  author_activity: (known) =>
    grouped(known.live(), ({ place, comment, first }) => [
      place.organizationId,
      mondayOf(first.lastUpdated),
      comment.from?.userId ?? null,
    ]).map(([[organization_id, week, author_user_id], group]) => ({
      organization_id,
      week,
      author_user_id,
      author_name: known.nameOf(organization_id as string, author_user_id as string),
      comments: group.length,
      annotations: distinct(group.map(({ place }) => JSON.stringify(place))),
      is_stale: false,
      in_catalog: true,
      stale_annotations: 0,
      comments_not_in_catalog: 0,
    })),
  thread_summary: (known, world, now) =>
    [...places(world)].map((place) => {
      const own = known.live().filter((one) => JSON.stringify(one.place) === JSON.stringify(place))
      const written = own
        .map(({ comment, first }) => ({
          at: first.lastUpdated,
          by: comment.from?.userId,
          id: comment.commentId,
        }))
        .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id - b.id))
      const first = written[0]
      const answer = written.find(
        ({ by }) => by !== undefined && first?.by !== undefined && by !== first.by,
      )
      const last = written.at(-1)?.at ?? null
      return {
        organization_id: place.organizationId,
        document_id: place.documentId,
        annotation_id: place.annotationId,
        comments: own.length,
        people: distinct(own.map(({ comment }) => comment.from?.userId)),
        first_comment_at: first?.at ?? null,
        last_comment_at: last,
        first_answer_at: answer?.at ?? null,
        hours_to_first_answer: first && answer ? hours(first.at, answer.at) : null,
        hours_since_last_comment: last === null ? null : hours(last, now.toISOString()),
        organization_name: `Name of ${place.organizationId}`,
        document_name: `Name of ${place.documentId}`,
      }
    }),
  document_engagement: (known, world) =>
    documentsOf(world).map(({ organizationId, documentId }) => {
      const own = known
        .live()
        .filter(
          ({ place }) => place.organizationId === organizationId && place.documentId === documentId,
        )
      const authors = new Set(own.map(({ comment }) => comment.from?.userId))
      const members = known.stays.filter(
        (stay) =>
          stay.kind === 'document' &&
          stay.organizationId === organizationId &&
          stay.id === documentId &&
          stay.until === null,
      )
      return {
        organization_id: organizationId,
        document_id: documentId,
        annotations: [...world.annotationIds(organizationId, documentId)].length,
        annotations_with_comments: distinct(own.map(({ place }) => place.annotationId)),
        comments: own.length,
        people: distinct([...authors]),
        members: members.length,
        members_who_comment: members.filter(({ userId }) => authors.has(userId)).length,
        last_comment_at: latest(own.map(({ first }) => first.lastUpdated)),
        is_stale: false,
        in_catalog: true,
        stale_annotations: 0,
        comments_not_in_catalog: 0,
        organization_name: `Name of ${organizationId}`,
        document_name: `Name of ${documentId}`,
      }
    }),
  user_directory: (known) =>
    [...known.people].flatMap(([organizationId, people]) =>
      [...people].map(([userId, person]) => {
        const idsOf = (kind: string) =>
          known.stays
            .filter(
              (stay) =>
                stay.organizationId === organizationId &&
                stay.kind === kind &&
                stay.userId === userId &&
                stay.until === null,
            )
            .map(({ id }) => id)
            .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        return {
          organization_id: organizationId,
          user_id: userId,
          name: person.name,
          email: person.email,
          listed: person.listed,
          documents: idsOf('document').length,
          user_groups: idsOf('user group').length,
          document_ids: idsOf('document'),
          organization_user_group_ids: idsOf('user group'),
          left: person.everListed && !person.listed,
          removal_held_since: null,
          removal_refused_at: null,
        }
      }),
    ),
  memberships: (known) =>
    known.stays.map((stay) => ({
      organization_id: stay.organizationId,
      kind: stay.kind,
      document_id: stay.kind === 'document' ? stay.id : null,
      organization_user_group_id: stay.kind === 'document' ? null : stay.id,
      user_id: stay.userId,
      name: known.nameOf(stay.organizationId, stay.userId),
      over: stay.until !== null,
      is_held: known.isHeld(stay),
      removal_refused_at: null,
      organization_name: `Name of ${stay.organizationId}`,
      document_name: stay.kind === 'document' ? `Name of ${stay.id}` : null,
      user_group_name: stay.kind === 'document' ? null : `Name of ${stay.id}`,
    })),
  edits_and_deletions: (known) =>
    transitions(known).map(({ organizationId, index, before, after }) => ({
      organization_id: organizationId,
      comment_id: after.comment.commentId,
      version: index + 1,
      change: after.change,
      status_before: before.comment.status,
      status: after.comment.status,
      text_before: before.comment.commentText ?? null,
      comment_text: after.comment.commentText ?? null,
      hours_since_previous: hours(before.comment.lastUpdated, after.comment.lastUpdated),
    })),
  status_transitions: (known) =>
    grouped(
      transitions(known).filter(
        ({ before, after }) =>
          after.change !== 'deleted' && before.comment.status !== after.comment.status,
      ),
      ({ organizationId, before, after }) => [
        organizationId,
        before.comment.status,
        after.comment.status,
      ],
    ).map(([[organization_id, from_status, to_status], group]) => ({
      organization_id,
      from_status,
      to_status,
      transitions: group.length,
      median_hours: medianHours(
        group.map(
          ({ before, after }) =>
            Date.parse(after.comment.lastUpdated) - Date.parse(before.comment.lastUpdated),
        ),
      ),
    })),
  observed_values: (known) =>
    (['status', 'type'] as const).flatMap((field) => {
      const all = [...known.comments.values()].flatMap(({ place, versions }) =>
        versions.map((version) => ({ place, version, isLive: isLast(version, versions) })),
      )
      return grouped(all, ({ place, version }) => [
        place.organizationId,
        version.comment[field],
      ]).map(([[organization_id, value], group]) => ({
        organization_id,
        field,
        value,
        comments: group.filter(({ isLive }) => isLive).length,
        versions: group.length,
      }))
    }),
  change_delay_daily: (known, _world, now) => {
    const changes = [...known.comments.values()].flatMap(({ place, versions }) =>
      versions.flatMap(({ change, comment, run }, index) => {
        const before = versions[index - 1]?.comment.lastUpdated ?? ''
        const isDated = change === 'added' || (change !== 'deleted' && comment.lastUpdated > before)
        const day = (isDated ? comment.lastUpdated : now.toISOString()).slice(0, 10)
        // What the first look at a thread brought tells of no delay.
        return index + run === 0 ? [] : [{ ...place, day, isDated }]
      }),
    )
    return [
      ...grouped(changes, ({ organizationId, day }) => [organizationId, day]),
      ...grouped(changes, ({ day }) => [null, day]),
    ].map(([[organization_id, day], group]) => ({
      organization_id,
      day,
      changes: group.length,
      undated: group.filter(({ isDated }) => !isDated).length,
    }))
  },
  // Where there is no refresh; test/refresh counts the others.
  refresh_classes: () => [],
  coverage: (known, world) =>
    [...world.organizationIds()].flatMap((organizationId) => {
      const people = [...(known.people.get(organizationId)?.values() ?? [])]
      const documents = [...world.documentIds(organizationId)]
      const annotations = documents.flatMap((id) => [...world.annotationIds(organizationId, id)])
      const held = (kind: string) =>
        [...known.held].filter((key) =>
          key.startsWith(JSON.stringify([organizationId, kind]).slice(0, -1)),
        ).length
      const row = (
        level: string,
        count: number,
        more: { held?: number; not_in_catalog?: number } = {},
      ) =>
        count + (more.not_in_catalog ?? 0) === 0
          ? []
          : [
              {
                organization_id: organizationId,
                level,
                known: count,
                fresh: count - (more.held ?? 0),
                stale: 0,
                never_synced: 0,
                failing: 0,
                held: 0,
                not_in_catalog: 0,
                refused: 0,
                ...more,
              },
            ]
      return [
        ...row('organization', 1),
        ...row('user group', [...world.groupIds(organizationId)].length, {
          held: held('user group'),
        }),
        ...row('document', documents.length, { held: held('document') }),
        ...row('annotation', annotations.length),
        ...row('user', people.filter(({ listed }) => listed).length, {
          not_in_catalog: people.filter(({ listed }) => !listed).length,
        }),
      ]
    }),
}

function transitions(known: Known) {
  return [...known.comments.values()].flatMap(({ place, versions }) =>
    versions.slice(1).map((after, at) => ({
      organizationId: place.organizationId,
      index: at + 1,
      before: versions[at] as Version,
      after,
    })),
  )
}

function isLast(version: Version, versions: readonly Version[]): boolean {
  return version === versions.at(-1) && version.change !== 'deleted'
}

function documentsOf(world: World) {
  return [...world.organizationIds()].flatMap((organizationId) =>
    [...world.documentIds(organizationId)].map((documentId) => ({ organizationId, documentId })),
  )
}

function grouped<T>(rows: readonly T[], keyOf: (row: T) => unknown[]): [unknown[], T[]][] {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const key = JSON.stringify(keyOf(row))
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return [...groups].map(([key, group]) => [JSON.parse(key) as unknown[], group])
}

/** SQL counts no nulls. */
function distinct(values: readonly unknown[]): number {
  return new Set(values.filter((value) => value !== undefined && value !== null)).size
}

function latest(times: readonly string[]): string | null {
  return times.toSorted().at(-1) ?? null
}

function mondayOf(time: string): string {
  const day = new Date(`${time.slice(0, 10)}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  return day.toISOString().slice(0, 10)
}

function hours(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 36_000) / 100
}

function medianHours(ms: readonly number[]): number {
  const sorted = ms.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const middle = ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
  return Math.round(middle / 36_000) / 100
}
