import { diffWords } from 'diff'
import * as z from 'zod'
import type { RowOf } from '../core/database/statement.ts'
import type * as things from '../core/database/statements/things.ts'
import { count, counted, describeFailure, rejectedNoun, time } from '../schemas/format.ts'
import { LIFE_EVENTS } from '../schemas/thing.ts'
import type { LifeEntry, ThingIds, Words } from '../schemas/thing.ts'

type LifeRow = RowOf<typeof things.life>
type VersionRow = RowOf<typeof things.lifeOfComment>

const text = z.string().nullish()
const EventSchema = z.enum(LIFE_EVENTS)

/** The facts of an event in `things/life.sql`. */
const FactsSchema = z.object({
  change: z.string().default(''),
  name: text,
  email: text,
  listed: z.boolean().optional(),
  nameBefore: text,
  emailBefore: text,
  hasBefore: z.boolean().optional(),
  users: z.number().default(0),
  usersBefore: z.number().default(0),
  resolution: text,
  by: text,
  reason: text,
  httpStatus: z.number().nullish(),
  errorStatus: text,
  errorMessage: text,
  attempts: z.number().default(0),
  isField: z.boolean().default(false),
  goneAt: z.coerce.date().nullish(),
  setAsideAt: z.coerce.date().nullish(),
  setAsideBy: text,
  setAsideReason: text,
  importId: z.number().nullish(),
  source: text,
  erasureId: z.number().optional(),
})

type Facts = z.output<typeof FactsSchema>

/** An event of a thing. @param isOfUser whether the thing is a user, who joins and leaves other things */
export function lifeEntry(row: LifeRow, organizationId: string, isOfUser: boolean): LifeEntry {
  const { at, runId, userId, userName, documentId, userGroupId } = row
  const event = EventSchema.parse(row.event)
  const place: ThingIds | null =
    isOfUser && (documentId !== null || userGroupId !== null)
      ? {
          organizationId,
          ...(documentId !== null && { documentId }),
          ...(userGroupId !== null && { organizationUserGroupId: userGroupId }),
        }
      : null
  return {
    at,
    event,
    sentence: sentenceOf(event, FactsSchema.parse(row.facts), listingName(row, isOfUser)),
    runId,
    user: isOfUser || userId === null ? null : { userId, name: userName },
    place,
    diff: null,
  }
}

function listingName({ documentId, userGroupId }: LifeRow, isOfUser: boolean): string {
  if (!isOfUser) return 'The listing'
  if (documentId !== null) return `The listing of document ${documentId}`
  return `The listing of ${userGroupId === null ? 'the organization' : `user group ${userGroupId}`}`
}

function sentenceOf(event: LifeEntry['event'], facts: Facts, listing: string): string {
  switch (event) {
    case 'version':
      return describeUserVersion(facts)
    case 'joined':
      return `${listing} contained the user.`
    case 'left':
      return `${listing} no longer contained the user.`
    case 'held':
      return `${listing} lost ${count(facts.users)} of ${counted(facts.usersBefore, 'user')}: the removal was held.`
    case 'decided':
      return describeDecision(facts)
    case 'failed': {
      const { httpStatus = null, errorStatus = null, errorMessage, attempts } = facts
      const why = errorMessage ?? describeFailure({ httpStatus, errorStatus })
      return `The fetch failed after ${counted(attempts, 'call')}: ${why.replace(/\.$/, '')}.`
    }
    case 'resolved':
      return 'The fetch succeeded again.'
    case 'rejected':
      return describeRejected(facts)
    case 'catalog':
      return describeCatalogChange(facts)
    case 'erased':
      return `The user was erased, by erasure ${facts.erasureId}.`
  }
}

function describeUserVersion(facts: Facts): string {
  const { change, name, email, nameBefore, emailBefore, hasBefore } = facts
  const called = [name ?? 'no name', email ?? 'no address'].join(', ')
  if (change === 'added') return `First seen: ${called}.`
  const words: Record<string, string> = {
    listed: 'The organization’s listing contained the user for the first time.',
    removed: 'The organization’s listing no longer contained the user.',
    restored: 'The organization’s listing contained the user again.',
  }
  if (!hasBefore)
    return `${words[change] ?? 'Changed'} ${called}; the previous value is not stored.`
  const changes = [
    name === nameBefore ? '' : `The name changed from ${quoted(nameBefore)} to ${quoted(name)}.`,
    email === emailBefore
      ? ''
      : `The address changed from ${quoted(emailBefore)} to ${quoted(email)}.`,
  ]
  return [words[change] ?? '', ...changes].filter(Boolean).join(' ') || 'Changed.'
}

function quoted(name: string | null | undefined): string {
  return name == null ? 'none' : JSON.stringify(name)
}

function describeDecision({ resolution, by, reason, users }: Facts): string {
  const person = counted(users, 'user')
  const why = reason ? `: ${reason}` : ''
  switch (resolution) {
    case 'accepted':
    case 'refused':
      return `${by} ${resolution} the removal of ${person}${why}.`
    case 'repeated':
      return `The removal of ${person} was applied, because HELD_ACCEPT_AFTER nightly runs returned the same listing.`
    default:
      return 'A later response decided: the removal is no longer held.'
  }
}

function describeRejected({ reason, isField, ...facts }: Facts): string {
  const { goneAt, setAsideAt, setAsideBy, setAsideReason } = facts
  const later = [
    goneAt && `No longer received since ${time(goneAt)}.`,
    setAsideAt && `Set aside by ${setAsideBy} at ${time(setAsideAt)}: ${setAsideReason}.`,
  ]
  return [`A ${rejectedNoun({ isField })} was rejected: ${reason}.`, ...later]
    .filter(Boolean)
    .join(' ')
}

/** How a thing entered or left the catalog. */
export function describeCatalogChange({
  change,
  importId,
  source,
  by,
}: Pick<Facts, 'change' | 'importId' | 'source' | 'by'>): string {
  const did =
    { added: 'Added to the catalog', removed: 'Taken out of the catalog' }[change] ??
    'Taken into the catalog again'
  return importId == null
    ? `${did}.`
    : `${did} by import ${importId} (${source ?? 'unknown source'}, requested by ${by}).`
}

/** UTF-16 units of both texts: comparing longer ones takes too long. */
const DIFF_UNITS_MAX = 10_000
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** A version of a comment, with a comparison to the previous version. */
export function versionEntry(row: VersionRow): LifeEntry {
  const later =
    row.changedAt &&
    ` Something else, such as the author, changed at ${time(row.changedAt)}; the previous value is not stored.`
  return {
    at: row.validFrom,
    event: 'version',
    sentence: `Version ${row.version}: ${describeVersion(row)}${later ?? ''}`,
    runId: row.runId,
    user: null,
    place: null,
    diff: diffOf(row),
  }
}

function describeVersion(row: VersionRow): string {
  const { version, change, versionBefore, commentText, textBefore, hasOtherHtml } = row
  if (change === 'deleted') return 'the service returned null for its ID.'
  if (version > 1 && versionBefore === null)
    return `the oldest stored version (${change}); earlier versions were pruned.`
  if (change === 'added') return 'first seen.'
  const changes = [
    commentText !== textBefore && 'the text changed',
    commentText === textBefore && hasOtherHtml && 'only the formatting changed',
    row.status !== row.statusBefore && `the status changed to ${row.status ?? 'none'}`,
    row.type !== row.typeBefore && `the type changed to ${row.type ?? 'none'}`,
  ].filter(Boolean)
  const begin = change === 'restored' ? 'the service returned it again' : null
  return `${[begin, ...changes].filter(Boolean).join(', ') || 'only lastUpdated changed'}.`
}

function diffOf({ change, commentText, textBefore, versionBefore }: VersionRow): Words[] | null {
  if (change === 'deleted' || commentText === null) return null
  if (versionBefore === null)
    return [{ change: change === 'added' ? 'added' : 'same', text: commentText }]
  return textBefore === null || textBefore === commentText
    ? null
    : wordDiff(textBefore, commentText)
}

/** Compares two texts by words. */
export function wordDiff(before: string, after: string): Words[] {
  if (before.length + after.length > DIFF_UNITS_MAX)
    return [
      { change: 'removed', text: before },
      { change: 'added', text: after },
    ]
  return diffWords(before, after, { intlSegmenter: segmenter }).map(({ value, added, removed }) => {
    return { change: added ? 'added' : removed ? 'removed' : 'same', text: value }
  })
}
