import { USER_COLUMN_LIST, USER_MEMBERS } from '../../../base/columns.ts'
import type { UserColumns } from '../../../base/columns.ts'
import { ID_BYTES_MAX, isStorable, isTooLongId } from '../../../documents/check.ts'
import { digestOf, isObject } from './digest.ts'
import { checkRejects, keptText, processingFault, REJECTS_MAX } from './received.ts'
import type { Received, Reject } from './received.ts'
import { otherMembers, restOf, textColumn } from './member.ts'

export interface UserRecord extends UserColumns {
  readonly digest: Buffer
}

export interface UserListing {
  readonly records: readonly UserRecord[]
  readonly rejects: readonly Reject[]
  /** Items that name nobody whom we can tell: each may be anyone who is missing. */
  readonly nameless: number
  /** Users of whom nothing was stored, though the answer names them: they are not missing. */
  readonly rejectedIds: ReadonlySet<string>
  /** The text of each record by its id, where that was wanted. */
  readonly texts: ReadonlyMap<string, string>
}

/**
 * Sorts the items of a Get Users answer into records and rejects. Which members are always present is
 * "not shown": only `userId` is needed, since it is the key.
 * @throws CallError where too many are rejected
 */
export function readUsers(received: Received, keepsTexts = false): UserListing {
  const records = new Map<string, UserRecord & { readonly place: number }>()
  const texts = new Map<string, string>()
  const rejects: Reject[] = []
  const rejectedIds = new Set<string>()
  let nameless = 0
  for (let index = 0; index < received.length && rejects.length <= REJECTS_MAX; index++) {
    const rejectWhole = (reason: string, isWhole = true, place = index) =>
      rejects.push({ reason, record: keptText(received, place), isWhole })
    let userId: string | null = null
    try {
      const item = received.itemAt(index)
      const fault = keyFault(item)
      if (fault !== null) {
        nameless += fault === TOO_LONG_ID ? 0 : 1
        rejectWhole(fault)
        continue
      }
      userId = (item as { userId: string }).userId
      const faults: Reject[] = []
      const tell = (reason: string) =>
        faults.push({ reason, record: keptText(received, index), isWhole: false })
      const columns = readUser(
        item as Record<string, unknown>,
        () => received.exactTextOf(index),
        tell,
      )
      const record = { ...columns, digest: digestOfUser(columns), place: index }
      const twin = records.get(userId)
      // The order of answers is "not shown": which of two stays must not depend on it.
      const order = twin === undefined ? -1 : record.digest.compare(twin.digest)
      if (order < 0 && keepsTexts) texts.set(userId, received.textOf(index))
      if (order < 0) records.set(userId, record)
      rejects.push(...faults)
      if (twin !== undefined)
        rejectWhole(twinReason('userId', order === 0), order !== 0, order < 0 ? twin.place : index)
    } catch (error) {
      if (userId === null) nameless += 1
      else rejectedIds.add(userId)
      rejectWhole(processingFault(error))
    }
  }
  checkRejects(rejects, received.length)
  return { records: [...records.values()], rejects, nameless, rejectedIds, texts }
}

/** Why one of two records with one key is rejected. Without the key, which may be a person's: it stands in the run's problem. */
export function twinReason(key: string, isEqual: boolean): string {
  return `${key} is in the answer twice, with ${isEqual ? 'equal' : 'different'} content`
}

/** Reads one object with a sound `userId`; a listing's item or the `from` of a comment. */
export function readUser(
  item: Record<string, unknown>,
  exactText: () => string | null,
  reject: (reason: string) => void,
): UserColumns {
  const rest = otherMembers(item, USER_MEMBERS)
  const texts = USER_COLUMN_LIST.map(({ member }) =>
    member === null ? null : textColumn(member, item[member], rest, reject),
  )
  texts[REST] = restOf(rest, exactText, reject)
  return { userId: item['userId'] as string, texts }
}

const REST = USER_COLUMN_LIST.findIndex(({ member }) => member === null)

/** A digest of all that is stored of a user. */
export function digestOfUser({ userId, texts }: UserColumns): Buffer {
  const [name = null, email = null, rest, ...later] = texts
  // As with comments, a later column counts by its name, and only where it holds something.
  const named = later.flatMap((text, index) => (text === null ? [] : [[LATER_NAMES[index], text]]))
  const laterText = named.length === 0 ? '' : JSON.stringify(named)
  return digestOf(JSON.stringify([userId, name, email]) + (rest ?? '') + laterText)
}

const LATER_NAMES = USER_COLUMN_LIST.slice(3).map(({ name }) => name)

const TOO_LONG_ID = `userId is longer than ${ID_BYTES_MAX.toLocaleString('en')} bytes`

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
  return isTooLongId(userId) ? TOO_LONG_ID : null
}
