import type { Operation } from '../base/errors.ts'
import { places } from './catalog.ts'
import type { Place } from './layout.ts'
import type { User } from './people.ts'
import { Random } from './random.ts'
import type { CommentsRequest, StandInRequest, UsersRequest } from './requests.ts'
import type { World } from './world.ts'

interface AnswerOptions {
  /** Items, and the members of each record, in another order every time. */
  shuffle: boolean
  seed: number
  cacheMaxBytes: number
}

/** The records of one listing as JSON texts, in one of KEY_ORDERS orders of their members. */
interface Cached {
  readonly revision: number
  readonly items: string[]
  /** Roughly: two bytes a character. */
  readonly bytes: number
}

const KEY_ORDERS = 3

/** service-api.md, observed messages. */
const MESSAGES: Record<Operation, string> = {
  comments: 'Comments(s) retrieved successfully.',
  users: 'User(s) retrieved successfully.',
}

/**
 * Turns the world into answers. The records' JSON text is kept per listing while it does not
 * change, up to `cacheMaxBytes`, since making it is most of the work of a call.
 */
export class Answers {
  readonly #options: AnswerOptions
  readonly #world: World
  readonly #random: Random
  readonly #cache = new Map<string, Cached>()
  #cachedBytes = 0

  constructor(world: World, options: AnswerOptions) {
    this.#world = world
    this.#options = options
    this.#random = new Random(options.seed)
  }

  /** JSON texts of the items of `result.data`; undefined where the organization, document or annotation is unknown. */
  items(request: StandInRequest): string[] | undefined {
    const items = request.operation === 'comments' ? this.#comments(request) : this.#users(request)
    const isOneToOne = request.operation === 'comments' && request.data.commentIds !== undefined
    if (!items || isOneToOne || !this.#options.shuffle) return items
    const shuffled = items.slice()
    this.#random.shuffle(shuffled)
    return shuffled
  }

  /** Makes and keeps the text of as many annotations as the cache holds, so that no call waits for it. */
  prepare(): void {
    const orders = this.#options.shuffle ? KEY_ORDERS : 1
    for (const place of places(this.#world)) {
      for (let order = 0; order < orders; order++) this.#allComments(place, order)
      if (this.#cachedBytes > this.#options.cacheMaxBytes * 0.95) break
    }
  }

  #comments({ data }: CommentsRequest): string[] | undefined {
    if (data.commentIds) return this.#askedComments(data, data.commentIds)
    return this.#allComments(data, this.#keyOrder())
  }

  #allComments(place: Place, order: number): string[] | undefined {
    const key = JSON.stringify([place.organizationId, place.documentId, place.annotationId])
    const revision = this.#world.commentsRevision(place)
    return this.#cached(key, revision, order, () => this.#world.comments(place))
  }

  /** One to one with the ids asked for, `null` for those not found (Get Comments, rule 3). */
  #askedComments(data: CommentsRequest['data'], ids: readonly number[]): string[] | undefined {
    const comments = this.#world.comments(data)
    if (!comments) return undefined
    const byId = new Map(comments.map((comment) => [comment.commentId, comment]))
    const order = this.#keyOrder()
    return ids.map((id) => {
      const comment = byId.get(id)
      return comment ? textOf(comment, order) : 'null'
    })
  }

  /** Those who pass every filter of the call; service-api.md does not show how they go together. */
  #users({ data }: UsersRequest): string[] | undefined {
    const { organizationId, documentId, userIds, organizationUserGroupIds } = data
    const listing = () =>
      documentId === undefined
        ? this.#world.users(organizationId)
        : this.#world.documentUsers(organizationId, documentId)
    if (!userIds && !organizationUserGroupIds) {
      const key = JSON.stringify([organizationId, documentId])
      const revision = this.#world.peopleRevision(organizationId)
      return this.#cached(key, revision, this.#keyOrder(), listing)
    }
    const listed = listing()
    if (!listed) return undefined
    const users = organizationUserGroupIds
      ? this.#members(organizationId, organizationUserGroupIds)
      : listed
    const order = this.#keyOrder()
    return users
      .filter(({ userId }) => userIds?.includes(userId) ?? true)
      .map((user) => textOf(user, order))
  }

  /** An unknown group has no members: groups are a filter here, not a path. */
  #members(organizationId: string, groupIds: readonly string[]): User[] {
    const members = groupIds.flatMap((id) => this.#world.groupMembers(organizationId, id) ?? [])
    return [...new Map(members.map((user) => [user.userId, user])).values()]
  }

  #cached(
    key: string,
    revision: number,
    order: number,
    make: () => readonly object[] | undefined,
  ): string[] | undefined {
    const entryKey = `${order} ${key}`
    const found = this.#cache.get(entryKey)
    if (found?.revision === revision) return found.items
    const items = make()?.map((record) => textOf(record, order))
    if (items) this.#remember(entryKey, revision, items)
    return items
  }

  #remember(key: string, revision: number, items: string[]): void {
    this.#forget(key)
    const bytes = items.reduce((sum, item) => sum + item.length * 2, key.length * 2)
    this.#cachedBytes += bytes
    this.#cache.set(key, { revision, items, bytes })
    for (const oldKey of this.#cache.keys()) {
      if (this.#cachedBytes <= this.#options.cacheMaxBytes) break
      this.#forget(oldKey)
    }
  }

  #forget(key: string): void {
    this.#cachedBytes -= this.#cache.get(key)?.bytes ?? 0
    this.#cache.delete(key)
  }

  #keyOrder(): number {
    return this.#options.shuffle ? this.#random.below(KEY_ORDERS) : 0
  }
}

/** A success body around items that are JSON texts. */
export function successBody(operation: Operation, items: readonly string[]): string {
  return `{"result":{"status":"success","message":"${MESSAGES[operation]}","data":[${items.join(',')}]}}`
}

/**
 * A failure body. service-api.md shows its shape and message for Get Users only; the same shape
 * for Get Comments is our guess.
 */
export function errorBody(operation: Operation, status: string): string {
  const message = `Error retrieving ${operation === 'users' ? 'user(s)' : 'comment(s)'}.`
  return JSON.stringify({ error: { message, status } })
}

/** The record with its members (and those of its `from`) rotated by `order`. */
function textOf(record: object, order: number): string {
  if (order === 0) return JSON.stringify(record)
  const rotated = rotate(record, order)
  const { from } = rotated
  if (from) rotated.from = rotate(from, order)
  return JSON.stringify(rotated)
}

function rotate(record: object, by: number): Record<string, object> {
  const entries = Object.entries(record) as [string, object][]
  const places = (by * 2) % entries.length
  return Object.fromEntries([...entries.slice(places), ...entries.slice(0, places)])
}
