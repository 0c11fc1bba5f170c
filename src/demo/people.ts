import { idOf } from './identifiers.ts'
import type { Names } from './identifiers.ts'
import { languages } from './phrases.ts'
import { Random, seedOf } from './random.ts'

/** docs/SERVICE.md, Get Users; undocumented members are allowed. */
export interface User {
  userId: string
  name?: string
  email?: string
  [unknown: string]: unknown
}

export interface PeoplePlan {
  seed: number
  usersPerOrganization: number
  names?: Names
}

// A number for each kind separates the random streams of kinds with equal indices.
const USER = 1
const DOCUMENT_USERS = 2
const GROUP_MEMBERS = 3
// Lower than the negated document numbers that guests use.
const GHOST = -0x7fffffff

/** User number `index` of an organization, as in its listing. */
export function generatedUser(plan: PeoplePlan, organization: number, index: number): User {
  const random = new Random(seedOf(plan.seed, USER, organization, index))
  const email = `user${index}@${domainOf(plan, organization)}`
  const user = person(plan, random, idOf('user', index, plan.names), email)
  // Every organization has one without an e-mail address and, if large, one without a name.
  if (index % 17 === 2) delete user.email
  if (index % 41 === 40) delete user.name
  if (index % 5 === 3) user.photoUrl = `https://img.example/${organization}/${index}.png`
  if (index % 13 === 0) user.isAdmin = true
  return user
}

/** The guest of a document: in the document's listing, in no organization's listing. */
export function generatedGuest(plan: PeoplePlan, organization: number, document: number): User {
  const random = new Random(seedOf(plan.seed, USER, organization, -1 - document))
  const userId = idOf('guest', document, plan.names)
  return person(plan, random, userId, `guest${document}@visitors.example`)
}

/** The author of an organization who is in no listing at all. */
export function generatedGhost(plan: PeoplePlan, organization: number): User {
  const random = new Random(seedOf(plan.seed, USER, organization, GHOST))
  const userId = idOf('ghost', organization, plan.names)
  return person(plan, random, userId, `former@${domainOf(plan, organization)}`)
}

/** Whether a document has a guest: every fourth one. */
export function hasGuest(document: number): boolean {
  return document % 4 === 1
}

/** The ids in a document's listing, its guest included. */
export function generatedDocumentUserIds(plan: PeoplePlan, organization: number, document: number) {
  const ids = documentUserIndices(plan, organization, document).map((index) =>
    idOf('user', index, plan.names),
  )
  if (hasGuest(document)) ids.push(idOf('guest', document, plan.names))
  return ids
}

/** The indices of a document's own users, the guest not among them. */
export function documentUserIndices(plan: PeoplePlan, organization: number, document: number) {
  return ring(plan, DOCUMENT_USERS, organization, document)
}

/** The ids of a group's members. */
export function generatedGroupMemberIds(plan: PeoplePlan, organization: number, group: number) {
  return ring(plan, GROUP_MEMBERS, organization, group).map((index) =>
    idOf('user', index, plan.names),
  )
}

/** The documented members, which are all that `from` has. */
export function summary(user: User): User {
  const short: User = { userId: user.userId }
  if (user.name !== undefined) short.name = user.name
  if (user.email !== undefined) short.email = user.email
  return short
}

function ring(plan: PeoplePlan, kind: number, organization: number, index: number): number[] {
  const all = plan.usersPerOrganization
  const random = new Random(seedOf(plan.seed, kind, organization, index))
  const count = Math.min(all, 2 + Math.floor(random.next() ** 2 * Math.max(all * 0.6, 3)))
  const start = random.below(all)
  const step = [1, 3, 7, 11].filter((prime) => all % prime !== 0 || prime === 1).at(-1) as number
  return Array.from({ length: count }, (_, place) => (start + place * step) % all)
}

function person(plan: PeoplePlan, random: Random, userId: string, email: string): User {
  const language = random.pick(plan.names === 'plain' ? languages.slice(0, 1) : languages)
  const name = `${random.pick(language.given)} ${random.pick(language.family)}`
  return { userId, name, email }
}

function domainOf({ names }: PeoplePlan, organization: number): string {
  return names === 'plain'
    ? `${idOf('organization', organization, names)}.example`
    : `org${organization}.example`
}
