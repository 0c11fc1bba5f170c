import type { Operation } from '../../src/base/operations.ts'

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

// Above every id that a world makes, below 2^53.
const FIRST_ID = 7_000_000_000

/** The records of this poison as JSON texts; always the same, each with an ID that no world has. */
export function poisonRecords(kind: PoisonKind, operation: Operation): string[] {
  const isComment = operation === 'comments'
  const number = FIRST_ID + POISON_KINDS.indexOf(kind)
  const id = isComment ? { commentId: number } : { userId: `poison-${kind}` }
  const record = isComment ? { ...id, ...COMMENT } : { ...id, ...USER }
  const changed = (members: object) => JSON.stringify({ ...record, ...members })
  const withText = (text: unknown) => changed({ [isComment ? 'commentText' : 'name']: text })
  switch (kind) {
    case 'nul':
      return [withText('before\u0000after')]
    case 'lone-surrogate':
      return [withText('cut \ud83d here')]
    case 'big-id':
      // 2^53 + 1, which a reader that rounds takes for 2^53.
      return [
        changed({ [isComment ? 'commentId' : 'userId']: 0 }).replace('":0', '":9007199254740993'),
      ]
    case 'wrong-types':
      return [withText({ nested: 5 })]
    case 'unreadable-date':
      return [changed({ lastUpdated: 'yesterday' })]
    case 'duplicate':
      return [changed({}), changed({})]
    case 'conflicting-duplicate':
      return [withText('one'), withText('another')]
    case 'null-record':
      return ['null']
    case 'string-record':
      return ['"a string where a record belongs"']
    case 'missing-members':
      return [JSON.stringify(id)]
    case 'million-characters':
      return [withText('long '.repeat(200_000))]
    case 'epoch-ms':
      return [changed({ lastUpdated: 1_700_000_000_123 })]
  }
}

const COMMENT = {
  commentText: 'poison',
  commentHtml: '<p>poison</p>',
  from: { userId: 'user-0', name: 'A', email: 'user0@org0.example' },
  lastUpdated: '2025-10-01T10:00:00.000Z',
  status: 'added',
  type: 'text',
}
const USER = { name: 'Poison', email: 'poison@org0.example' }
