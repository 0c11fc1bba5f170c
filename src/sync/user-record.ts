import { digestOf, isObject } from './canonical.ts'
import { isStorable } from './received.ts'
import type { Received, Reject } from './received.ts'
import { restOf } from './rest.ts'

/** One user as received (service-api.md, User summary). A member that was left out is null. */
export interface UserColumns {
  readonly userId: string
  readonly name: string | null
  readonly email: string | null
  /** Members the columns cannot give back exactly, as JSON text; null when there are none. */
  readonly rest: string | null
}

export interface UserRecord extends UserColumns {
  readonly digest: Buffer
}

export interface UserListing {
  readonly records: readonly UserRecord[]
  readonly rejects: readonly Reject[]
  /** Items without a readable `userId`: each may be anyone who is missing. */
  readonly nameless: number
}

/**
 * Sorts the items of a Get Users answer into records and rejects. Which members are always present is
 * "not shown": only `userId` is needed, since it is the key.
 */
export function readUsers(received: Received): UserListing {
  const records = new Map<string, UserRecord>()
  const rejects: Reject[] = []
  let nameless = 0
  received.items.forEach((item, index) => {
    const reject = (reason: string) => rejects.push({ reason, record: received.textOf(index) })
    const fault = keyFault(item)
    if (fault !== null) {
      nameless += 1
      return reject(fault)
    }
    const columns = readUser(item as Record<string, unknown>, () => received.textOf(index), reject)
    const record = { ...columns, digest: digestOfUser(columns) }
    const twin = records.get(record.userId)
    if (twin === undefined) records.set(record.userId, record)
    // The order of answers is "not shown": which of two stays must not depend on it.
    else {
      if (record.digest.compare(twin.digest) < 0) records.set(record.userId, record)
      reject(`userId ${JSON.stringify(record.userId)} is in the answer twice`)
    }
  })
  return { records: [...records.values()], rejects, nameless }
}

/** Reads one object with a sound `userId`; a listing's item or the `from` of a comment. */
export function readUser(
  item: Record<string, unknown>,
  exactText: () => string,
  reject: (reason: string) => void,
): UserColumns {
  const { userId, name, email } = item
  const rest = otherMembers(item, DOCUMENTED)
  const nameColumn = textColumn('name', name, rest, reject)
  const emailColumn = textColumn('email', email, rest, reject)
  const restText = restOf(rest, exactText, (path) =>
    reject(`${path} cannot be stored: left out of raw`),
  )
  return { userId: userId as string, name: nameColumn, email: emailColumn, rest: restText }
}

const DOCUMENTED: ReadonlySet<string> = new Set(['userId', 'name', 'email'])

/** Members that the document does not show: usually none, and then nothing is copied. */
export function otherMembers(
  item: Record<string, unknown>,
  documented: ReadonlySet<string>,
): Record<string, unknown> {
  for (const name in item) {
    if (documented.has(name)) continue
    // Entries are defined, not assigned: a member named `__proto__` is a member like any other.
    return Object.fromEntries(Object.entries(item).filter(([member]) => !documented.has(member)))
  }
  return {}
}

/** A digest of all that is stored of a user. */
export function digestOfUser({ userId, name, email, rest }: UserColumns): Buffer {
  return digestOf(JSON.stringify([userId, name, email]) + (rest ?? ''))
}

/** Why an object cannot be keyed by its `userId`; null where it can. */
export function keyFault(item: unknown): string | null {
  if (item === null) return 'null where a user belongs'
  if (!isObject(item))
    return `${Array.isArray(item) ? 'an array' : `a ${typeof item}`} where a user belongs`
  const { userId } = item
  if (userId === undefined || userId === null) return 'userId is missing'
  if (typeof userId !== 'string') return `userId is a ${typeof userId}, not a string`
  if (userId === '') return 'userId is empty'
  if (!isStorable(userId)) return 'userId holds a character that PostgreSQL cannot hold'
  return null
}

/**
 * A text member for its column. What is no text stays in `rest`, so that raw gives it back;
 * a text that PostgreSQL cannot hold is told and is nowhere but among the rejected records.
 */
export function textColumn(
  name: string,
  value: unknown,
  rest: Record<string, unknown>,
  reject: (reason: string) => void,
  column = name,
): string | null {
  if (value === undefined) return null
  if (typeof value === 'string') {
    if (isStorable(value)) return value
    reject(`${name} holds a character that PostgreSQL cannot hold: ${column} was set to null`)
    return null
  }
  rest[name] = value
  if (value !== null) {
    reject(
      `${name} is ${Array.isArray(value) ? 'an array' : `a ${typeof value}`}, not a string: ${column} was set to null`,
    )
  }
  return null
}
