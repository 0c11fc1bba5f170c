import { idOf, indexOf } from './identifiers.ts'
import { generatedGuest, generatedUser } from './people.ts'
import type { PeoplePlan, User } from './people.ts'

/** What was changed about the people of one organization. */
interface Changes {
  revision: number
  /** Users added or renamed, by id, as the listing serves them. */
  put: Map<string, User>
  removed: Map<string, User>
  /** Members of a document or group whose list was changed, by its key. */
  members: Map<string, string[]>
}

/** Who is in the listings of each organization: the generated people under the changes made. */
export class Directory {
  readonly #plan: PeoplePlan
  readonly #changes = new Map<number, Changes>()

  constructor(plan: PeoplePlan) {
    this.#plan = plan
  }

  users(organization: number): User[] {
    const changes = this.#changes.get(organization)
    const users: User[] = []
    for (let index = 0; index < this.#plan.usersPerOrganization; index++) {
      const id = idOf('user', index)
      if (changes?.removed.has(id)) continue
      users.push(changes?.put.get(id) ?? generatedUser(this.#plan, organization, index))
    }
    for (const [id, user] of changes?.put ?? []) {
      if (this.#generatedIndex(id) === undefined && !changes?.removed.has(id)) users.push(user)
    }
    return users
  }

  /** The members under this key; `generate` gives their ids where nobody changed them. */
  members(organization: number, key: string, generate: () => string[]): User[] {
    const changes = this.#changes.get(organization)
    const ids = changes?.members.get(key) ?? generate()
    return ids
      .filter((id) => !changes?.removed.has(id))
      .map((id) => changes?.put.get(id) ?? this.#generated(organization, id))
  }

  removed(organization: number): User[] {
    return [...(this.#changes.get(organization)?.removed.values() ?? [])]
  }

  revision(organization: number): number {
    return this.#changes.get(organization)?.revision ?? 0
  }

  put(organization: number, user: User): void {
    const changes = this.#touch(organization)
    changes.removed.delete(user.userId)
    changes.put.set(user.userId, user)
  }

  drop(organization: number, userId: string): void {
    const last = this.users(organization).find((user) => user.userId === userId)
    if (!last) throw new Error(`no user ${userId} in organization number ${organization}`)
    this.#touch(organization).removed.set(userId, last)
  }

  putMembers(organization: number, key: string, userIds: string[]): void {
    this.#touch(organization).members.set(key, userIds)
  }

  #touch(organization: number): Changes {
    let changes = this.#changes.get(organization)
    if (!changes) {
      changes = { revision: 0, put: new Map(), removed: new Map(), members: new Map() }
      this.#changes.set(organization, changes)
    }
    changes.revision++
    return changes
  }

  #generatedIndex(userId: string): number | undefined {
    const index = indexOf('user', userId)
    return index !== undefined && index < this.#plan.usersPerOrganization ? index : undefined
  }

  #generated(organization: number, userId: string): User {
    const index = this.#generatedIndex(userId)
    if (index !== undefined) return generatedUser(this.#plan, organization, index)
    const guest = indexOf('guest', userId)
    if (guest === undefined) throw new Error(`no user ${userId} was ever made`)
    return generatedGuest(this.#plan, organization, guest)
  }
}
