import {
  authorOf,
  covered,
  transitions,
  current,
  date,
  dayOf,
  daysAgo,
  distinct,
  documents,
  earliest,
  everyComment,
  groups,
  hourIn,
  isDeleted,
  isStale,
  live,
  median,
  mondayOf,
  organizationOf,
  people,
  personOf,
  rounded,
  sorted,
  threads,
  values,
} from './counting.ts'
import type { Asked, Row } from './counting.ts'

/** The answer to each question of docs/QUESTIONS.md, in its order there, counted in the plainest way. */
export const oracle: readonly ((asked: Asked) => Row[])[] = [
  function wroteMost(asked) {
    const recent = live(asked).filter((comment) => dayOf(asked, comment) > daysAgo(asked, 30))
    const rows = groups(recent, organizationOf).map(([organization, comments]) => [
      organization,
      comments.length,
      distinct(comments.map((comment) => dayOf(asked, comment))),
    ])
    return sorted(rows, ['-1', '0']).slice(0, 5)
  },
  function wentQuiet(asked) {
    const rows = groups(live(asked), organizationOf).map(([organization, comments]) => {
      const days = comments.map((comment) => dayOf(asked, comment))
      const lately = days.filter((day) => day > daysAgo(asked, 30)).length
      const before = days.filter((day) => day > daysAgo(asked, 60)).length - lately
      return [organization, before, lately, before - lately]
    })
    return sorted(rows.filter(([, before, lately]) => (lately as number) < (before as number)), ['-3', '0']) // prettier-ignore
      .slice(0, 5)
      .map((row) => row.slice(0, 3))
  },
  function neverAnswered(asked) {
    const rows = threads(asked)
      .filter(({ place, comments, answerAt }) => place.organizationId === 'org-0' && comments.length > 0 && answerAt === null) // prettier-ignore
      .map(({ place, comments, firstAt }) => [place.documentId as string, place.annotationId as string, comments.length, date(firstAt)]) // prettier-ignore
    return sorted(rows, ['-3', '0', '1']).slice(0, 5)
  },
  function hoursToAnswer(asked) {
    const answered = threads(asked).filter(({ hoursToAnswer }) => hoursToAnswer !== null)
    const rows = groups(answered, ({ place }) => place.organizationId).map(
      ([organization, own]) => [
        organization,
        own.length,
        rounded(median(own.map(({ hoursToAnswer }) => hoursToAnswer as number)), 1),
      ],
    )
    return sorted(rows, ['-2', '0']).slice(0, 5)
  },
  function mostActive(asked) {
    const own = live(asked).filter((comment) => organizationOf(comment) === 'org-0')
    const rows = groups(own, authorOf).map(([author, comments]) => [
      author,
      personOf(asked, 'org-0', author)?.name ?? null,
      comments.length,
    ])
    return sorted(rows, ['-2', '0']).slice(0, 5)
  },
  function authorsByWeek(asked) {
    const rows = groups(live(asked), (comment) => mondayOf(dayOf(asked, comment))).map(
      ([week, comments]) => [
        week,
        distinct(comments.map((comment) => `${organizationOf(comment)} ${authorOf(comment)}`)),
        comments.length,
      ],
    )
    return sorted(rows, ['-0']).slice(0, 5)
  },
  function discussedDocuments(asked) {
    const rows = documents(asked)
      .filter(({ members }) => members.length >= 5)
      .map(({ place, members, writing, comments }) => [
        place.organizationId,
        place.documentId as string,
        members.length,
        writing.length,
        comments.length,
        writing.length / members.length,
      ])
    return sorted(rows, ['-5', '-4', '0', '1'])
      .slice(0, 5)
      .map((row) => row.slice(0, 5))
  },
  function documentsWithoutComments(asked) {
    const all = documents(asked)
    const silent = all.filter(({ comments }) => comments.length === 0)
    const alone = all.filter(({ comments }) => distinct(comments.map(authorOf)) === 1)
    return [[all.length, silent.length, alone.length]]
  },
  function depth(asked) {
    const depths = [
      ['none', 0],
      ['1', 1],
      ['2 to 5', 5],
      ['6 to 10', 10],
      ['more', Infinity],
    ] as const
    return groups(threads(asked), ({ comments }) =>
      depths.findIndex(([, most]) => comments.length <= most),
    )
      .toSorted(([a], [b]) => a - b)
      .map(([depth, own]) => [
        depths[depth]?.[0] ?? null,
        own.length,
        Math.max(...own.map(({ comments }) => distinct(comments.map(authorOf)))),
      ])
  },
  function statusesAndTypes(asked) {
    const rows = values(asked).map(({ field, value, comments }) => [field, value, comments])
    return sorted(rows, ['0', '-2', '1'])
  },
  function statusTransitions(asked) {
    const rows = groups(transitions(asked), ({ before, after }) => [
      before.status,
      after.status,
    ]).map(([key, own]) => [...key, own.length])
    return sorted(rows, ['-2', '0', '1'])
  },
  function search(asked) {
    const found = live(asked).filter((comment) => current(comment).text?.includes('合计'))
    const rows = groups(found, organizationOf).map(([organization, own]) => [organization, own.length]) // prettier-ignore
    return sorted(rows, ['-1', '0']).slice(0, 5)
  },
  function deletedComments(asked) {
    const rows = everyComment(asked)
      .filter(isDeleted)
      .map((comment) => [
        organizationOf(comment),
        comment.place.documentId,
        comment.commentId,
        authorOf(comment),
        current(comment).text?.slice(0, 30) ?? null,
        comment.place.annotationId,
      ])
    return sorted(rows, ['0', '1', '5', '2'])
      .slice(0, 5)
      .map((row) => row.slice(0, 5))
  },
  function changedAfterwards(asked) {
    const changes = everyComment(asked).flatMap((comment) =>
      comment.versions
        .filter(({ number }) => number > 1)
        .map((version) => ({ comment, change: version.change })),
    )
    const rows = groups(changes, ({ comment }) => [organizationOf(comment), authorOf(comment)]) // prettier-ignore
      .map(([key, own]) => [
        ...key,
        own.length,
        own.filter(({ change }) => change === 'deleted').length,
      ])
    return sorted(rows, ['-2', '0', '1']).slice(0, 5)
  },
  function guests(asked) {
    const all = people(asked).filter(
      ({ now, documents }) => !now.listed && now.leftAt === null && documents > 0,
    )
    const rows = groups(all, ({ person }) => person.organizationId).map(([organization, own]) => [
      organization,
      own.length,
      own.reduce((sum, { documents }) => sum + documents, 0),
    ])
    return sorted(rows, ['-1', '0']).slice(0, 5)
  },
  function whoLeft(asked) {
    const rows = people(asked)
      .filter(({ now }) => now.leftAt !== null)
      .map(({ person, now, documents, groups: userGroups }) => [
        person.organizationId,
        person.userId,
        now.name,
        documents,
        userGroups,
        'left',
      ])
    return sorted(rows, ['0', '1'])
  },
  function whoSeesDocument(asked) {
    const rows = asked.known.stays
      .filter(
        ({ until, listing: { place } }) =>
          until === null && place.organizationId === 'org-0' && place.documentId === 'doc-0',
      ) // prettier-ignore
      .map(({ userId }) => {
        const person = personOf(asked, 'org-0', userId)
        return [userId, person?.name ?? null, person?.email ?? null, false, false]
      })
    return sorted(rows, ['0']).slice(0, 5)
  },
  function coverage(asked) {
    return sorted(covered(asked), ['1', '0'])
  },
  function addsUp(asked) {
    const { length } = live(asked)
    return [[length, length, length, length]]
  },
  function toLoadAgain(asked) {
    const first = asked.known.runs[0] ?? new Date(8.64e15)
    const changed = everyComment(asked).filter(({ changedAt }) => changedAt > first)
    return [[changed.length, changed.filter(isDeleted).length]]
  },
  function hoursOfTheDay(asked) {
    const rows = groups(live(asked), ({ writtenAt }) => hourIn('America/New_York', writtenAt)) // prettier-ignore
      .map(([hour, own]) => [hour, own.length, own.filter(({ isExact }) => isExact).length])
    return sorted(rows, ['-1', '0']).slice(0, 5)
  },
  function answeredWithin(asked) {
    const own = threads(asked).filter(({ scope, comments }) => scope.inCatalog && comments.length > 0) // prettier-ignore
    const rows = groups(own, ({ hoursToAnswer }) => {
      if (hoursToAnswer === null) return 'not answered'
      return hoursToAnswer <= 24 ? 'within a day' : hoursToAnswer <= 168 ? 'within a week' : 'later'
    }).map(([answered, each]) => [
      answered,
      each.length,
      each.filter(({ scope }) => isStale(asked, scope)).length,
    ])
    return sorted(rows, ['-1', '0'])
  },
  function firstAnswers(asked) {
    const answers = threads(asked).flatMap(({ comments, answerAt }) =>
      comments.filter(({ writtenAt }) => writtenAt === answerAt),
    )
    const rows = groups(answers, (comment) => [organizationOf(comment), authorOf(comment)]) // prettier-ignore
      .map(([key, own]) => [...key, own.length])
    return sorted(rows, ['-2', '0', '1']).slice(0, 5)
  },
  function waitingThreads(asked) {
    const rows = threads(asked)
      .filter(
        ({ scope, firstAt, answerAt }) =>
          scope.inCatalog && answerAt === null && firstAt !== null && firstAt < daysAgo(asked, 7),
      ) // prettier-ignore
      .map(({ scope, place, firstAt }) => [
        place.organizationId,
        place.documentId as string,
        place.annotationId as string,
        date(firstAt),
        isStale(asked, scope),
      ])
    return sorted(rows, ['3', '0', '1', '2']).slice(0, 5)
  },
  function silentPeople(asked) {
    const writing = new Set(
      live(asked)
        .filter((comment) => mondayOf(dayOf(asked, comment)) > daysAgo(asked, 28))
        .map((comment) => `${organizationOf(comment)} ${authorOf(comment)}`),
    )
    const listed = people(asked).filter(({ now }) => now.listed)
    const rows = groups(listed, ({ person }) => person.organizationId).map(
      ([organization, own]) => [
        organization,
        own.length,
        own.filter(({ person }) => !writing.has(`${organization} ${person.userId}`)).length,
      ],
    )
    return sorted(rows, ['-2', '0']).slice(0, 5)
  },
  function outOfDate(asked) {
    const scopes = [...asked.known.scopes.values()].filter(({ inCatalog }) => inCatalog)
    const rows = groups(scopes, ({ level }) => level).map(([level, own]) => {
      const stale = own.filter((scope) => isStale(asked, scope))
      return [
        level,
        own.length,
        stale.length,
        stale.filter(({ checkedAt }) => checkedAt === null).length,
        earliest(stale.map(({ checkedAt }) => checkedAt)),
        earliest(own.map(({ failingSince }) => failingSince)),
      ]
    })
    return sorted(rows, ['0'])
  },
  function totalsOutOfDate(asked) {
    const recent = live(asked).filter((comment) => dayOf(asked, comment) > daysAgo(asked, 30))
    const rows = groups(recent, organizationOf).map(([organization, comments]) => {
      const stale = threads(asked).filter(({ scope, place }) => place.organizationId === organization && scope.inCatalog && isStale(asked, scope)) // prettier-ignore
      const unchecked = comments.filter(({ thread }) => !thread.inCatalog)
      return [organization, comments.length, unchecked.length, stale.length, stale.length > 0]
    })
    return sorted(rows, ['-1', '0']).slice(0, 5)
  },
  function renamed(asked) {
    const rows = people(asked).flatMap(({ person }) =>
      person.versions.flatMap((version, index) => {
        const before = person.versions[index - 1]
        if (before === undefined || before.name === version.name) return []
        return [[person.organizationId, person.userId, before.name, version.name, version.number]]
      }),
    )
    return sorted(rows, ['0', '1', '-4'])
      .slice(0, 5)
      .map((row) => row.slice(0, 4))
  },
  function sinceTheFirstRun(asked) {
    const first = asked.known.runs[0] as Date
    const rows = people(asked)
      .map(({ person, now }) => {
        const then = person.versions.find(({ from, until }) => from <= first && (until === null || until > first)) // prettier-ignore
        const { organizationId, userId } = person
        return [organizationId, userId, then?.name ?? null, now.name, then?.listed ?? null, now.listed] // prettier-ignore
      })
      .filter(([, , nameThen, name, listedThen, listed]) => nameThen !== name || listedThen !== listed) // prettier-ignore
    return sorted(rows, ['0', '1']).slice(0, 10)
  },
  function newValues(asked) {
    const first = asked.known.runs[0] as Date
    const rows = values(asked).map(({ field, value, comments, firstSeen }) => [
      field,
      value,
      comments,
      firstSeen > first,
    ])
    return sorted(rows, ['-3', '0', '1'])
  },
]

/** Each scope of the catalog, when it was last looked at well, and whether it may be out of date. */
export function marks(asked: Asked): Row[] {
  return [...asked.known.scopes.values()]
    .filter(({ inCatalog }) => inCatalog)
    .map((scope) => {
      const { organizationId, documentId = null, annotationId = null, groupId = null } = scope.place
      const { checkedAt, failingSince } = scope
      return [
        organizationId,
        documentId,
        annotationId,
        groupId,
        checkedAt,
        failingSince,
        isStale(asked, scope),
        `Name of ${organizationId}`,
        documentId && `Name of ${documentId}`,
        groupId && `Name of ${groupId}`,
      ]
    })
}
