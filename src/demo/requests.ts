import * as z from 'zod'
import type { Operation } from '../base/operations.ts'

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
} satisfies Record<Operation, z.ZodType>

/** A call as docs/SERVICE.md documents it. `body` is as received. */
export type StandInRequest<O extends Operation = Operation> = {
  [Each in O]: { operation: Each; data: z.output<(typeof BODIES)[Each]>['data']; body: string }
}[O]

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
