import { internalOrganizationId, moreFields } from './more-fields.ts'
import { emoji, languages } from './phrases.ts'
import type { Language } from './phrases.ts'
import {
  documentUserIndices,
  generatedGhost,
  generatedGuest,
  generatedUser,
  hasGuest,
  summary,
} from './people.ts'
import type { PeoplePlan, User } from './people.ts'
import { Random, seedOf } from './random.ts'

/** docs/SERVICE.md, Get Comments; undocumented members are allowed. */
export interface Comment {
  commentId: number
  commentText?: string
  commentHtml?: string
  from?: User
  lastUpdated: string
  status: string
  type: string
  [unknown: string]: unknown
}

export interface CommentsPlan extends PeoplePlan {
  /** The newest instant of generated data, epoch milliseconds. */
  nowMs: number
  commentsPerAnnotation: number
  skew: boolean
  /** True: comments have more of the fields that docs/SERVICE.md does not name (docs/MORE_FIELDS.md). */
  moreFields?: boolean
}

/** Indices of an annotation and its parents, from 0. */
export interface Spot {
  organization: number
  document: number
  annotation: number
}

// Separates these random streams from those of people.
const ANNOTATION = 4

const HISTORY_MS = 90 * 24 * 3_600_000
const LONGEST_THREAD_MS = 14 * 24 * 3_600_000
const STATUSES = ['added', 'updated'] as const

/** The comments of an annotation, oldest first; their ids are unique within it. */
export function generatedComments(plan: CommentsPlan, spot: Spot): Comment[] {
  const { organization, document, annotation } = spot
  const random = new Random(seedOf(plan.seed, ANNOTATION, organization, document, annotation))
  const isFirst = organization === 0 && document === 0 && annotation === 0
  const count = commentCount(plan, annotation, isFirst, random)
  const startMs = plan.nowMs - 3_600_000 - random.next() * (HISTORY_MS - 3_600_000)
  const spanMs = Math.min(plan.nowMs - startMs, random.next() * LONGEST_THREAD_MS)
  const authors = documentUserIndices(plan, organization, document)
  const comments: Comment[] = []
  for (let index = 0; index < count; index++) {
    const atMs = startMs + (spanMs * (index + random.next())) / count
    const comment = generatedComment(random, Math.floor(atMs), index)
    comment.from = author(plan, spot, authors, random)
    if (plan.moreFields) {
      const path = [organization, document, annotation, index] as const
      const { lastUpdated } = comment
      Object.assign(comment, moreFields(plan, { path, members: authors, lastUpdated }))
      comment.from['organizationId'] = internalOrganizationId(plan, organization)
    }
    comments.push(comment)
  }
  const last = comments.at(-1)
  if (isFirst && last) last.commentId = Number.MAX_SAFE_INTEGER
  const second = comments[1]
  if (isFirst && second) makeVoice(second)
  return comments
}

/** A text of one to four sentences in one language. */
export function writtenText(random: Random): string {
  const language = languages[Math.floor(random.next() ** 1.5 * languages.length)] as Language
  const sentence = () =>
    random.pick(language.sentences).replace('{n}', String(1 + random.below(400)))
  let text = sentence()
  for (let more = random.below(4); more > 0; more--) text += ` ${sentence()}`
  return random.next() < 0.1 ? `${text} ${random.pick(emoji)}` : text
}

/** The HTML body that goes with a plain-text body. */
export function htmlOf(text: string): string {
  return `<p>${text.replace(/[&<>"]/g, (character) => `&${ENTITIES[character]};`)}</p>`
}

function generatedComment(random: Random, atMs: number, index: number): Comment {
  const text = writtenText(random)
  const comment: Comment = {
    commentId: 100_000 + index * 10 + random.below(10),
    commentText: text,
    commentHtml: htmlOf(text),
    lastUpdated: new Date(atMs).toISOString(),
    status: random.next() < 0.93 ? 'added' : random.pick(STATUSES),
    type: 'text',
  }
  const kind = random.next()
  if (kind < 0.02) makeVoice(comment)
  else if (kind < 0.1)
    comment.reactions = [{ emoji: random.pick(emoji), count: 1 + random.below(9) }]
  else if (kind < 0.14) comment.attachments = [{ name: 'scan 1.pdf', bytes: random.below(1e6) }]
  return comment
}

function makeVoice(comment: Comment): void {
  delete comment.commentText
  delete comment.commentHtml
  comment.type = 'voice'
  comment.attachments = [{ name: 'voice.webm', durationMs: 4200 }]
}

/** Usually a user of the document, sometimes its guest or the organization's former user. */
function author(plan: CommentsPlan, spot: Spot, users: readonly number[], random: Random): User {
  const draw = random.next()
  if (draw < 0.02 || users.length === 0) return generatedGhost(plan, spot.organization)
  if (draw < 0.05 && hasGuest(spot.document))
    return generatedGuest(plan, spot.organization, spot.document)
  // Squared, so that a few people write most comments.
  const index = users[Math.floor(random.next() ** 2 * users.length)] as number
  return summary(generatedUser(plan, spot.organization, index))
}

function commentCount(
  plan: CommentsPlan,
  annotation: number,
  isFirst: boolean,
  random: Random,
): number {
  const mean = plan.commentsPerAnnotation
  const draw = random.next()
  if (!plan.skew) return mean
  if (isFirst) return Math.max(mean, 3)
  // At a fixed index, so that even a small world has an annotation without comments.
  if (annotation % 12 === 1) return 0
  return Math.min(Math.round(-Math.log(1 - draw) * mean * 1.09), mean * 8)
}

const ENTITIES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }
