import { idOf, indexOf } from './identifiers.ts'
import { generatedGuest, generatedUser } from './people.ts'
import type { PeoplePlan, User } from './people.ts'

/** The people of one organization: those generated, under the changes that were made. */
export class Directory {
  readonly #plan: PeoplePlan
  readonly #organization: number
  readonly #users: Map<string, User>
  readonly #removed = new Map<string, User>()
  /** User IDs of each document or group whose listing was changed, by its key. */
  readonly #members = new Map<string, string[]>()

  constructor(plan: PeoplePlan, organization: number) {
    this.#plan = plan
    this.#organization = organization
    const users = Array.from({ length: plan.usersPerOrganization }, (_, index) =>
      generatedUser(plan, organization, index),
    )
    this.#users = new Map(users.map((user) => [user.userId, user]))
  }

  users(): User[] {
    return [...this.#users.values()]
  }

  /** Users that were removed from the listing, as last listed. */
  removed(): User[] {
    return [...this.#removed.values()]
  }

  /** The members with this key; `generate` returns the IDs of an unchanged listing. */
  members(key: string, generate: () => string[]): User[] {
    const ids = this.#members.get(key) ?? generate()
    return ids.flatMap((id) => this.#users.get(id) ?? this.#guests(id))
  }

  put(user: User): void {
    this.#removed.delete(user.userId)
    this.#users.set(user.userId, user)
  }

  drop(userId: string): void {
    const last = this.#users.get(userId)
    if (!last) throw new Error(`no user ${userId} in ${idOf('organization', this.#organization)}`)
    this.#users.delete(userId)
    this.#removed.set(userId, last)
  }

  putMembers(key: string, userIds: string[]): void {
    this.#members.set(key, userIds)
  }

  #guests(userId: string): User[] {
    const guest = indexOf('guest', userId)
    return guest === undefined ? [] : [generatedGuest(this.#plan, this.#organization, guest)]
  }
}
