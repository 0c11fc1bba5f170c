import * as z from 'zod'
import { OPERATIONS } from '../base/operations.ts'
import type { Operation } from '../base/operations.ts'
import type { World } from './world.ts'

interface StandInOperation {
  /** The filter of a call, as docs/SERVICE.md documents it. */
  readonly data: z.ZodType
  /** The text that the service was observed to send (docs/SERVICE.md, Requests). */
  readonly message: string
  /** The items of the response; undefined if the organization, document or annotation is unknown. */
  records(world: World, data: unknown): readonly unknown[] | undefined
}

/** In one filter. */
const MOST_IDS = 30

const id = z.string().min(1)
const idsOf = <Id extends z.ZodType>(each: Id) => z.array(each).min(1).max(MOST_IDS).optional()

const UsersData = z
  .strictObject({
    organizationId: id,
    documentId: id.optional(),
    userIds: idsOf(id),
    organizationUserGroupIds: idsOf(id),
  })
  .refine(
    ({ documentId, organizationUserGroupIds }) => !documentId || !organizationUserGroupIds,
    'documentId and organizationUserGroupIds are no documented combination',
  )

/** Without `userIds`, because docs/SERVICE.md does not say what they do in Get Comments. */
const CommentsData = z.strictObject({
  organizationId: id,
  documentId: id,
  annotationId: id,
  commentIds: idsOf(z.int()),
})

/** With IDs: one record for each of them in their order, `null` for those not found (Get Comments, rule 3). */
function commentsOf(world: World, data: z.output<typeof CommentsData>) {
  const comments = world.comments(data)
  if (!comments || !data.commentIds) return comments
  const byId = new Map(comments.map((comment) => [comment.commentId, comment]))
  return data.commentIds.map((id) => byId.get(id) ?? null)
}

/** Users that pass every filter of the call; docs/SERVICE.md does not say how filters combine. */
function usersOf(world: World, data: z.output<typeof UsersData>) {
  const { organizationId, documentId, userIds, organizationUserGroupIds } = data
  const listed =
    documentId === undefined
      ? world.users(organizationId)
      : world.documentUsers(organizationId, documentId)
  if (!listed) return undefined
  // A group is a filter, not a path: an unknown one has no members.
  const members = organizationUserGroupIds?.flatMap(
    (id) => world.groupMembers(organizationId, id) ?? [],
  )
  const users = members ? new Map(members.map((user) => [user.userId, user])).values() : listed
  return [...users].filter(({ userId }) => userIds?.includes(userId) ?? true)
}

export const STAND_IN_OPERATIONS = {
  users: { data: UsersData, message: 'User(s) retrieved successfully.', records: usersOf },
  comments: {
    data: CommentsData,
    message: 'Comments(s) retrieved successfully.',
    records: commentsOf,
  },
} satisfies Readonly<Record<Operation, StandInOperation>>

/** A call as docs/SERVICE.md documents it. `body` is as received. */
export type StandInRequest<O extends Operation = Operation> = {
  [Each in O]: {
    operation: Each
    data: z.output<(typeof STAND_IN_OPERATIONS)[Each]['data']>
    body: string
  }
}[O]

/** Reads a request body. @returns the request, or a sentence that says how it violates docs/SERVICE.md */
export function readRequest(operation: Operation, body: string): StandInRequest | string {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return 'the body is not JSON'
  }
  const { success, data, error } = z
    .strictObject({ data: STAND_IN_OPERATIONS[operation].data })
    .safeParse(json)
  return success ? ({ operation, ...data, body } as StandInRequest) : z.prettifyError(error)
}

/** JSON texts of the items of `result.data`; undefined if the organization, document or annotation is unknown. */
export function itemsOf(world: World, { operation, data }: StandInRequest): string[] | undefined {
  const { records }: StandInOperation = STAND_IN_OPERATIONS[operation]
  return records(world, data)?.map((record) => JSON.stringify(record))
}

/** A success body around items that are JSON texts. */
export function successBody(operation: Operation, items: readonly string[]): string {
  return `{"result":{"status":"success","message":"${STAND_IN_OPERATIONS[operation].message}","data":[${items.join(',')}]}}`
}

/**
 * A failure body. docs/SERVICE.md shows its shape and message for Get Users only; the same shape
 * for Get Comments is our guess.
 */
export function errorBody(operation: Operation, status: string): string {
  const message = `Error retrieving ${OPERATIONS[operation].record}(s).`
  return JSON.stringify({ error: { message, status } })
}
