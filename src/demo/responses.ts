import { OPERATIONS } from '../base/operations.ts'
import type { Operation } from '../base/operations.ts'
import type { StandInRequest } from './requests.ts'
import type { World } from './world.ts'

/** The texts that the service was observed to send (docs/SERVICE.md, Requests). */
const MESSAGES: Record<Operation, string> = {
  comments: 'Comments(s) retrieved successfully.',
  users: 'User(s) retrieved successfully.',
}

/** JSON texts of the items of `result.data`; undefined if the organization, document or annotation is unknown. */
export function itemsOf(world: World, request: StandInRequest): string[] | undefined {
  return recordsOf(world, request)?.map((record) => JSON.stringify(record))
}

function recordsOf<O extends Operation>(world: World, request: StandInRequest<O>) {
  return RECORDS[request.operation](world, request)
}

const RECORDS: {
  readonly [O in Operation]: (
    world: World,
    request: StandInRequest<O>,
  ) => readonly unknown[] | undefined
} = { users: usersOf, comments: commentsOf }

/** With IDs: one record for each of them in their order, `null` for those not found (Get Comments, rule 3). */
function commentsOf(world: World, { data }: StandInRequest<'comments'>) {
  const comments = world.comments(data)
  if (!comments || !data.commentIds) return comments
  const byId = new Map(comments.map((comment) => [comment.commentId, comment]))
  return data.commentIds.map((id) => byId.get(id) ?? null)
}

/** Users that pass every filter of the call; docs/SERVICE.md does not say how filters combine. */
function usersOf(world: World, { data }: StandInRequest<'users'>) {
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

/** A success body around items that are JSON texts. */
export function successBody(operation: Operation, items: readonly string[]): string {
  return `{"result":{"status":"success","message":"${MESSAGES[operation]}","data":[${items.join(',')}]}}`
}

/**
 * A failure body. docs/SERVICE.md shows its shape and message for Get Users only; the same shape
 * for Get Comments is our guess.
 */
export function errorBody(operation: Operation, status: string): string {
  const message = `Error retrieving ${OPERATIONS[operation].record}(s).`
  return JSON.stringify({ error: { message, status } })
}
