import { RECORDS, USER_COLUMN_LIST } from '../../../base/columns.ts'
import type { UserColumns } from '../../../base/columns.ts'
import { isObject } from '../../../base/json.ts'
import type { Json } from '../../../base/json.ts'
import { ID_BYTES_MAX, isStorable, isTooLongId } from '../../../schemas/check.ts'
import { digestOfUser } from './digest.ts'
import { memberColumns, otherMembers, readColumns, restOf, typeName } from './members.ts'
import type { MemberColumn } from './members.ts'
import type { Received } from './received.ts'
import type { RecordReader } from './records.ts'

export interface UserRecord extends UserColumns {
  readonly digest: Buffer
  /** Its index among the items of its response. */
  readonly index: number
}

declare module '../fetch/result.ts' {
  interface RecordTypes {
    users: { record: UserRecord; id: string }
  }
}

/** Reads the items of Get Users. Which members are always present is not known: only `userId` is needed, as the key. */
export const USERS: RecordReader<string, UserRecord> = {
  operation: 'users',
  key: 'userId',
  keyFault: userIdFault,
  read(item, received) {
    const { userId, texts } = readUser(item, received, COLUMNS)
    return { userId, texts, digest: digestOfUser({ userId, texts }), index: received.index }
  },
  // A redacted record may have another userId.
  rawId: () => null,
}

const COLUMNS = memberColumns(USER_COLUMN_LIST)
const REST = USER_COLUMN_LIST.findIndex(({ type }) => type === 'jsonb')
const NO_TEXTS: (string | null)[] = USER_COLUMN_LIST.map(() => null)

/**
 * Reads an object that has a usable `userId`.
 * @param columns of USER_COLUMN_LIST, labelled as reasons call its members
 * @param within the member of a comment that holds it
 */
export function readUser(
  item: Json,
  received: Received,
  columns: readonly MemberColumn[],
  within?: string,
): UserColumns {
  const rest = otherMembers(item, RECORDS.user.members)
  const texts = NO_TEXTS.slice()
  readColumns(columns, item, texts, rest, received)
  texts[REST] = restOf(rest, received, within)
  return { userId: item['userId'] as string, texts }
}

/** Why an object cannot be keyed by its `userId`; null where it can. */
export function userIdFault(item: unknown): string | null {
  if (!isObject(item)) return `${typeName(item)} where a user belongs`
  const { userId } = item
  if (userId === undefined || userId === null) return 'userId is missing'
  if (typeof userId !== 'string') return `userId is a ${typeof userId}, not a string`
  if (userId === '') return 'userId is empty'
  if (!isStorable(userId)) return 'userId holds a character that PostgreSQL cannot hold'
  return isTooLongId(userId)
    ? `userId is longer than ${ID_BYTES_MAX.toLocaleString('en')} bytes`
    : null
}
