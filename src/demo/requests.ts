import * as z from 'zod'
import type { Operation } from '../base/errors.ts'

/** docs/SERVICE.md, Requests. */
export const PATHS: Record<Operation, string> = {
  users: '/v1/users/get',
  comments: '/v1/commentannotations/comments/get',
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

const BODIES = {
  users: z.strictObject({ data: UsersData }),
  comments: z.strictObject({ data: CommentsData }),
}

/** A call as docs/SERVICE.md documents it. `body` is as received. */
export type StandInRequest = UsersRequest | CommentsRequest

export interface UsersRequest {
  operation: 'users'
  data: z.output<typeof UsersData>
  body: string
}

export interface CommentsRequest {
  operation: 'comments'
  data: z.output<typeof CommentsData>
  body: string
}

/** Reads a request body. @returns the request, or a sentence that says how it violates docs/SERVICE.md */
export function readRequest(operation: Operation, body: string): StandInRequest | string {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return 'the body is not JSON'
  }
  const { success, data, error } = BODIES[operation].safeParse(json)
  return success ? ({ operation, ...data, body } as StandInRequest) : z.prettifyError(error)
}
