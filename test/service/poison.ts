import type { Operation } from '../../src/base/errors.ts'

/** What can be wrong (or merely rare) with a record inside a response that is otherwise good. */
export const POISON_KINDS = [
  'nul',
  'lone-surrogate',
  'big-id',
  'wrong-types',
  'unreadable-date',
  'duplicate',
  'conflicting-duplicate',
  'null-record',
  'string-record',
  'missing-members',
  'million-characters',
  'epoch-ms',
] as const

export type PoisonKind = (typeof POISON_KINDS)[number]

export interface PoisonRecord {
  /** As it stands in the answer; written by hand where `JSON.stringify` could not. */
  text: string
  /** The id it carries; null where it has none that can be read as one. */
  id: number | string | null
  /** True where nothing is wrong with it: it must land. */
  isSound: boolean
}

// Above every id that a world makes, below 2^53.
const FIRST_ID = 7_000_000_000

/**
 * The records that this poison puts between the good ones; always the same, each with an id that
 * no world has. A user has no lastUpdated, so its records for `unreadable-date` and `epoch-ms`
 * carry an unknown member of that name and are sound.
 */
export function poisonRecords(kind: PoisonKind, operation: Operation): PoisonRecord[] {
  const number = FIRST_ID + POISON_KINDS.indexOf(kind)
  const id = operation === 'comments' ? number : `poison-${kind}`
  const record = operation === 'comments' ? comment(number) : user(`poison-${kind}`)
  const textMember = operation === 'comments' ? 'commentText' : 'name'
  const one = (changed: object, isSound: boolean): PoisonRecord => ({
    text: JSON.stringify({ ...record, ...changed }),
    id,
    isSound,
  })
  switch (kind) {
    case 'nul':
      return [one({ [textMember]: 'before\u0000after' }, false)]
    case 'lone-surrogate':
      return [one({ [textMember]: 'cut \ud83d here' }, false)]
    case 'big-id':
      return [bigId(operation, record)]
    case 'wrong-types':
      return [one({ [textMember]: { nested: 5 } }, false)]
    case 'unreadable-date':
      return [one({ lastUpdated: 'yesterday' }, operation === 'users')]
    case 'duplicate':
      return [one({}, true), one({}, true)]
    case 'conflicting-duplicate':
      return [one({ [textMember]: 'one' }, false), one({ [textMember]: 'another' }, false)]
    case 'null-record':
      return [{ text: 'null', id: null, isSound: false }]
    case 'string-record':
      return [{ text: '"a string where a record belongs"', id: null, isSound: false }]
    case 'missing-members':
      return [{ text: JSON.stringify(idOnly(operation, id)), id, isSound: true }]
    case 'million-characters':
      return [one({ [textMember]: 'long '.repeat(200_000) }, true)]
    case 'epoch-ms':
      return [one({ lastUpdated: 1_700_000_000_123 }, true)]
  }
}

/** 2^53 + 1, which a reader that rounds takes for 2^53. A user's id is a string, so there it is a wrong type. */
function bigId(operation: Operation, record: object): PoisonRecord {
  const member = operation === 'comments' ? 'commentId' : 'userId'
  const text = JSON.stringify({ ...record, [member]: 0 })
  return {
    text: text.replace(`"${member}":0`, `"${member}":9007199254740993`),
    id: null,
    isSound: false,
  }
}

function idOnly(operation: Operation, id: number | string): object {
  return operation === 'comments' ? { commentId: id } : { userId: id }
}

function comment(commentId: number): object {
  return {
    commentId,
    commentText: 'poison',
    commentHtml: '<p>poison</p>',
    from: { userId: 'user-0', name: 'A', email: 'user0@org0.example' },
    lastUpdated: '2025-10-01T10:00:00.000Z',
    status: 'added',
    type: 'text',
  }
}

function user(userId: string): object {
  return { userId, name: 'Poison', email: 'poison@org0.example' }
}
