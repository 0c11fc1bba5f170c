import type { ModelUser } from './record-model.ts'

/** How good a source of a user's name is (docs/decisions, where a user's name comes from). */
export const SOURCE = { listing: 3, member: 2, author: 1 } as const

/** A user as one answer shows them, or one of several ways where it held twins. */
export interface Sighting {
  readonly source: 1 | 2 | 3
  /** Of an author, when the comment was written. */
  readonly at: number | null
  readonly users: readonly ModelUser[]
}

interface Person {
  /** Each as the row may be. */
  candidates: readonly ModelUser[]
  /** Null where it depends on the order in which answers came. */
  source: number | null
  at: number | null
  listed: boolean
  hasLeft: boolean
}

/** A row of `collab.users`. */
export interface UserRow {
  readonly name: string | null
  readonly email: string | null
  readonly raw: string
  readonly listed: boolean
  readonly removed: boolean
}

/** The users of one organization, as several scopes show them. */
export class PeopleModel {
  readonly people = new Map<string, Person>()
  #sightings = new Map<string, Sighting[]>()
  #left = new Set<string>()

  see(sighting: Sighting): void {
    const id = sighting.users[0]?.userId as string
    const others = this.#sightings.get(id)
    if (others === undefined) this.#sightings.set(id, [sighting])
    else others.push(sighting)
  }

  leave(userId: string): void {
    this.#left.add(userId)
  }

  /** The run is over: what its sightings make of the rows. */
  settle(): void {
    for (const [id, sightings] of this.#sightings) this.#settleOne(id, sightings)
    for (const id of this.#left) {
      const person = this.people.get(id)
      if (person === undefined) continue
      person.listed = false
      person.hasLeft = true
      // Another answer of the same run may have come before it or after it.
      const isMixed = this.#sightings.has(id)
      person.source = isMixed ? null : SOURCE.member
      if (isMixed) {
        const seen = (this.#sightings.get(id) ?? []).flatMap(({ users }) => users)
        person.candidates = [...person.candidates, ...seen]
      }
    }
    this.#sightings = new Map()
    this.#left = new Set()
  }

  #settleOne(id: string, sightings: readonly Sighting[]): void {
    const before = this.people.get(id)
    const best = Math.max(...sightings.map(({ source }) => source))
    const seen =
      best === SOURCE.author ? newest(sightings) : sightings.filter((each) => each.source === best)
    const users = seen.flatMap((each) => each.users)
    const at = best === SOURCE.author ? timeOf(seen) : null
    const listed = best === SOURCE.listing || before?.listed === true
    const hasLeft = best === SOURCE.listing ? false : before?.hasLeft === true
    const fresh = { candidates: users, source: best, at, listed, hasLeft }
    if (before === undefined) {
      this.people.set(id, fresh)
    } else if (before.source === null) {
      const everyone = [...before.candidates, ...sightings.flatMap((each) => each.users)]
      this.people.set(id, { ...before, candidates: everyone, listed, hasLeft })
      if (best === SOURCE.listing) this.people.set(id, fresh)
    } else if (best > before.source) this.people.set(id, fresh)
    else if (best === before.source) this.#settleEqual(id, before, fresh)
  }

  #settleEqual(id: string, before: Person, fresh: Person): void {
    if (fresh.source !== SOURCE.author) return void this.people.set(id, fresh)
    const isUnsure = before.at === null || fresh.at === null
    if (isUnsure) {
      const candidates = [...before.candidates, ...fresh.candidates]
      this.people.set(id, { ...before, candidates, at: null })
    } else if ((fresh.at as number) >= (before.at as number)) this.people.set(id, fresh)
  }

  /** The row of a user is one of those that it may be, and from now on that one. @returns false where it is none of them */
  accept(id: string, row: UserRow): boolean {
    const person = this.people.get(id)
    if (person === undefined) return false
    const same = person.candidates.filter(
      ({ name, email, raw }) => name === row.name && email === row.email && raw === row.raw,
    )
    if (same.length === 0 || row.listed !== person.listed || row.removed !== person.hasLeft)
      return false
    person.candidates = same.slice(0, 1)
    return true
  }
}

/** Authors as the newest comments show them. Behind one without a time any other may be written, whatever its own. */
function newest(sightings: readonly Sighting[]): readonly Sighting[] {
  const times = sightings.map(({ at }) => at)
  if (times.includes(null)) return sightings
  const latest = Math.max(...(times as number[]))
  return sightings.filter(({ at }) => at === latest)
}

function timeOf(seen: readonly Sighting[]): number | null {
  return seen.every(({ at }) => at !== null) ? (seen[0]?.at ?? null) : null
}
